# SPDX-License-Identifier: BSL-1.0
"""How tables and pictures read what ../run measured: names, colours, units, who is best.

Next to read: report.py.
"""
from cells import CELLS

TITLES = {
    "heed": "heed", "unfused": "heed, unfused", "torch_sdpa": "PyTorch SDPA", "torch_flex": "FlexAttention",
    "torch_textbook": "PyTorch textbook", "torch_layer": "PyTorch", "onnx_attention": "ONNX Runtime",
    "onnx_multi_head": "ONNX Runtime MHA", "onnx_layer": "ONNX Runtime", "onednn": "oneDNN", "openblas": "OpenBLAS + xsimd",
    "eigen": "Eigen", "xtensor": "xtensor",
}
# Okabe and Ito's colours, told apart by all.
COLOURS = {
    "heed": "#0072B2", "unfused": "#56B4E9", "torch_sdpa": "#D55E00", "torch_flex": "#E69F00", "torch_textbook": "#CC79A7",
    "torch_layer": "#D55E00", "onnx_attention": "#009E73", "onnx_multi_head": "#44AA77", "onnx_layer": "#009E73",
    "openblas": "#777777", "eigen": "#999933", "onednn": "#000000", "xtensor": "#882255",
}


def scaled(value):
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def milliseconds(seconds):
    return scaled(seconds * 1e3)


def mega(number):
    return scaled(number / 1e6)


def thread_word(threads):
    return f"{threads} thread{'s' if int(threads) > 1 else ''}"


def length_of(result):
    return int(result["cell"].split()[0])


def peers_of(result):
    return {name: each for name, each in result["measured"].items() if name not in ("heed", "unfused")}


def by_time(results):
    """(name, figures), the quickest first."""
    return sorted(results.items(), key=lambda each: each[1]["median"])


def by_cell(everything):
    """{cell: {threads: result}}, in the order of the table."""
    cells = {}
    for result in everything["cells"]:
        if "heed" in result["measured"]:
            cells.setdefault(result["cell"], {})[result["threads"]] = result
    order = {cell.name: at for at, cell in enumerate(CELLS)}
    return dict(sorted(cells.items(), key=lambda each: order.get(each[0], len(order))))


def spread(results):
    """Of heed's times around their median, on average over the cells."""
    each = [result["measured"]["heed"] for result in results]
    return sum((e["highest"] - e["lowest"]) / 2 / e["median"] for e in each) / max(1, len(each))


def overlap(one, other):
    return one["lowest"] <= other["highest"] and other["lowest"] <= one["highest"]
