# SPDX-License-Identifier: BSL-1.0
"""PyTorch: scaled_dot_product_attention, the textbook's three calls, compiled FlexAttention, and torch_layers.py.

Next to read: torch_layers.py.
"""
import numpy
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import worker
from cells import SOFTCAP
from torch_layers import layer
from worker import Unsupported, load, serve


def operands(cell, folder):
    if not cell.is_attention:
        raise Unsupported(cell.kind)
    return [torch.from_numpy(array) for array in worker.operands(cell, folder)]


def additive(cell, folder):
    added = worker.additive(cell, folder)
    return None if added is None else torch.from_numpy(numpy.ascontiguousarray(added))


def textbook(cell, folder):
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
    q, k, v = operands(cell, folder)
    if cell.kind == "softcap":
        raise Unsupported(cell.kind)
    square_causal = cell.kind == "causal" and cell.queries == cell.keys
    added = None if square_causal else additive(cell, folder)
    return lambda: torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=added, is_causal=square_causal, enable_gqa=cell.heads != cell.kv_heads)


compiled = torch.compile(flex_attention, dynamic=False)


def flex(cell, folder):
    """Where scaled_dot_product_attention has no word for the edit: compiling takes seconds for each shape."""
    q, k, v = operands(cell, folder)
    if cell.kind in ("full", "causal"):
        raise Unsupported(cell.kind)
    block = None
    if cell.kept() is not None:
        block = create_block_mask(lambda b, h, i, j: cell.keeps(b, i, j), cell.batch if cell.kind == "padding" else None,
                                  None, cell.queries, cell.keys, device="cpu")
    edit = None
    if cell.kind == "alibi":
        slope = torch.from_numpy(cell.slopes())
        edit = lambda score, b, h, i, j: score + slope[h] * (j - i)  # noqa: E731
    elif cell.kind == "softcap":
        edit = lambda score, b, h, i, j: torch.tanh(score / SOFTCAP) * SOFTCAP  # noqa: E731
    elif cell.kind == "bias":
        bias = torch.from_numpy(load(folder, "bias", cell.heads, cell.queries, cell.keys))
        edit = lambda score, b, h, i, j: score + bias[h, i, j]  # noqa: E731
    return lambda: compiled(q, k, v, score_mod=edit, block_mask=block, enable_gqa=cell.heads != cell.kv_heads)


if __name__ == "__main__":
    with torch.inference_mode():
        serve({"torch_textbook": textbook, "torch_sdpa": fused, "torch_flex": flex, "torch_layer": layer},
              torch.set_num_threads, {"PyTorch": torch.__version__})
