# SPDX-License-Identifier: BSL-1.0
"""In: what ../run measured. Out: table.md, the pictures of pictures.py; what heed is behind in, in words.

    bench/peers/report.py build/bench/results.json      writes them anew

Next to read: pictures.py.
"""
import json
import pathlib
import sys

import pictures
from figures import TITLES, by_cell, by_time, mega, milliseconds, overlap, peers_of, spread, thread_word


def grid(head, aligned, rows):
    return ["| " + " | ".join(head) + " |", "| " + " | ".join(aligned) + " |"] + ["| " + " | ".join(row) + " |" for row in rows]


def about(everything):
    machine = everything["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    peaks = ", ".join(f"{rate / 1e9:.0f} GFLOP/s on {thread_word(threads)}" for threads, rate in machine["peak"].items())
    near = ", ".join(f"±{100 * spread([r for r in everything['cells'] if r['threads'] == int(threads) and 'heed' in r['measured']]):.0f} % "
                     f"on {thread_word(threads)}" for threads in machine["peak"])
    return (f"{machine['processor']}, {machine['cores']} cores; {machine['compiler']}; {versions}; heed {machine['commit']}, "
            f"{machine['date']}. Multiply-add peak, float32: {peaks}. heed's times lie around their medians within {near}, on "
            "average over the cells.")


def times(everything):
    """One row a cell: heed, unfused, the best peer, for each number of threads."""
    cells = by_cell(everything)
    counts = sorted({threads for each in cells.values() for threads in each})
    head, aligned, rows = ["cell"], ["---"], []
    for threads in counts:
        head += [f"heed, {thread_word(threads)}", "of peak", "unfused", "best peer", "", "speed-up"]
        aligned += ["---:", "---:", "---:", "---:", "---", "---:"]
    for cell, by_threads in cells.items():
        row = [cell]
        for threads in counts:
            if threads not in by_threads:
                row += [""] * 6
                continue
            result = by_threads[threads]
            own, unfused, peers = result["measured"]["heed"], result["measured"].get("unfused"), by_time(peers_of(result))
            half = (own["highest"] - own["lowest"]) / 2 / own["median"]
            row += [f"**{milliseconds(own['median'])}** ±{100 * half:.0f} %", f"{100 * own['share_of_peak']:.0f} %",
                    milliseconds(unfused["median"]) if unfused else ""]
            row += [milliseconds(peers[0][1]["median"]), TITLES[peers[0][0]],
                    f"{peers[0][1]['median'] / own['median']:.2f}"] if peers else ["", "", ""]
        rows.append(row)
    return grid(head, aligned, rows)


def peers(everything):
    """One row a cell: the times of all peers."""
    rows = []
    for cell, by_threads in by_cell(everything).items():
        rows += [[cell, str(threads), ", ".join(f"{TITLES[name]} {milliseconds(each['median'])}" for name, each in by_time(peers_of(result)))]
                 for threads, result in sorted(by_threads.items())]
    return grid(["cell", "threads", "peers"], ["---", "---:", "---"], rows)


def costs(everything):
    """One row a cell: operations, bytes, reading rate, memory, cold start, error."""
    rows = []
    for cell, by_threads in by_cell(everything).items():
        result = by_threads[min(by_threads)]
        measured, best = result["measured"], by_time(peers_of(result))
        own = measured["heed"]

        def three(key, shown):
            each = [own, measured.get("unfused"), best[0][1] if best else None]
            return " / ".join(shown(e[key]) if e and key in e else "–" for e in each)
        read = result["bytes"] / own["median"] / result["read_rate"]
        rows.append([cell, mega(result["operations"]), mega(result["bytes"]), f"{result['operations'] / result['bytes']:.1f}",
                     f"{100 * read:.0f} %", three("memory", mega), three("first_run", milliseconds), three("error", lambda e: f"{e:.0e}")])
    return grid(["cell", "million operations", "MB in and out", "operations a byte", "of reading", "memory, MB", "cold start, ms", "error"],
                ["---", "---:", "---:", "---:", "---:", "---:", "---:", "---:"], rows)


def left_out(everything):
    lines = sorted({f"- {TITLES[name]}, {result['cell'].split(' (')[0]}: {why}" for result in everything["cells"]
                    for name, why in result["wrong"].items()})
    lines += [f"- {cell}: {why}" for cell, why in everything.get("skipped", {}).items()]
    return ["Not timed, since it failed, its result differed from the formula's, or something is missing:", ""] + lines if lines else []


def behind(everything):
    """One line for each cell in which a peer's median is below heed's."""
    lines = []
    for result in everything["cells"]:
        own = result["measured"].get("heed")
        for name, each in by_time(peers_of(result)):
            if own and each["median"] < own["median"]:
                near = "; their spreads overlap" if overlap(own, each) else ""
                lines.append(f"- {result['cell']}, {thread_word(result['threads'])}: {TITLES[name]} takes {milliseconds(each['median'])} ms, "
                             f"heed {milliseconds(own['median'])} ({each['median'] / own['median']:.2f}{near})")
    return lines


def table(everything):
    return [about(everything), "", *times(everything), "", *peers(everything), "", *costs(everything), "", *left_out(everything)]


def write(everything, folder):
    (folder / "table.md").write_text("\n".join(table(everything)) + "\n", encoding="utf-8")
    lines = behind(everything)
    words = ["heed is behind in:", *lines] if lines else ["heed is behind no peer in any cell."]
    return "\n".join([f"table in {folder / 'table.md'}", pictures.write(everything, folder), *words])


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    print(write(json.loads(path.read_text()), path.parent))
