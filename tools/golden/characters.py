#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes examples/sentences/characters.hpp from Python's Unicode tables: what an uncased BERT does to characters.

The basic plane without the syllables of Hangul and the compatibility ideographs, whose decomposition no text needs
that this example is for; characters outside of the table stay as they are.
"""
import pathlib
import unicodedata

OUT = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "sentences" / "characters.hpp"
LEFT_OUT = [(0xAC00, 0xD7A4), (0xD800, 0xE000), (0xF900, 0xFB00)]

HEAD = """// SPDX-License-Identifier: BSL-1.0
// Made by tools/golden/characters.py of Unicode {version}: accents that fall away, capitals, marks, punctuation.
// Next to read: word_piece.hpp, which asks for them.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>

namespace sentences {{

struct character_range {{
  char32_t first, last;
}};
struct replaced_character {{
  char32_t from, to;
}};

// clang-format off
"""

TAIL = """
// clang-format on

template <std::size_t N> bool is_in(std::array<character_range, N> const& ranges, char32_t c) {
  const auto found = std::upper_bound(ranges.begin(), ranges.end(), c,
                                      [](char32_t each, character_range const& range) { return each < range.first; });
  return found != ranges.begin() && c <= std::prev(found)->last;
}

// Without its accent and in lower case.
inline char32_t bare(char32_t c) {
  const auto found = std::lower_bound(replaced.begin(), replaced.end(), c,
                                      [](replaced_character const& each, char32_t from) { return each.from < from; });
  return found != replaced.end() && found->from == c ? found->to : c;
}

}  // namespace sentences
"""


def stays_out(code):
    return any(first <= code < end for first, end in LEFT_OUT)


def bare(code):
    decomposed = unicodedata.normalize("NFD", chr(code))
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn").lower()


def ranges(wanted):
    found = []
    for code in range(0x10000):
        if wanted(unicodedata.category(chr(code))):
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return found


def table(name, kind, comment, pairs):
    lines = [f"// {comment}", f"inline constexpr std::array<{kind}, {len(pairs)}> {name}{{{{"]
    line = ""
    for first, second in pairs:
        item = f"{{{first:#x}, {second:#x}}},"
        if len(line) + len(item) + 3 > 120:
            lines.append("  " + line.rstrip())
            line = ""
        line += item + " "
    return lines + ["  " + line.rstrip(), "}};"]


def main():
    replaced = []
    for code in range(0x10000):
        if stays_out(code) or unicodedata.category(chr(code)) == "Mn":
            continue
        to = bare(code)
        if to != chr(code):
            if len(to) == 1:  # the few others, of Indic scripts, stay as they are
                replaced.append((code, ord(to)))
    lines = table("replaced", "replaced_character", "What a character is without its accent and in lower case.", replaced)
    for name, comment, wanted in (
        ("marks", "Marks that stand over or under another character.", lambda c: c == "Mn"),
        ("punctuation", "What is a word of its own.", lambda c: c.startswith("P")),
        ("unseen", "What is left out: characters that control or format.", lambda c: c in ("Cc", "Cf")),
    ):
        lines += table(name, "character_range", comment, ranges(wanted))
    OUT.write_text(HEAD.format(version=unicodedata.unidata_version) + "\n".join(lines) + "\n" + TAIL.lstrip("\n"))


if __name__ == "__main__":
    main()
