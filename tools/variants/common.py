# SPDX-License-Identifier: BSL-1.0
"""What the formulas of all families are written with: inputs, softmax, masks as arrays."""
import numpy as np

VARIANTS = {}


def variant(function):
    VARIANTS[function.__name__] = function
    return function


def given(seed, *shape):
    """Input `seed`: multiples of 2^-22 in [-2, 2)."""
    with np.errstate(over="ignore"):
        bits = np.arange(int(np.prod(shape)), dtype=np.uint32) + np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
        bits = (bits ^ (bits >> np.uint32(16))) * np.uint32(0x7FEB352D)
        bits = (bits ^ (bits >> np.uint32(15))) * np.uint32(0x846CA68B)
        bits = bits ^ (bits >> np.uint32(16))
    return ((bits >> np.uint32(8)).astype(np.float64) * 2.0**-22 - 2).reshape(shape)


def softmax(scores, keep=True, sink=None):
    """Over the last axis; keep is broadcast; sink is an extra logit for each row. A row without a key is 0."""
    scores = np.where(keep, scores, -np.inf)
    top = np.max(scores, axis=-1, keepdims=True)
    if sink is not None:
        top = np.maximum(top, sink)
    top = np.where(np.isneginf(top), 0, top)
    weights = np.exp(scores - top)
    total = weights.sum(axis=-1, keepdims=True)
    if sink is not None:
        total = total + np.exp(sink - top)
    return weights / np.where(total == 0, 1, total)


def positions(length):
    """The coordinates i of queries (down) and j of keys (across)."""
    return np.arange(length)[:, None], np.arange(length)[None, :]


def plain(length, heads=2):
    return given(1, heads, length, 16), given(2, heads, length, 16), given(3, heads, length, 5)


def attend(scores, v, keep=True):
    return np.einsum("hqk,hkv->hqv", softmax(scores, keep), v)


def below(length):
    return np.tril(np.ones((length, length), bool))
