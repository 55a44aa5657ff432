# SPDX-License-Identifier: BSL-1.0
"""A graph of ONNX as a function that runs it.

Next to read: onnx_peer.py, which makes graphs.
"""
import os

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

threads = 1


def use_threads(count):
    global threads
    threads = count


def made(nodes, inputs, outputs, opsets, constants=None):
    """inputs and constants are arrays by name; the latter are weights, which are packed once."""
    kinds = {numpy.dtype("float32"): TensorProto.FLOAT, numpy.dtype("int32"): TensorProto.INT32}
    graph = helper.make_graph(
        nodes, "cell", [helper.make_tensor_value_info(name, kinds[value.dtype], value.shape)
                        for name, value in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(numpy.ascontiguousarray(value), name) for name, value in (constants or {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in opsets])
    model.ir_version = 10
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = "HEED_BENCH_THRIFTY" not in os.environ
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def session(nodes, inputs, output, opsets, constants=None):
    run = made(nodes, inputs, [output], opsets, constants)
    return lambda: run.run(None, inputs)[0]
