// SPDX-License-Identifier: BSL-1.0
// In: .safetensors files of the safetensors package (tests/golden/io) and bad ones made by hand. Out: their numbers
// under named axes, the same bytes written again, and for each bad file its sentence, before anything is read or
// written.
// Next: ../examples/bert/layer.hpp, trained models out of such files.
#include "support/files.hpp"
#include <heed/io/safetensors.hpp>

using namespace heed;
using namespace test;

namespace {

io::safetensors_file types() { return io::safetensors_file(golden_file("types.safetensors")); }

/// A file with this header and so many bytes behind it.
std::string file_of(const std::string& header, std::size_t bytes) {
  const std::uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + std::string(bytes, '\0');
}
std::string refused(const std::string& file) {
  return refusal("bad", [&] { io::safetensors_file(bytes_of(file), "bad"); });
}
/// What is said of {"w": ENTRY} with eight bytes of elements.
std::string refused_entry(const std::string& entry) {
  const std::string text = refused(file_of("{\"w\":" + entry + "}", 8));
  return text.starts_with("tensor w: ") ? text.substr(10) : "without the tensor's name: " + text;
}
std::string entry_of(const char* type, const char* shape, const char* offsets) {
  return std::string("{\"dtype\":\"") + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(io_safetensors)

BOOST_AUTO_TEST_CASE(types_as_stored_and_wider) {
  const io::safetensors_file file = types();
  BOOST_TEST((is_golden<float>(file.read<float, row, column>("f4"))));
  BOOST_TEST((is_golden<float>(file.read<double, row, column>("f4"))));
  BOOST_TEST((is_golden<double>(file.read<double, any_row, any_column>("f8"))));
  BOOST_TEST((is_golden<f16>(file.read<f16, row, column>("f2"))));
  BOOST_TEST((is_golden<f16>(file.read<float, row, column>("f2"))));
  BOOST_TEST((is_golden<bf16>(file.read<bf16, row, column>("bf16"))));
  BOOST_TEST((is_golden<bf16>(file.read<float, row, column>("bf16"))));
  BOOST_TEST((is_golden<bf16>(file.read<double, row, column>("bf16"))));
  BOOST_TEST((is_golden<std::int64_t>(file.read<std::int64_t, row, column>("i8"))));
  BOOST_TEST((is_golden<std::int32_t>(file.read<std::int32_t, row, any_column>("i4", any_column{4}))));
  BOOST_TEST((is_golden<std::int32_t>(file.read<std::int64_t, row, column>("i4"))));
  BOOST_TEST((is_golden<std::int16_t>(file.read<std::int32_t, row, column>("i2"))));
  BOOST_TEST((is_golden<std::int8_t>(file.read<std::int32_t, row, column>("i1"))));
  BOOST_TEST((is_golden<std::uint8_t>(file.read<std::int64_t, row, column>("u1"))));
  BOOST_TEST((is_golden<bool>(file.read<bool, row, column>("b1"))));
  BOOST_TEST(file.read<float>("scalar")() == -3.F);
  BOOST_TEST((file.read<float, any_row, column>("empty").extent<any_row>() == 0));
}

BOOST_AUTO_TEST_CASE(what_a_file_says_of_itself) {
  const io::safetensors_file file = types();
  BOOST_TEST(file.names().size() == 13U);
  BOOST_TEST(file.names().front() == "i8");
  BOOST_TEST(file.names().back() == "b1");
  BOOST_TEST(file.contains("bf16"));
  BOOST_TEST(!file.contains("f3"));
  BOOST_TEST(file.type("bf16") == "BF16");
  BOOST_TEST((file.shape("empty") == std::vector<extent_t>{0, 4}));
  BOOST_TEST(file.metadata().size() == 2U);
  BOOST_TEST(file.metadata().at("format") == "pt");
  BOOST_TEST(file.metadata().at("by \u00fc") == "line\nbreak \"q\"");
}

BOOST_AUTO_TEST_CASE(views_show_the_file_itself) {
  const io::safetensors_file file = types();
  const view<const float, row, any_column> v = file.view<float, row, any_column>("f4");
  BOOST_TEST(v(2, 3) == golden_number<float>(11));
  BOOST_TEST(v.extent<any_column>() == 4);
  const std::string path = golden_file("types.safetensors");
  BOOST_TEST(refusal(path, [&] { (void)file.view<float, row, column>("f2"); }) ==
             "tensor f2: a view of float cannot show elements of type F16 (say read)");
  const std::string odd = file_of("{\"w\":" + entry_of("F32", "[2]", "[0,8]") + "}", 8);
  std::string moved = std::string(8 - odd.size() % 4, ' ') + odd;  // the elements begin at no multiple of four
  moved.insert(0, (reinterpret_cast<std::uintptr_t>(moved.data()) + moved.size()) % 4 == 0 ? 1 : 0, ' ');
  const io::safetensors_file in_memory(bytes_of(moved).last(odd.size()), "odd");
  const auto view_odd = [&] { (void)in_memory.view<float, any_row>("w"); };
  BOOST_TEST(refusal("odd", view_odd) == "tensor w: the elements do not begin at a multiple of their size (say read)");
  BOOST_TEST((in_memory.read<float, any_row>("w").extent<any_row>() == 2));
}

BOOST_AUTO_TEST_CASE(written_as_the_package_writes) {
  const temporary_folder folder;
  const auto path = folder / "written.safetensors";
  struct ids : axis<3> {};
  io::safetensors_writer writer;
  writer.add("layer.0.w", golden_tensor<float, row, column>());
  writer.add("layer.0.b", golden_tensor<float, row>());
  writer.add("embedding.ids", golden_tensor<std::int64_t, ids>());
  writer.metadata("format", "np");
  writer.write(path);
  BOOST_TEST((content(path) == content(golden_file("layer.safetensors"))));
  BOOST_TEST(folder.count() == 1);
}

BOOST_AUTO_TEST_CASE(round_trips) {
  const temporary_folder folder;
  const auto path = folder / "written.safetensors";
  const auto w = golden_tensor<float, row, column>();
  const view<const float, column, row> turned(w.data(), strides{1, 4});
  io::safetensors_writer writer;
  writer.add("truth", golden_tensor<bool, row>());
  writer.add("turned", turned);
  writer.add("half", golden_tensor<f16, row, column>());
  writer.add("bf16", golden_tensor<bf16, row, column>());
  writer.add("double", golden_tensor<double, column>());
  writer.add("int32", golden_tensor<std::int32_t, column>());
  writer.add("no elements", tensor<float, any_row, column>{});
  writer.add("\"quoted\" \u00fc", tensor<double>{});
  writer.write(path);
  writer.write(path);  // over itself
  const io::safetensors_file file(path);
  BOOST_TEST(file.names().size() == 8U);
  BOOST_TEST(is_golden<bool>(file.read<bool, row>("truth")));
  BOOST_TEST((is_golden<f16>(file.read<f16, row, column>("half"))));
  BOOST_TEST((is_golden<bf16>(file.read<bf16, row, column>("bf16"))));
  BOOST_TEST(is_golden<double>(file.read<double, column>("double")));
  BOOST_TEST(is_golden<std::int32_t>(file.read<std::int32_t, column>("int32")));
  BOOST_TEST((file.read<float, any_row, column>("no elements").size() == 0));
  BOOST_TEST(file.read<double>("\"quoted\" \u00fc")() == 0.0);
  const tensor<float, column, row> back = file.read<float, column, row>("turned");
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) BOOST_TEST(back(j, i) == w(i, j));
  for (const std::string& name : file.names())  // all begin at a multiple of their size
    if (file.type(name) == "F64")
      BOOST_TEST((file.read<double, column>("double").size() == file.view<double, column>("double").size()));
  io::safetensors_writer{}.write(path);
  BOOST_TEST(io::safetensors_file(path).names().empty());
}

BOOST_AUTO_TEST_CASE(another_name_shape_or_type_than_wanted) {
  const std::string path = golden_file("types.safetensors");
  const io::safetensors_file file(path);
  const auto says = [&](auto action) { return refusal(path, action); };
  BOOST_TEST(says([&] { (void)file.read<float, row, column>("f5"); }) ==
             "there is no tensor f5; the file has 13, the most alike is f8");
  BOOST_TEST(says([&] { (void)file.shape("scaler"); }) ==
             "there is no tensor scaler; the file has 13, the most alike is scalar");
  BOOST_TEST(says([&] { (void)file.read<float, column, row>("f4"); }) ==
             "tensor f4: wanted (column 4, row 3), found [3, 4]: it is the wanted shape transposed");
  BOOST_TEST(says([&] { (void)file.read<float, any_row, row>("f4", any_row{4}); }) ==
             "tensor f4: wanted (any_row 4, row 3), found [3, 4]: it is the wanted shape transposed");
  BOOST_TEST(says([&] { (void)file.read<float, any_row, any_column>("f4", any_row{7}); }) ==
             "tensor f4: wanted (any_row 7, any_column), found [3, 4]");
  BOOST_TEST(says([&] { (void)file.read<float, row>("f4"); }) == "tensor f4: wanted (row 3), found [3, 4]");
  BOOST_TEST(says([&] { (void)file.view<float, row>("f4"); }) == "tensor f4: wanted (row 3), found [3, 4]");
  BOOST_TEST(says([&] { (void)file.read<float, row, column>("i4"); }) ==
             "tensor i4: wanted elements of type float, found I32, which does not become one without a loss");
  BOOST_TEST(says([&] {
               (void)file.read<f16, row, column>("bf16");
             }).starts_with("tensor bf16: wanted elements of type f16, found BF16"));
  BOOST_TEST(
      says([&] { (void)file.read<float, row, column>("f8"); }).starts_with("tensor f8: wanted elements of type float"));
  BOOST_TEST(says([&] {
               (void)file.read<float, row, column>("f8_e4m3");
             }).starts_with("tensor f8_e4m3: wanted elements of type float, found F8_E4M3"));
  const std::string none = file_of("{}", 0);
  const io::safetensors_file empty(bytes_of(none), "empty");
  BOOST_TEST(refusal("empty", [&] { (void)empty.read<float>("w"); }) == "there is no tensor w; the file has none");
}

BOOST_AUTO_TEST_CASE(truncated_and_too_long_files) {
  const std::string whole = content(golden_file("layer.safetensors"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string text = refused(whole.substr(0, size));
    BOOST_TEST(text.find("truncated") != std::string::npos, size << " bytes: " << text);
  }
  BOOST_TEST(refused(whole.substr(0, 10)) == "is truncated: the header should have 232 bytes, but 2 are left");
  BOOST_TEST(refused(whole.substr(0, 300)) ==
             "tensor layer.0.w: data_offsets 36 to 84 do not lie within the 60 bytes behind the header: the file is "
             "truncated");
  BOOST_TEST(refused(whole + "x") == "is too long: 1 bytes belong to no tensor");
  BOOST_TEST(refused(std::string(16, '\x7f')) ==
             "is no safetensors file: its header would have 9187201950435737471 bytes");
  const auto missing = golden_file("missing");
  BOOST_TEST(refusal(missing.string(), [&] { io::safetensors_file{missing}; }) ==
             "cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(hostile_entries) {
  BOOST_TEST((io::safetensors_file(bytes_of(file_of("{\"w\":" + entry_of("F32", "[2]", "[0,8]") + "}  ", 8)), "good")
                  .contains("w")));
  BOOST_TEST(refused_entry(entry_of("F32", "[3]", "[0,8]")) ==
             "the shape [3] of type F32 asks for 12 bytes, data_offsets for 8");
  BOOST_TEST(refused_entry(entry_of("F32", "[2]", "[8,0]")).starts_with("data_offsets 8 to 0 do not lie within the 8"));
  BOOST_TEST(refused_entry(entry_of("F32", "[2]", "[4,8]")) ==
             "the shape [2] of type F32 asks for 8 bytes, data_offsets for 4");
  BOOST_TEST(refused_entry(entry_of("F32", "[1]", "[4,8]")) == "its bytes begin at 4, those before it end at 0");
  BOOST_TEST(refused_entry(entry_of("F32", "[4611686018427387904,4]", "[0,8]")) ==
             "the shape [4611686018427387904, 4] does not fit into 64 bits");
  BOOST_TEST(refused_entry(entry_of("F16", "[0,1280525401285254190]", "[0,0]")).ends_with("does not fit into 64 bits"));
  BOOST_TEST(refused_entry(entry_of("F32", "[9223372036854775808]", "[0,8]")) ==
             "the shape holds too large a number, not extents alone");
  BOOST_TEST(refused_entry(entry_of("F32", "[1e30]", "[0,8]")) ==
             "the shape holds a number that is no 64-bit integer, not extents alone");
  BOOST_TEST(refused_entry(entry_of("F32", "[-2]", "[0,8]")) == "the shape holds a negative number, not extents alone");
  BOOST_TEST(refused_entry(entry_of("F32", "[[2]]", "[0,8]")) == "the shape holds a list, not extents alone");
  BOOST_TEST(refused_entry(entry_of("F32", "2", "[0,8]")) == "shape is a number");
  BOOST_TEST(refused_entry(entry_of("F32", "[2]", "[0]")) == "data_offsets are not two");
  BOOST_TEST(refused_entry(entry_of("F32", "[2]", "[0,4,8]")) == "data_offsets holds three numbers, not two offsets");
  BOOST_TEST(refused_entry(entry_of("F32", "[2]", "[0,18446744073709551615]")).ends_with("the file is truncated"));
  BOOST_TEST(refused_entry(entry_of("F31", "[2]", "[0,8]")) == "the type F31 is unknown");
  BOOST_TEST(refused_entry("{\"dtype\":\"F32\",\"shape\":[2]}") == "the header must say dtype, shape and data_offsets");
  BOOST_TEST(refused_entry("{\"dtype\":\"F32\",\"dtype\":\"F32\"}") == "the header says dtype twice");
  BOOST_TEST(refused_entry("{\"strides\":[1]}") == "the header says strides, which is unknown");
  BOOST_TEST(refused_entry("{\"dtype\":{}}") == "dtype is an object");
  BOOST_TEST(refused_entry("{\"dtype\":null}") == "dtype is null");
  BOOST_TEST(refused_entry("{\"shape\":true}") == "shape is a truth value");
}

BOOST_AUTO_TEST_CASE(hostile_headers) {
  const auto says = [](const std::string& header) { return refused(file_of(header, 8)); };
  const std::string first = "\"a\":" + entry_of("F32", "[1]", "[0,4]"), same = entry_of("F32", "[1]", "[0,4]");
  BOOST_TEST(says("{" + first + ",\"b\":" + same + "}") == "tensor b: its bytes begin at 0, those before it end at 4");
  BOOST_TEST(says("{" + first + "}") == "is too long: 4 bytes belong to no tensor");
  BOOST_TEST(says("{" + first + "," + first + "}") == "the header has tensor a twice");
  BOOST_TEST(says("[]") == "is no safetensors file: its header does not begin with {");
  BOOST_TEST(says("") == "is no safetensors file: its header does not begin with {");
  BOOST_TEST(says("{\"a\":3}") == "the header says a number for tensor a");
  BOOST_TEST(says("{\"a\":[]}") == "the header says a list for tensor a");
  BOOST_TEST(says("{") == "the header is no valid JSON at its byte 2");
  BOOST_TEST(says("{}{}") == "the header is no valid JSON at its byte 3");
  BOOST_TEST(says("{\"\xff\":1}").starts_with("the header is no valid JSON"));
  BOOST_TEST(says("{\"__metadata__\":{\"a\":1}}") == "the metadata holds something else than texts under a");
  BOOST_TEST(says("{\"__metadata__\":{\"a\":{}}}") == "the metadata holds something else than texts under a");
  BOOST_TEST(says("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}") == "the metadata has a twice");
  BOOST_TEST(says("{\"__metadata__\":{},\"__metadata__\":{}}") == "the header has __metadata__ twice");
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  BOOST_TEST(says(deep) == "the header says a list for tensor a");
  // Names out of a file are shown, but neither whole nor raw.
  BOOST_TEST(says("{\"\\u001b[2J" + std::string(1000, 'x') + "\":3}") ==
             "the header says a number for tensor ?[2J" + std::string(96, 'x') + "...");
  std::string truth = file_of("{\"t\":" + entry_of("BOOL", "[8]", "[0,8]") + "}", 8);
  truth[truth.size() - 2] = 7;
  const io::safetensors_file file(bytes_of(truth), "truth");
  for (const bool viewed : {false, true})
    BOOST_TEST(refusal("truth", [&] {
                 viewed ? (void)file.view<bool, any_row>("t") : (void)file.read<bool, any_row>("t");
               }) == "tensor t: byte 6 of the elements is neither 0 nor 1, but their type is BOOL");
}

BOOST_AUTO_TEST_CASE(what_the_writer_refuses) {
  const temporary_folder folder;
  const auto t = golden_tensor<float, row>();
  io::safetensors_writer writer;
  writer.add("w", t);
  writer.metadata("k", "v");
  const auto says = [](auto action) { return refusal("safetensors_writer", action); };
  BOOST_TEST(says([&] { writer.add("w", t); }) == "there is a tensor w already");
  BOOST_TEST(says([&] { writer.add("__metadata__", t); }) == "no tensor can have the name __metadata__");
  BOOST_TEST(says([&] { writer.add("\xff", t); }) == "the text \xff is no UTF-8");
  BOOST_TEST(says([&] { writer.metadata("k", "w"); }) == "the metadata has k already");
  BOOST_TEST(says([&] { writer.metadata("l", "\xc3"); }) == "the text \xc3 is no UTF-8");
  const auto nowhere = folder / "no_folder/x";
  BOOST_TEST(refusal(nowhere.string(), [&] { writer.write(nowhere); }) ==
             "cannot be written: No such file or directory");
  BOOST_TEST(folder.count() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
