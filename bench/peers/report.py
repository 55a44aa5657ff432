# SPDX-License-Identifier: BSL-1.0
"""In: what ../run measured. Out: table.md, and with matplotlib speed.svg, lengths.svg, memory.svg, roofline.svg, each also
as PNG; what heed is behind in, in words.

    bench/peers/report.py build/bench/results.json      writes them anew
"""
import json
import pathlib
import sys

TITLES = {
    "heed": "heed", "unfused": "heed, unfused", "onednn": "oneDNN", "openblas": "OpenBLAS + xsimd", "eigen": "Eigen",
    "torch_sdpa": "PyTorch SDPA", "torch_flex": "FlexAttention", "torch_textbook": "PyTorch textbook",
    "torch_layer": "PyTorch layer", "onnx_attention": "ONNX Runtime", "onnx_multi_head": "ONNX Runtime MHA",
}
# Okabe and Ito's colours, told apart by all.
COLOURS = {
    "heed": "#0072B2", "unfused": "#56B4E9", "torch_sdpa": "#D55E00", "torch_flex": "#E69F00", "torch_textbook": "#CC79A7",
    "torch_layer": "#D55E00", "onnx_attention": "#009E73", "onnx_multi_head": "#44AA77", "openblas": "#777777",
    "eigen": "#999933", "onednn": "#000000",
}


def milliseconds(seconds):
    value = seconds * 1e3
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def megabytes(each):
    return f"{each['memory'] / 1e6:.1f}" if "memory" in each else ""


def spread(results):
    """Of heed's times around their median, on average over the cells."""
    each = [r["measured"]["heed"] for r in results if "heed" in r["measured"]]
    return sum((e["highest"] - e["lowest"]) / 2 / e["median"] for e in each) / max(1, len(each))


def peers_of(result):
    return {name: each for name, each in result["measured"].items() if name not in ("heed", "unfused")}


def table(everything):
    about = everything["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    peaks = ", ".join(f"{rate / 1e9:.0f} GFLOP/s on {threads} thread{'s' if int(threads) > 1 else ''}"
                      for threads, rate in about["peak"].items())
    lines = [f"{about['processor']}, {about['cores']} cores; {about['compiler']}; {versions}; heed {about['commit']}.",
             f"Multiply-add peak, float32: {peaks}.", "",
             "A cell is (batch, heads, queries, keys, width of a head). Milliseconds are medians; in brackets the share of the "
             "multiply-add peak of the operations that the formula needs (excluded pairs do not count). Speed-up: the time of "
             "the best peer over heed's. MB: what a run adds to the memory of its process, heed / best peer."]
    for threads in sorted({result["threads"] for result in everything["cells"]}):
        near = spread([result for result in everything["cells"] if result["threads"] == threads])
        lines += ["", f"### {threads} thread{'s' if threads > 1 else ''}", "",
                  f"heed's times lie within ±{100 * near:.0f} % of their medians, on average over the cells.", "",
                  "| cell | heed | unfused | best peer | | speed-up | MB | other peers |",
                  "| --- | ---: | ---: | ---: | --- | ---: | ---: | --- |"]
        for result in everything["cells"]:
            if result["threads"] != threads or "heed" not in result["measured"]:
                continue
            own, peers = result["measured"]["heed"], sorted(peers_of(result).items(), key=lambda each: each[1]["median"])
            unfused = result["measured"].get("unfused")
            row = [result["cell"], f"**{milliseconds(own['median'])}** ({100 * own['share_of_peak']:.0f} %)",
                   milliseconds(unfused["median"]) if unfused else ""]
            if peers:
                name, best = peers[0]
                rest = ", ".join(f"{TITLES[n]} {milliseconds(e['median'])}" for n, e in peers[1:])
                row += [milliseconds(best["median"]), TITLES[name], f"{best['median'] / own['median']:.2f}",
                        f"{megabytes(own)} / {megabytes(best)}", rest]
            else:
                row += ["", "", "", megabytes(own), ""]
            lines.append("| " + " | ".join(row) + " |")
    left_out = sorted({f"{TITLES[name]}: {why}" for result in everything["cells"] for name, why in result["wrong"].items()})
    if left_out:
        lines += ["", "Not timed, since it failed or its result differed from the formula's:", ""] + [f"- {w}" for w in left_out]
    return "\n".join(lines) + "\n"


def behind(everything):
    """One line for each cell in which a peer's median is below heed's."""
    lines = []
    for result in everything["cells"]:
        own = result["measured"].get("heed")
        for name, each in peers_of(result).items():
            if own and each["median"] < own["median"]:
                lines.append(f"{result['cell']}, {result['threads']} thread(s): {TITLES[name]} takes "
                             f"{each['median'] / own['median']:.2f} of heed's time")
    if not lines:
        return "heed is behind no peer in any cell."
    return "heed is behind in:\n" + "\n".join(f"- {line}" for line in lines)


def styled(axis):
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(True, axis="both", linewidth=0.4, color="#dddddd")
    axis.set_axisbelow(True)


