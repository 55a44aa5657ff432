# SPDX-License-Identifier: BSL-1.0
"""What a cell's result must be, in float64, written from the formulas alone: of attention and of a large layer a few rows
of queries, of small layers and of sentences the first of the batch.

Next to read: worker.py, the side of a Python peer.
"""
import math

import numpy

from cells import MINILM_LAYERS, SOFTCAP
from worker import load, model_weights, operands

ROWS = 24
erf = numpy.vectorize(math.erf, otypes=[float])


def expected(cell, folder):
    """(index, values): result[index] must be values, for result as `shape_of(cell)`."""
    if cell.is_attention:
        return attention(cell, folder)
    return {"encoder_layer": encoder_layer, "decoder_layer": decoder_layer, "sentences": sentences}[cell.kind](cell, folder)


def shape_of(cell):
    if cell.is_attention:
        return cell.batch, cell.heads, cell.queries, cell.width
    return (cell.batch, cell.model) if cell.kind == "sentences" else (cell.batch, cell.queries, cell.model)


def softmax(scores):
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def normed(x, eps):
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + eps)


def gelu(x):
    return x * (1 + erf(x / math.sqrt(2))) / 2


def attention(cell, folder):
    q, k, v = operands(cell, folder)
    pick = numpy.random.default_rng(1)
    b, h, i = (pick.integers(0, n, ROWS) for n in (cell.batch, cell.heads, cell.queries))
    i[:2] = 0, cell.queries - 1
    shared = h // (cell.heads // cell.kv_heads)
    scores = numpy.einsum("rd,rjd->rj", q[b, h, i].astype(float), k[b, shared].astype(float)) / math.sqrt(cell.width)
    if cell.kind == "softcap":
        scores = SOFTCAP * numpy.tanh(scores / SOFTCAP)
    if cell.kind == "bias":
        scores += load(folder, "bias", cell.heads, cell.queries, cell.keys)[h, i]
    j = numpy.arange(cell.keys)
    if cell.kind == "alibi":
        scores += cell.slopes()[h, None] * (j - (i[:, None] + cell.keys - cell.queries))
    kept = cell.keeps(b[:, None], i[:, None], j)
    if kept is not None:
        scores = numpy.where(kept, scores, -numpy.inf)
    return (b, h, i), numpy.einsum("rj,rjd->rd", softmax(scores), v[b, shared].astype(float))


def heads(y, width):
    return y.reshape(y.shape[0], -1, width).transpose(1, 0, 2)


def encoder_layer(cell, folder):
    """Of a few queries of the last sequence."""
    def weight(name, *shape):
        return load(folder, name, *shape).astype(float)
    model, hidden = cell.model, cell.hidden
    x = weight("x", cell.batch, cell.queries, model)[-1]
    rows = numpy.linspace(0, cell.queries - 1, min(ROWS, cell.queries)).astype(int)
    n = normed(x, 1e-5)
    q, k, v = (heads(y @ weight(f"w_{name}", model, model) + weight(f"b_{name}", model), cell.width)
               for name, y in (("q", n[rows]), ("k", n), ("v", n)))
    context = softmax(q @ k.transpose(0, 2, 1) / math.sqrt(cell.width)) @ v
    h = x[rows] + context.transpose(1, 0, 2).reshape(len(rows), model) @ weight("w_o", model, model) + weight("b_o", model)
    inner = gelu(normed(h, 1e-5) @ weight("w_1", model, hidden) + weight("b_1", hidden))
    return (cell.batch - 1, rows), h + inner @ weight("w_2", hidden, model) + weight("b_2", model)


def decoder_layer(cell, folder):
    """Of the first sequence's one query."""
    model, width, past = cell.model, cell.width, cell.keys - cell.queries

    def times(y, name, columns):
        return (y.astype(numpy.float32) @ load(folder, name, y.shape[-1], columns)).astype(float)

    def rms_normed(y):
        return y / numpy.sqrt((y * y).mean(-1, keepdims=True) + 1e-5)

    def turned(y):
        angles = past * 10000.0 ** (-numpy.arange(0, width, 2) / width)
        first, second = y[..., :width // 2], y[..., width // 2:]
        return numpy.concatenate([first * numpy.cos(angles) - second * numpy.sin(angles),
                                  second * numpy.cos(angles) + first * numpy.sin(angles)], -1)
    x = load(folder, "x", cell.batch, cell.queries, model)[0].astype(float)
    n, shared = rms_normed(x), cell.kv_heads * width
    q, k, v = (heads(times(n, f"w_{name}", columns), width) for name, columns in (("q", model), ("k", shared), ("v", shared)))
    before = (cell.batch, cell.kv_heads, past, width)
    k = numpy.concatenate([load(folder, "past_k", *before)[0], turned(k)], 1)
    v = numpy.concatenate([load(folder, "past_v", *before)[0], v], 1)
    groups = cell.heads // cell.kv_heads
    k, v = k.repeat(groups, 0), v.repeat(groups, 0)
    context = softmax(turned(q) @ k.transpose(0, 2, 1) / math.sqrt(width)) @ v
    h = x + times(context.transpose(1, 0, 2).reshape(1, model), "w_o", model)
    n = rms_normed(h)
    gate = times(n, "w_gate", cell.hidden)
    return (0,), h + times(gate / (1 + numpy.exp(-gate)) * times(n, "w_up", cell.hidden), "w_down", model)


def sentences(cell, folder):
    """Of the batch's first sentence, without its padding."""
    w = model_weights()
    length = int(load(folder, "lengths", cell.batch)[0])
    ids = load(folder, "ids", cell.batch, cell.queries)[0, :length].astype(int)

    def linear(x, name):
        return x @ w[f"{name}.weight"].T.astype(float) + w[f"{name}.bias"]

    def norm(x, name):
        return normed(x, 1e-12) * w[f"{name}.weight"] + w[f"{name}.bias"]
    e = "embeddings."
    x = norm(w[e + "word_embeddings.weight"][ids].astype(float) + w[e + "position_embeddings.weight"][:length]
             + w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
    for number in range(MINILM_LAYERS):
        o = f"encoder.layer.{number}."
        q, k, v = (heads(linear(x, f"{o}attention.self.{name}"), cell.width) for name in ("query", "key", "value"))
        context = softmax(q @ k.transpose(0, 2, 1) / math.sqrt(cell.width)) @ v
        context = context.transpose(1, 0, 2).reshape(x.shape)
        x = norm(x + linear(context, o + "attention.output.dense"), o + "attention.output.LayerNorm")
        x = norm(x + linear(gelu(linear(x, o + "intermediate.dense")), o + "output.dense"), o + "output.LayerNorm")
    mean = x.mean(0)
    return (0,), mean / math.sqrt((mean * mean).sum())
