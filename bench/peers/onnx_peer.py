# SPDX-License-Identifier: BSL-1.0
"""ONNX Runtime: the Attention operator of ONNX, opset 23, its own MultiHeadAttention, which it runs as flash attention, and
onnx_layers.py.

Next to read: onnx_layers.py.
"""
import numpy
import onnxruntime
from onnx import helper

import worker
from cells import SOFTCAP
from onnx_layers import layer
from onnx_session import session, use_threads
from worker import Unsupported, additive, serve


def operands(cell, folder):
    if not cell.is_attention:
        raise Unsupported(cell.kind)
    return dict(zip("qkv", worker.operands(cell, folder)))


def attention(cell, folder):
    inputs, added = operands(cell, folder), None if cell.kind == "causal" else additive(cell, folder)
    names = ["q", "k", "v"]
    if added is not None:
        inputs["mask"] = added
        names.append("mask")
    choices = {"is_causal": int(cell.kind == "causal"), "softcap": SOFTCAP if cell.kind == "softcap" else 0.0}
    return session([helper.make_node("Attention", names, ["y"], **choices)], inputs, "y", [("", 23)])


def multi_head(cell, folder):
    """q, k, v as [batch, token, heads * width], which is how a projection leaves them; so is the result."""
    if cell.kind not in ("full", "causal") or cell.heads != cell.kv_heads:
        raise Unsupported(cell.kind)
    inputs = {name: numpy.ascontiguousarray(value.transpose(0, 2, 1, 3)).reshape(cell.batch, value.shape[2], -1)
              for name, value in operands(cell, folder).items()}
    node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft", num_heads=cell.heads,
                            unidirectional=int(cell.kind == "causal"))
    run = session([node], inputs, "y", [("", 21), ("com.microsoft", 1)])
    return lambda: run().reshape(cell.batch, cell.queries, cell.heads, cell.width).transpose(0, 2, 1, 3)


if __name__ == "__main__":
    serve({"onnx_attention": attention, "onnx_multi_head": multi_head, "onnx_layer": layer}, use_threads,
          {"ONNX Runtime": onnxruntime.__version__})
