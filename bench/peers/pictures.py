# SPDX-License-Identifier: BSL-1.0
"""In: what ../run measured. Out, with matplotlib: speed_N and roofline_N for each number of threads, lengths and memory,
each as SVG and PNG.

Next to read: document.py.
"""
from figures import COLOURS, TITLES, by_cell, length_of, peers_of, thread_word


def styled(axis):
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(True, axis="both", linewidth=0.4, color="#dddddd")
    axis.set_axisbelow(True)


def with_heed(everything, threads):
    return [each[threads] for each in by_cell(everything).values() if threads in each]


def speed_bars(plot, everything, threads):
    results = [result for result in with_heed(everything, threads) if len(result["measured"]) > 1]
    figure, axis = plot.subplots(figsize=(9, 0.4 * len(results) + 1.8))
    for row, result in enumerate(reversed(results)):
        own = result["measured"]["heed"]["median"]
        others = {name: each["median"] / own for name, each in result["measured"].items() if name != "heed"}
        best = min((name for name in others if name != "unfused"), key=others.get, default=None)
        if best:
            axis.barh(row, others[best] - 1, left=1, height=0.62, color=COLOURS["heed"], zorder=2)
            axis.text(max(others.values()) * 1.06, row, f"{others[best]:.2f} × {TITLES[best]}", va="center", fontsize=8, zorder=4)
        for name, ratio in others.items():
            if name != best:
                axis.plot(ratio, row, marker="|", markersize=9, markeredgewidth=1.6, color=COLOURS[name], zorder=3)
    shown = {name for result in results for name in result["measured"]} - {"heed"}
    for title, name in {TITLES[name]: name for name in TITLES if name in shown}.items():
        axis.plot([], [], linestyle="", marker="|", markersize=9, markeredgewidth=1.6, color=COLOURS[name], label=title)
    axis.axvline(1, color="black", linewidth=0.9, zorder=5)
    axis.set_xscale("log")
    axis.set_xticks([0.5, 1, 2, 4, 8, 16, 32, 64], ["0.5", "1", "2", "4", "8", "16", "32", "64"])
    axis.minorticks_off()
    axis.set_yticks(range(len(results)), [result["cell"] for result in reversed(results)], fontsize=8)
    axis.set_ylim(-0.8, len(results) - 0.2)
    axis.set_xlabel(f"time over heed's, {thread_word(threads)} (bar: the best peer; right of 1: heed is faster)")
    styled(axis)
    axis.legend(fontsize=7, loc="lower center", bbox_to_anchor=(0.3, 1), ncols=5, frameon=False)
    return figure


def over_lengths(plot, everything, value, label):
    figure, axis = plot.subplots(figsize=(7, 4.4))
    for name in TITLES:
        points = sorted((length_of(result), value(result["measured"][name])) for result in everything["lengths"]
                        if name in result["measured"])
        points = [(n, v) for n, v in points if v > 0]
        if points:
            axis.plot(*zip(*points), marker="o", markersize=3.5, label=TITLES[name], color=COLOURS[name],
                      linewidth=2.4 if name == "heed" else 1.2, zorder=3 if name == "heed" else 2)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    ticks = sorted({length_of(result) for result in everything["lengths"]})
    axis.set_xticks(ticks, [str(n) for n in ticks])
    axis.set_xlabel("tokens (causal self-attention, 12 heads of 64)")
    axis.set_ylabel(label)
    styled(axis)
    axis.legend(fontsize=8, frameon=False)
    return figure


def roofline(plot, everything, threads):
    """Each cell's operations a byte of input and output, and operations a second of heed and of its best peer."""
    results = with_heed(everything, threads)
    figure, axis = plot.subplots(figsize=(8, 5))
    peak, reading = everything["machine"]["peak"][str(threads)] / 1e9, min(result["read_rate"] for result in results) / 1e9
    for result in results:
        intensity = result["operations"] / result["bytes"]
        own = result["operations"] / result["measured"]["heed"]["median"] / 1e9
        best = max((result["operations"] / each["median"] / 1e9 for each in peers_of(result).values()), default=None)
        if best:
            axis.plot([intensity] * 2, [best, own], color="#bbbbbb", linewidth=1, zorder=1)
            axis.plot(intensity, best, "o", markersize=4, color=COLOURS["torch_sdpa"], zorder=2)
        axis.plot(intensity, own, "o", markersize=6, color=COLOURS["heed"], zorder=3)
        axis.annotate(result["cell"].split(" (")[0], (intensity, own), xytext=(5, 3), textcoords="offset points", fontsize=6)
    left, right = axis.get_xlim()[0], max(r["operations"] / r["bytes"] for r in results) * 2
    left = max(left, 0.2)
    axis.plot([left, peak / reading, right], [left * reading, peak, peak], color="black", linewidth=1, zorder=0)
    axis.text(right, peak * 1.05, "multiply-add peak", fontsize=7, ha="right")
    axis.text(left, left * reading * 1.5, "reading what no cache holds", fontsize=7)
    axis.plot([], [], "o", color=COLOURS["heed"], label="heed")
    axis.plot([], [], "o", markersize=4, color=COLOURS["torch_sdpa"], label="best peer")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel(f"operations a byte of inputs and output, {thread_word(threads)}")
    axis.set_ylabel("GFLOP/s")
    styled(axis)
    axis.legend(fontsize=8, loc="lower right", frameon=False)
    return figure


def write(everything, folder):
    try:
        import matplotlib
    except ImportError:
        return "no pictures: this python3 has no matplotlib"
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot
    matplotlib.rcParams["svg.hashsalt"] = "heed"
    figures = {}
    for threads in sorted({result["threads"] for result in everything["cells"]}):
        if with_heed(everything, threads):
            figures[f"speed_{threads}"] = speed_bars(plot, everything, threads)
            figures[f"roofline_{threads}"] = roofline(plot, everything, threads)
    if everything["lengths"]:
        threads = thread_word(everything["lengths"][0]["threads"])
        figures["lengths"] = over_lengths(plot, everything, lambda each: each["median"] * 1e3, f"milliseconds, {threads}")
        if any("memory" in each for result in everything["lengths"] for each in result["measured"].values()):
            figures["memory"] = over_lengths(plot, everything, lambda each: each.get("memory", 0) / 1e6,
                                             "MB that a run adds to its process, output included")
    for name, figure in figures.items():
        figure.tight_layout()
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{name}.png", dpi=130)
        plot.close(figure)
    return f"{len(figures)} pictures in {folder}, as SVG and PNG"
