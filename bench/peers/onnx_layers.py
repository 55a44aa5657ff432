# SPDX-License-Identifier: BSL-1.0
"""ONNX Runtime's layers, of the operators that its optimizer makes of exported models: Attention and GroupQueryAttention,
norms with the residual connection, BiasGelu.

Next to read: report.py.
"""
import numpy
import onnxruntime
from onnx import helper

from cells import MINILM_LAYERS
from onnx_session import made, session
from worker import Unsupported, load, model_weights

OPSETS = [("", 21), ("com.microsoft", 1)]


def layer(cell, folder):
    makers = {"encoder_layer": encoder_layer, "decoder_layer": decoder_layer, "sentences": sentences}
    if cell.kind not in makers:
        raise Unsupported(cell.kind)
    return makers[cell.kind](cell, folder)


def own(kind, inputs, outputs, **choices):
    return helper.make_node(kind, inputs, outputs, domain="com.microsoft", **choices)


def encoder_layer(cell, folder):
    model, hidden = cell.model, cell.hidden
    weights = {"w_qkv": numpy.concatenate([load(folder, f"w_{n}", model, model) for n in "qkv"], 1),
               "b_qkv": numpy.concatenate([load(folder, f"b_{n}", model) for n in "qkv"]),
               "w_o": load(folder, "w_o", model, model), "b_o": load(folder, "b_o", model),
               "w_1": load(folder, "w_1", model, hidden), "b_1": load(folder, "b_1", hidden),
               "w_2": load(folder, "w_2", hidden, model), "b_2": load(folder, "b_2", model),
               "one": numpy.ones(model, numpy.float32), "zero": numpy.zeros(model, numpy.float32)}
    nodes = [helper.make_node("LayerNormalization", ["x", "one", "zero"], ["n"], epsilon=1e-5),
             own("Attention", ["n", "w_qkv", "b_qkv"], ["c"], num_heads=cell.heads),
             helper.make_node("MatMul", ["c", "w_o"], ["o"]),
             own("SkipLayerNormalization", ["x", "o", "one", "zero", "b_o"], ["m", "", "", "h"], epsilon=1e-5),
             helper.make_node("MatMul", ["m", "w_1"], ["i"]), own("BiasGelu", ["i", "b_1"], ["g"]),
             helper.make_node("MatMul", ["g", "w_2"], ["f"]), helper.make_node("Add", ["f", "b_2"], ["e"]),
             helper.make_node("Add", ["e", "h"], ["y"])]
    return session(nodes, {"x": load(folder, "x", cell.batch, cell.queries, model)}, "y", OPSETS, weights)


def decoder_layer(cell, folder):
    model, shared, hidden, past = cell.model, cell.kv_heads * cell.width, cell.hidden, cell.keys - cell.queries
    shapes = {"w_q": (model, model), "w_k": (model, shared), "w_v": (model, shared), "w_o": (model, model),
              "w_gate": (model, hidden), "w_up": (model, hidden), "w_down": (hidden, model)}
    angles = numpy.arange(cell.keys)[:, None] * 10000.0 ** (-numpy.arange(0, cell.width, 2) / cell.width)
    weights = {name: load(folder, name, *shape) for name, shape in shapes.items()}
    weights |= {"one": numpy.ones(model, numpy.float32), "cosine": numpy.cos(angles).astype(numpy.float32),
                "sine": numpy.sin(angles).astype(numpy.float32),
                "seen": numpy.full(cell.batch, cell.keys - 1, numpy.int32), "total": numpy.array(cell.keys, numpy.int32)}
    nodes = [helper.make_node("SimplifiedLayerNormalization", ["x", "one"], ["n"], epsilon=1e-5),
             *(helper.make_node("MatMul", ["n", f"w_{name}"], [name]) for name in "qkv"),
             own("GroupQueryAttention", ["q", "k", "v", "keys", "values", "seen", "total", "cosine", "sine"],
                 ["c", "all_keys", "all_values"], num_heads=cell.heads, kv_num_heads=cell.kv_heads, do_rotary=1),
             helper.make_node("MatMul", ["c", "w_o"], ["o"]),
             own("SkipSimplifiedLayerNormalization", ["x", "o", "one"], ["m", "", "", "h"], epsilon=1e-5),
             helper.make_node("MatMul", ["m", "w_gate"], ["a"]), helper.make_node("MatMul", ["m", "w_up"], ["u"]),
             own("QuickGelu", ["a"], ["s"], alpha=1.0), helper.make_node("Mul", ["s", "u"], ["g"]),
             helper.make_node("MatMul", ["g", "w_down"], ["f"]), helper.make_node("Add", ["h", "f"], ["y"])]
    cache = {}
    for name, file in (("keys", "past_k"), ("values", "past_v")):
        cache[name] = numpy.zeros((cell.batch, cell.kv_heads, cell.keys, cell.width), numpy.float32)
        cache[name][:, :, :past] = load(folder, file, cell.batch, cell.kv_heads, past, cell.width)
    x = load(folder, "x", cell.batch, cell.queries, model)
    run = made(nodes, {"x": x, **cache}, ["y", "all_keys", "all_values"], OPSETS, weights)
    # The cache is appended to in place: the same memory is input and output.
    held = {name: onnxruntime.OrtValue.ortvalue_from_numpy(value) for name, value in cache.items()}
    y = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.zeros_like(x))
    binding = run.io_binding()
    binding.bind_cpu_input("x", x)
    for name, value in held.items():
        binding.bind_ortvalue_input(name, value)
        binding.bind_ortvalue_output(f"all_{name}", value)
    binding.bind_ortvalue_output("y", y)

    def step():
        run.run_with_iobinding(binding)
        return y.numpy()
    return step


