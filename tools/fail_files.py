# SPDX-License-Identifier: BSL-1.0
"""What tools/check_fail and tools/make_errors_page read in a file of tests/fail.

Such a file has one mistake or several, each with its mended twin:

    // page: dot                        the heading of the file's mistakes on the page

    // mistake 2: A contraction over an axis that one side lacks
    // why: What went wrong, in a sentence or two.
    // says: dot over axis model: ...   the whole sentence, as every compiler prints it that can
    // literal: dot: the ...            what clang before C++26 prints, beside the types
    #if HEED_MISTAKE == 2
      the wrong lines
    #else
      the mended lines
    #endif

Lines between the comment and the #if and after the #endif, up to the end of the block, belong to both.

A file that is not for the page has `#ifdef HEED_MISTAKE` once and, instead of the lines above,

    // expect: a regular expression     for every compiler; expect(gcc): and expect(clang): for one
    // note: a regular expression       may match another of the first lines
"""
import dataclasses
import re
import textwrap

BLOCK = re.compile(r"(?P<comments>^  +// mistake [^\n]*\n(?:^ +//[^\n]*\n)*)(?P<before>(?:^ [^\n]*\n)*)"
                   r"^#if HEED_MISTAKE == (?P<number>\d+)\n(?P<wrong>.*?)^#else\n(?P<mended>.*?)^#endif\n"
                   r"(?P<after>.*?)^  }$", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^[ \t]*// *(?:(mistake) (\d+)|(why|says|literal)): *(.*)$")


@dataclasses.dataclass
class Mistake:
    number: int
    title: str = ""
    why: str = ""
    says: str = ""
    literal: str = ""
    before: str = ""
    after: str = ""
    wrong: str = ""
    mended: str = ""


def tidy(code):
    return textwrap.dedent(code or "").strip("\n")


def mistakes_in(source):
    """The numbered mistakes of a file, in order; none where it has only `#ifdef HEED_MISTAKE`."""
    found = []
    for block in BLOCK.finditer(source):
        mistake = Mistake(int(block["number"]), before=tidy(block["before"]), wrong=tidy(block["wrong"]),
                          mended=tidy(block["mended"]), after=tidy(block["after"]))
        fields, last = {}, None
        for line in block["comments"].splitlines():
            if match := FIELD.match(line):
                last = match[1] or match[3]
                fields[last] = match[4].strip()
                if match[2] and int(match[2]) != mistake.number:
                    raise ValueError(f"mistake {match[2]} stands above #if HEED_MISTAKE == {mistake.number}")
            elif last:  # a field goes on over the next lines
                fields[last] += " " + line.strip().removeprefix("//").strip()
        mistake.title, mistake.why = fields.get("mistake", ""), fields.get("why", "")
        mistake.says, mistake.literal = fields.get("says", ""), fields.get("literal", "")
        found.append(mistake)
    if [mistake.number for mistake in found] != list(range(1, len(re.findall(r"// mistake \d", source)) + 1)):
        raise ValueError("the mistakes are not numbered 1, 2, 3, ..., each with its #if, #else and #endif")
    return found
