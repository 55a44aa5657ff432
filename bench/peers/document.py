#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""In: what ../run measured. Out: the parts of docs/benchmarks.md and README.md between `<!-- measured: NAME -->` and
`<!-- /measured -->`, and docs/pictures.

    bench/peers/document.py build/bench/results.json

Next to read: ../run.
"""
import json
import pathlib
import re
import shutil
import sys

import report
from figures import TITLES, by_cell, by_time, milliseconds, peers_of, thread_word

# The cells of README's table: the beginning of the name, and the words there.
SHOWN = ["short", "prefill", "GPT-2, causal", "LLaMA, causal", "long, causal", "long, window of 256", "LLaMA, decode", "documents",
         "bias", "encoder layer (1, 12", "LLaMA layer, decode", "MiniLM, sentences"]


def readme(everything):
    machine, rows, threads = everything["machine"], [], min(result["threads"] for result in everything["cells"])
    for start in SHOWN:
        found = [(cell, each) for cell, each in by_cell(everything).items() if cell.startswith(start) and threads in each]
        if not found:
            continue
        cell, measured = found[0][0], found[0][1][threads]["measured"]
        peers = by_time(peers_of(found[0][1][threads]))
        theirs = {own: next(((name, each) for name, each in peers if name.startswith("torch_") == own), None) for own in (True, False)}
        times = {name: each["median"] for name, each in measured.items()}
        least = min(times.values())

        def shown(name, title=""):
            text = milliseconds(times[name]) + title
            return f"**{text}**" if times[name] == least else text
        rows.append([cell, shown("heed"), shown(theirs[True][0]) if theirs[True] else "–",
                     shown(theirs[False][0], " " + TITLES[theirs[False][0]]) if theirs[False] else "–",
                     shown("unfused") if "unfused" in times else "–"])
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return [f"Milliseconds, interleaved ({machine['processor']}, float32; {versions}); a cell is (batch, heads, queries, keys, "
            "width of a head), or (sentences).", "",
            *report.grid([thread_word(threads), "heed", "PyTorch", "best other", "heed, unfused"],
                         ["---", "---:", "---:", "---:", "---:"], rows)]


def summary(everything):
    """In how many cells heed leads, and by how much, for each number of threads."""
    lines = []
    for threads in sorted({result["threads"] for result in everything["cells"]}):
        ratios = sorted(by_time(peers_of(each[threads]))[0][1]["median"] / each[threads]["measured"]["heed"]["median"]
                        for each in by_cell(everything).values() if threads in each and peers_of(each[threads]))
        if ratios:
            ahead = sum(ratio >= 1 for ratio in ratios)
            lines.append(f"On {thread_word(threads)} heed is the fastest in {ahead} of {len(ratios)} cells; the best peer of a cell takes "
                         f"{ratios[len(ratios) // 2]:.2f} times heed's time in the median, from {ratios[0]:.2f} to {ratios[-1]:.2f}.")
    return lines


def behind(everything):
    lines = report.behind(everything)
    return [" ".join(summary(everything)), "", *(lines or ["A peer is faster in no cell of this run."])]


def between(text, name, lines):
    """text with the part of that name replaced."""
    pattern = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- /measured -->)", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"document.py: there is no <!-- measured: {name} -->")
    return pattern.sub(lambda found: found.group(1) + "\n".join(lines) + "\n" + found.group(2), text)


def lengths(folder):
    """The pictures over the length of the sequence, as far as the run made them: a link to one that is not there is broken."""
    titles = {"lengths": "Time against the length of the sequence", "memory": "Memory against the length of the sequence"}
    lines = [f"![{title}](pictures/{name}.png)\n" for name, title in titles.items() if (folder / f"{name}.png").exists()]
    return lines or ["Time and memory against the length of the sequence were not measured in this run."]


def write(everything, folder, root):
    parts = {"README.md": {"times": readme(everything)},
             "docs/benchmarks.md": {"about": [report.about(everything)], "behind": behind(everything), "times": report.times(everything),
                                    "peers": report.peers(everything), "costs": report.costs(everything), "lengths": lengths(folder),
                                    "left out": report.left_out(everything) or ["Nothing was left out."]}}
    for file, each in parts.items():
        text = (root / file).read_text(encoding="utf-8")
        for name, lines in each.items():
            text = between(text, name, lines)
        (root / file).write_text(text, encoding="utf-8")
    pictures = sorted(picture for name in ("speed_*", "roofline_*", "lengths", "memory") for picture in folder.glob(f"{name}.png"))
    for picture in pictures:
        shutil.copy(picture, root / "docs" / "pictures" / picture.name)
    return f"{', '.join(parts)} and {len(pictures)} pictures are written"


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    everything = json.loads(path.read_text())
    print(report.write(everything, path.parent))
    print(write(everything, path.parent, pathlib.Path(__file__).resolve().parent.parent.parent))