def sentences(cell, folder):
    w = model_weights()
    ids, lengths = load(folder, "ids", cell.batch, cell.queries), load(folder, "lengths", cell.batch)
    inputs = {"ids": ids.astype(numpy.int32), "lengths": lengths.astype(numpy.int32)}
    kept = (numpy.arange(cell.queries) < lengths[:, None]).astype(numpy.float32)
    inputs["share"] = (kept / lengths[:, None])[:, None]  # of each token in the mean
    e = "embeddings."
    constants = {"words": w[e + "word_embeddings.weight"],
                 "places": w[e + "position_embeddings.weight"][:cell.queries] + w[e + "token_type_embeddings.weight"][0],
                 "gain": w[e + "LayerNorm.weight"], "shift": w[e + "LayerNorm.bias"]}
    nodes = [helper.make_node("Gather", ["words", "ids"], ["found"]), helper.make_node("Add", ["found", "places"], ["sum"]),
             helper.make_node("LayerNormalization", ["sum", "gain", "shift"], ["x0"], epsilon=1e-12)]
    for n in range(MINILM_LAYERS):
        prefix = f"encoder.layer.{n}."
        for short, name in (("o", "attention.output.dense"), ("1", "intermediate.dense"), ("2", "output.dense"),
                            ("gain", "attention.output.LayerNorm"), ("gain2", "output.LayerNorm")):
            weight = w[f"{prefix}{name}.weight"]
            constants[f"w_{short}{n}"] = weight.T if weight.ndim == 2 else weight
            constants[f"b_{short}{n}"] = w[f"{prefix}{name}.bias"]
        self_attention = [f"{prefix}attention.self.{name}" for name in ("query", "key", "value")]
        constants[f"w_qkv{n}"] = numpy.concatenate([w[f"{name}.weight"].T for name in self_attention], 1)
        constants[f"b_qkv{n}"] = numpy.concatenate([w[f"{name}.bias"] for name in self_attention])
        norm = {"epsilon": 1e-12}
        nodes += [own("Attention", [f"x{n}", f"w_qkv{n}", f"b_qkv{n}", "lengths"], [f"c{n}"], num_heads=cell.heads),
                  helper.make_node("MatMul", [f"c{n}", f"w_o{n}"], [f"a{n}"]),
                  own("SkipLayerNormalization", [f"x{n}", f"a{n}", f"w_gain{n}", f"b_gain{n}", f"b_o{n}"], [f"h{n}"], **norm),
                  helper.make_node("MatMul", [f"h{n}", f"w_1{n}"], [f"i{n}"]),
                  own("BiasGelu", [f"i{n}", f"b_1{n}"], [f"g{n}"]),
                  helper.make_node("MatMul", [f"g{n}", f"w_2{n}"], [f"f{n}"]),
                  own("SkipLayerNormalization", [f"h{n}", f"f{n}", f"w_gain2{n}", f"b_gain2{n}", f"b_2{n}"], [f"x{n + 1}"],
                      **norm)]
    nodes += [helper.make_node("MatMul", ["share", f"x{MINILM_LAYERS}"], ["mean"]),
              helper.make_node("LpNormalization", ["mean"], ["y"], axis=-1, p=2)]
    run = session(nodes, inputs, "y", OPSETS, constants)
    return lambda: run()[:, 0]