def speed_bars(plot, everything, threads):
    results = [r for r in everything["cells"] if r["threads"] == threads and "heed" in r["measured"] and peers_of(r)]
    figure, axis = plot.subplots(figsize=(9, 0.42 * len(results) + 1.6))
    for row, result in enumerate(reversed(results)):
        own = result["measured"]["heed"]["median"]
        others = {name: each["median"] / own for name, each in result["measured"].items() if name != "heed"}
        best = min((name for name in others if name != "unfused"), key=others.get)
        axis.barh(row, others[best] - 1, left=1, height=0.62, color=COLOURS["heed"], zorder=2)
        axis.text(max(others.values()) * 1.06, row, f"{others[best]:.2f} × {TITLES[best]}", va="center", fontsize=8, zorder=4)
        for name, ratio in others.items():
            if name != best:
                axis.plot(ratio, row, marker="|", markersize=9, markeredgewidth=1.6, color=COLOURS[name], zorder=3)
    shown = {name for result in results for name in result["measured"]} - {"heed"}
    for name in sorted(shown, key=list(TITLES).index):
        axis.plot([], [], linestyle="", marker="|", markersize=9, markeredgewidth=1.6, color=COLOURS[name], label=TITLES[name])
    axis.axvline(1, color="black", linewidth=0.9, zorder=5)
    axis.set_xscale("log")
    axis.set_xticks([0.5, 1, 2, 4, 8, 16, 32], ["0.5", "1", "2", "4", "8", "16", "32"])
    axis.minorticks_off()
    axis.set_yticks(range(len(results)), [result["cell"] for result in reversed(results)], fontsize=8)
    axis.set_xlabel(f"time over heed's, {threads} thread{'s' if threads > 1 else ''} (bar: the best peer; right of 1: heed is faster)")
    styled(axis)
    axis.legend(fontsize=7, loc="lower right", frameon=False)
    return figure


def over_lengths(plot, everything, value, label):
    figure, axis = plot.subplots(figsize=(7, 4.4))
    names = [name for name in TITLES if any(name in result["measured"] for result in everything["lengths"])]
    for name in names:
        points = [(int(result["cell"].split()[0]), value(result["measured"][name])) for result in everything["lengths"]
                  if name in result["measured"]]
        points = [(n, v) for n, v in points if v > 0]
        if points:
            axis.plot(*zip(*points), marker="o", markersize=3.5, label=TITLES[name], color=COLOURS[name],
                      linewidth=2.4 if name == "heed" else 1.2, zorder=3 if name == "heed" else 2)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    ticks = sorted({int(result["cell"].split()[0]) for result in everything["lengths"]})
    axis.set_xticks(ticks, [str(n) for n in ticks])
    axis.set_xlabel("tokens (causal self-attention, 12 heads of 64)")
    axis.set_ylabel(label)
    styled(axis)
    axis.legend(fontsize=8, frameon=False)
    return figure


def roofline(plot, everything, threads):
    """Each cell's operations a byte of input and output, and operations a second of heed and of its best peer."""
    figure, axis = plot.subplots(figsize=(7, 4.4))
    peak = everything["machine"]["peak"][str(threads)] / 1e9
    for result in everything["cells"]:
        if result["threads"] != threads or "heed" not in result["measured"]:
            continue
        intensity = result["operations"] / result["bytes"]
        rates = {name: result["operations"] / each["median"] / 1e9 for name, each in result["measured"].items()}
        own = rates.pop("heed")
        rates.pop("unfused", None)
        if rates:
            axis.plot([intensity] * 2, [max(rates.values()), own], color="#bbbbbb", linewidth=1, zorder=1)
            axis.plot(intensity, max(rates.values()), "o", markersize=4, color=COLOURS["torch_sdpa"], zorder=2)
        axis.plot(intensity, own, "o", markersize=6, color=COLOURS["heed"], zorder=3)
        axis.annotate(result["cell"].split(" (")[0], (intensity, own), xytext=(5, 3), textcoords="offset points", fontsize=6.5)
    axis.axhline(peak, color="black", linewidth=1)
    axis.text(axis.get_xlim()[0], peak * 1.03, "multiply-add peak", fontsize=7)
    axis.plot([], [], "o", color=COLOURS["heed"], label="heed")
    axis.plot([], [], "o", markersize=4, color=COLOURS["torch_sdpa"], label="best peer")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("operations a byte of inputs and output")
    axis.set_ylabel("GFLOP/s")
    styled(axis)
    axis.legend(fontsize=8, loc="lower right", frameon=False)
    return figure


def pictures(everything, folder):
    try:
        import matplotlib
    except ImportError:
        return "no pictures: this python3 has no matplotlib"
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot
    matplotlib.rcParams["svg.hashsalt"] = "heed"
    figures = {}
    for threads in sorted({result["threads"] for result in everything["cells"]}):
        figures[f"speed_{threads}"] = speed_bars(plot, everything, threads)
        figures[f"roofline_{threads}"] = roofline(plot, everything, threads)
    if everything["lengths"]:
        figures["lengths"] = over_lengths(plot, everything, lambda each: each["median"] * 1e3, "milliseconds, 1 thread")
        figures["memory"] = over_lengths(plot, everything, lambda each: each.get("memory", 0) / 1e6,
                                         "MB that a run adds to its process, output included")
    for name, figure in figures.items():
        figure.tight_layout()
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{name}.png", dpi=150)
        plot.close(figure)
    return f"{len(figures)} pictures in {folder}"


def write(everything, folder):
    (folder / "table.md").write_text(table(everything), encoding="utf-8")
    return "\n".join([f"table in {folder / 'table.md'}", pictures(everything, folder), behind(everything)])


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    print(write(json.loads(path.read_text()), path.parent))
