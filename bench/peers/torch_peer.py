# SPDX-License-Identifier: BSL-1.0
"""PyTorch: scaled_dot_product_attention, the textbook's three calls, compiled FlexAttention, TransformerEncoderLayer.

Next to read: onnx_peer.py.
"""
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from cells import DOCUMENT, SOFTCAP, WINDOW
from worker import Unsupported, load, serve


def operands(cell, folder):
    shape = (cell.batch, cell.heads, cell.queries, cell.width)
    memory = (cell.batch, cell.kv_heads, cell.keys, cell.width)
    return [torch.from_numpy(load(folder, name, *size)) for name, size in (("q", shape), ("k", memory), ("v", memory))]


def positions(cell):
    return torch.arange(cell.queries)[:, None] + cell.keys - cell.queries, torch.arange(cell.keys)[None, :]


def slopes(cell):
    """Press et al. 2022, for a power of two heads and between."""
    whole = 2 ** (cell.heads.bit_length() - 1)
    first = [2.0 ** (-8.0 * (h + 1) / whole) for h in range(whole)]
    rest = [2.0 ** (-8.0 * (2 * h + 1) / (2 * whole)) for h in range(cell.heads - whole)]
    return torch.tensor(first + rest)


def mask(cell):
    """Bool [.., query, key], or None where all is kept."""
    i, j = positions(cell)
    if cell.kind in ("causal", "alibi"):
        return j <= i
    if cell.kind == "window":
        return (j <= i) & (i - j < WINDOW)
    if cell.kind == "documents":
        return (j <= i) & (i // DOCUMENT == j // DOCUMENT)
    if cell.kind == "padding":
        lengths = torch.tensor([cell.length(b) for b in range(cell.batch)])
        return (j[None] < lengths[:, None, None])[:, None]
    return None


def additive(cell, folder):
    """What is added to the scores, exclusions included, or None."""
    kept = mask(cell)
    if cell.kind == "bias":
        return torch.from_numpy(load(folder, "bias", cell.heads, cell.queries, cell.keys))[None]
    if cell.kind == "alibi":
        i, j = positions(cell)
        return torch.where(kept, slopes(cell)[:, None, None] * (j - i), -torch.inf)[None]
    return None if kept is None else torch.zeros(kept.shape).masked_fill(~kept, -torch.inf)


def textbook(cell, folder):
    if cell.kind == "encoder_layer":
        raise Unsupported(cell.kind)
    q, k, v = operands(cell, folder)
    groups, scale, added = cell.heads // cell.kv_heads, cell.width ** -0.5, additive(cell, folder)
    if groups > 1:
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)

    def run():
        scores = q @ k.transpose(-1, -2) * scale
        if cell.kind == "softcap":
            scores = torch.tanh(scores / SOFTCAP) * SOFTCAP
        if added is not None:
            scores = scores + added
        return torch.softmax(scores, -1) @ v
    return run


def fused(cell, folder):
    if cell.kind in ("encoder_layer", "softcap"):
        raise Unsupported(cell.kind)
    q, k, v = operands(cell, folder)
    square_causal = cell.kind == "causal" and cell.queries == cell.keys
    added = None if square_causal else additive(cell, folder)
    return lambda: torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=added, is_causal=square_causal, enable_gqa=cell.heads != cell.kv_heads)


compiled = torch.compile(flex_attention, dynamic=False)


def flex(cell, folder):
    if cell.kind == "encoder_layer":
        raise Unsupported(cell.kind)
    q, k, v = operands(cell, folder)
    past = cell.keys - cell.queries
    lengths = torch.tensor([cell.length(b) for b in range(cell.batch)])
    keeps = {
        "causal": lambda b, h, i, j: j <= i + past,
        "alibi": lambda b, h, i, j: j <= i + past,
        "window": lambda b, h, i, j: (j <= i) & (i - j < WINDOW),
        "documents": lambda b, h, i, j: (j <= i) & (i // DOCUMENT == j // DOCUMENT),
        "padding": lambda b, h, i, j: j < lengths[b],
    }.get(cell.kind)
    block = keeps and create_block_mask(keeps, cell.batch if cell.kind == "padding" else None, None, cell.queries,
                                        cell.keys, device="cpu")
    edit = None
    if cell.kind == "alibi":
        slope = slopes(cell)
        edit = lambda score, b, h, i, j: score + slope[h] * (j - i)  # noqa: E731
    elif cell.kind == "softcap":
        edit = lambda score, b, h, i, j: torch.tanh(score / SOFTCAP) * SOFTCAP  # noqa: E731
    elif cell.kind == "bias":
        bias = torch.from_numpy(load(folder, "bias", cell.heads, cell.queries, cell.keys))
        edit = lambda score, b, h, i, j: score + bias[h, i, j]  # noqa: E731
    return lambda: compiled(q, k, v, score_mod=edit, block_mask=block, enable_gqa=cell.heads != cell.kv_heads)


def layer(cell, folder):
    if cell.kind != "encoder_layer":
        raise Unsupported(cell.kind)
    model, hidden = cell.heads * cell.width, cell.hidden
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


if __name__ == "__main__":
    with torch.inference_mode():
        serve({"torch_textbook": textbook, "torch_sdpa": fused, "torch_flex": flex, "torch_layer": layer},
              torch.set_num_threads)
