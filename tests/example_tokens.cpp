// SPDX-License-Identifier: BSL-1.0
// In: the tokenizers of the examples sentences and reaction_map, a small vocabulary, texts of all kinds. Out: the
// tokens and elements that they should give; broken UTF-8 and broken SMILES do no harm.
// Next: the examples themselves, which compare whole models with goldens where their weights are.
#include "../examples/reaction_map/reaction.hpp"
#include "../examples/sentences/word_piece.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using words = std::vector<std::string>;

const words tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "a", "##b", "##ble", "caf", "##e"};

bert::token_ids ids_of(std::string_view text, std::size_t most = 256) {
  return sentences::word_piece(bert::vocabulary(tokens))(text, most);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(example_tokens)

BOOST_AUTO_TEST_CASE(words_are_split_and_bared) {
  const auto are = [](std::string_view text, const words& wanted) {
    BOOST_TEST(sentences::words_of(text) == wanted, boost::test_tools::per_element());
  };
  are("", {});
  are("  Hello,\tWORLD!\n", {"hello", ",", "world", "!"});
  are("Caf\u00e9 na\u00efve \u00dc\u1ea4", {"cafe", "naive", "ua"});
  are("e\u0301 \u00df \u0130", {"e", "\u00df", "i"});  // a mark of its own; no decomposition; a capital with a dot
  are("\u041f\u0440\u0438\u0439 \u039a\u03cc\u03c3", {"\u043f\u0440\u0438\u0438", "\u03ba\u03bf\u03c3"});
  are("\u65e5\u672ca\u8a9e", {"\u65e5", "\u672c", "a", "\u8a9e"});
  are("\u304c", {"\u304b"});
  are("a$b^c|\u00abd\u00bb\u2014e", {"a", "$", "b", "^", "c", "|", "\u00ab", "d", "\u00bb", "\u2014", "e"});
  are("x\u00ady\u200bz\x01w\u00a0v\u3000u", {"xyzw", "v", "u"});  // unseen characters and other spaces
  are(std::string_view("a\0b", 3), {"ab"});
  are("\U0001f600a", {"\U0001f600a"});
}

BOOST_AUTO_TEST_CASE(broken_utf8_is_left_out) {
  for (const std::string& broken :
       words{"\x80", "\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\x98"})
    BOOST_TEST(sentences::words_of("a" + broken + "b") == words{"ab"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(pieces_are_the_longest_that_are_known) {
  const auto are = [](std::string_view text, const bert::token_ids& wanted) {
    BOOST_TEST(ids_of(text) == wanted, boost::test_tools::per_element());
  };
  are("", {2, 3});
  are("Unaffable", {2, 4, 5, 6, 3});
  are("able", {2, 7, 9, 3});
  are("abl", {2, 1, 3});  // a word is known as a whole or not at all
  are("ab caf\u00e9", {2, 7, 8, 10, 11, 3});
  are("cafz un", {2, 1, 4, 3});
  are("[SEP]", {2, 1, 1, 1, 3});  // text, not the token
  are("a" + std::string(99, 'b'), [] {
    bert::token_ids ids{2, 7};
    ids.resize(101, 8);
    ids.push_back(3);
    return ids;
  }());
  are("a" + std::string(100, 'b'), {2, 1, 3});
  BOOST_TEST(ids_of("a a a a", 4) == (bert::token_ids{2, 7, 7, 3}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(bert::vocabulary({"a", "b"}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(sequences_are_padded) {
  const bert::padded_batch input({{2, 7, 3}, {}, {2}});
  BOOST_TEST(input.ids.extent<bert::batch>() == 3);
  BOOST_TEST(input.ids.extent<bert::query>() == 3);
  BOOST_TEST(input.ids(0, 1) == 7);
  BOOST_TEST(input.ids(2, 0) == 2);
  BOOST_TEST(input.ids(2, 1) == 0);
  BOOST_TEST(input.lengths(1) == 0);
}

BOOST_AUTO_TEST_CASE(smiles) {
  const words wanted{"[13C@@H]", "Br", "Cl", "C", "%12", "(", "[nH]", ")", ">>", "c", "=", "["};
  BOOST_TEST(reaction_map::tokens_of("[13C@@H]BrClC%12([nH])>>c=[") == wanted, boost::test_tools::per_element());
  const words elements{"c", "br", "cl", "c", "", "", "n", "", "", "c", "", ""};
  for (std::size_t i = 0; i < wanted.size(); ++i) BOOST_TEST(reaction_map::element_of(wanted[i]) == elements[i]);
  BOOST_TEST(reaction_map::element_of("[NH4+]") == "n");
  BOOST_TEST(reaction_map::element_of("[se]") == "se");
  BOOST_TEST(reaction_map::element_of("[]").empty());
  BOOST_TEST(reaction_map::element_of("[12").empty());
  const reaction_map::reaction r("CO>>cC");
  BOOST_TEST(r.arrow == 3U);
  BOOST_TEST(r.alike(4, 1));
  BOOST_TEST(!r.alike(4, 2));
  BOOST_TEST(!r.alike(1, 4));  // from the reactants to the products is no map
  BOOST_CHECK_THROW(reaction_map::reaction("CO"), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
