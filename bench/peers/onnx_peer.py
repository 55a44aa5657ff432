# SPDX-License-Identifier: BSL-1.0
"""ONNX Runtime: the Attention operator of ONNX, opset 23, and its own MultiHeadAttention, which it runs as flash attention.

Next to read: pictures.py.
"""
import os

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

from cells import DOCUMENT, SOFTCAP, WINDOW
from worker import Unsupported, load, serve

threads = 1


def session(nodes, inputs, output, opsets):
    graph = helper.make_graph(
        nodes, "cell", [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
                        for name, value in inputs.items()],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in opsets])
    model.ir_version = 10
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = "HEED_BENCH_THRIFTY" not in os.environ
    run = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: run.run(None, inputs)[0]


def operands(cell, folder):
    shape = (cell.batch, cell.heads, cell.queries, cell.width)
    memory = (cell.batch, cell.kv_heads, cell.keys, cell.width)
    return {name: load(folder, name, *size) for name, size in (("q", shape), ("k", memory), ("v", memory))}


def additive(cell, folder):
    if cell.kind == "bias":
        return load(folder, "bias", 1, cell.heads, cell.queries, cell.keys)
    i, j = numpy.arange(cell.queries)[:, None], numpy.arange(cell.keys)[None, :]
    if cell.kind == "window":
        kept = (j <= i) & (i - j < WINDOW)
    elif cell.kind == "documents":
        kept = (j <= i) & (i // DOCUMENT == j // DOCUMENT)
    elif cell.kind == "padding":
        lengths = numpy.array([cell.length(b) for b in range(cell.batch)])
        kept = numpy.broadcast_to(j[None] < lengths[:, None, None], (cell.batch, cell.queries, cell.keys))[:, None]
        return numpy.where(kept, 0, -numpy.inf).astype(numpy.float32)
    else:
        return None
    return numpy.where(kept, 0, -numpy.inf).astype(numpy.float32)[None, None]


def attention(cell, folder):
    if cell.kind in ("encoder_layer", "alibi"):
        raise Unsupported(cell.kind)
    inputs, added = operands(cell, folder), additive(cell, folder)
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


def set_threads(count):
    global threads
    threads = count


if __name__ == "__main__":
    serve({"onnx_attention": attention, "onnx_multi_head": multi_head}, set_threads)
