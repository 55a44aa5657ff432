# SPDX-License-Identifier: BSL-1.0
"""PyTorch's layers: TransformerEncoderLayer; a step of LLaMA's decoder and all-MiniLM-L6-v2 of torch.nn.functional's
calls, scaled_dot_product_attention among them.

Next to read: onnx_peer.py.
"""
import torch
from torch.nn import functional

from cells import MINILM_LAYERS
from worker import Unsupported, load, model_weights


def layer(cell, folder):
    makers = {"encoder_layer": encoder_layer, "decoder_layer": decoder_layer, "sentences": sentences}
    if cell.kind not in makers:
        raise Unsupported(cell.kind)
    return makers[cell.kind](cell, folder)


def encoder_layer(cell, folder):
    model, hidden = cell.model, cell.hidden
    x = torch.from_numpy(load(folder, "x", cell.batch, cell.queries, model))
    made = torch.nn.TransformerEncoderLayer(model, cell.heads, hidden, 0.0, "gelu", batch_first=True, norm_first=True)
    made.eval()

    def weight(name, *shape):
        return torch.from_numpy(load(folder, name, *shape))
    with torch.no_grad():
        square = [weight(f"w_{n}", model, model).T for n in "qkv"]
        made.self_attn.in_proj_weight.copy_(torch.cat(square))
        made.self_attn.in_proj_bias.copy_(torch.cat([weight(f"b_{n}", model) for n in "qkv"]))
        made.self_attn.out_proj.weight.copy_(weight("w_o", model, model).T)
        made.self_attn.out_proj.bias.copy_(weight("b_o", model))
        made.linear1.weight.copy_(weight("w_1", model, hidden).T)
        made.linear1.bias.copy_(weight("b_1", hidden))
        made.linear2.weight.copy_(weight("w_2", hidden, model).T)
        made.linear2.bias.copy_(weight("b_2", model))
    return lambda: made(x)


def decoder_layer(cell, folder):
    model, width, past = cell.model, cell.width, cell.keys - cell.queries

    def transposed(name, rows, columns):  # as torch.nn.Linear keeps it
        return torch.from_numpy(load(folder, name, rows, columns)).T.contiguous()
    x = torch.from_numpy(load(folder, "x", cell.batch, cell.queries, model))
    shared, hidden = cell.kv_heads * width, cell.hidden
    w_q, w_o = transposed("w_q", model, model), transposed("w_o", model, model)
    w_k, w_v = transposed("w_k", model, shared), transposed("w_v", model, shared)
    w_gate, w_up, w_down = (transposed("w_gate", model, hidden), transposed("w_up", model, hidden),
                            transposed("w_down", hidden, model))
    gain = torch.ones(model)
    keys, values = (torch.zeros(cell.batch, cell.kv_heads, cell.keys, width) for _ in range(2))
    keys[:, :, :past] = torch.from_numpy(load(folder, "past_k", cell.batch, cell.kv_heads, past, width))
    values[:, :, :past] = torch.from_numpy(load(folder, "past_v", cell.batch, cell.kv_heads, past, width))
    angles = past * 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    cosine, sine = (torch.cat([f(angles)] * 2).float() for f in (torch.cos, torch.sin))

    def heads(y, count):
        return y.view(cell.batch, cell.queries, count, width).transpose(1, 2)

    def turned(y):
        first, second = y.chunk(2, -1)
        return y * cosine + torch.cat([-second, first], -1) * sine

    def run():
        n = functional.rms_norm(x, (model,), gain, 1e-5)
        q = turned(heads(functional.linear(n, w_q), cell.heads))
        keys[:, :, past:] = turned(heads(functional.linear(n, w_k), cell.kv_heads))
        values[:, :, past:] = heads(functional.linear(n, w_v), cell.kv_heads)
        context = functional.scaled_dot_product_attention(q, keys, values, enable_gqa=True)
        h = x + functional.linear(context.transpose(1, 2).reshape(cell.batch, cell.queries, model), w_o)
        n = functional.rms_norm(h, (model,), gain, 1e-5)
        return h + functional.linear(functional.silu(functional.linear(n, w_gate)) * functional.linear(n, w_up), w_down)
    return run


def sentences(cell, folder):
    w = {name: torch.from_numpy(array.copy()) for name, array in model_weights().items()}
    ids = torch.from_numpy(load(folder, "ids", cell.batch, cell.queries)).long()
    lengths = torch.from_numpy(load(folder, "lengths", cell.batch))
    there = torch.arange(cell.queries) < lengths[:, None]
    mask = None if bool(there.all()) else there[:, None, None]

    def linear(x, name):
        return functional.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def norm(x, name):
        return functional.layer_norm(x, (cell.model,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    def heads(x):
        return x.view(cell.batch, cell.queries, cell.heads, cell.width).transpose(1, 2)

    def run():
        e = "embeddings."
        x = (functional.embedding(ids, w[e + "word_embeddings.weight"])
             + w[e + "position_embeddings.weight"][:cell.queries] + w[e + "token_type_embeddings.weight"][0])
        x = norm(x, e + "LayerNorm")
        for number in range(MINILM_LAYERS):
            a = f"encoder.layer.{number}.attention."
            q, k, v = (heads(linear(x, f"{a}self.{name}")) for name in ("query", "key", "value"))
            context = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(x.shape)
            x = norm(x + linear(context, a + "output.dense"), a + "output.LayerNorm")
            o = f"encoder.layer.{number}."
            inner = functional.gelu(linear(x, o + "intermediate.dense"))
            x = norm(x + linear(inner, o + "output.dense"), o + "output.LayerNorm")
        kept = there[:, :, None].float()
        return functional.normalize((x * kept).sum(1) / kept.sum(1), dim=-1)
    return run
