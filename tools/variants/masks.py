# SPDX-License-Identifier: BSL-1.0
"""Softmax attention whose variants differ in the keys that a query sees."""
import numpy as np

from variants.common import given, positions, softmax, variant


def masked(length, keep):
    """Two heads, width 16, values of width 5; scores / sqrt(16); keep[query, key]."""
    q, k, v = given(1, 2, length, 16), given(2, 2, length, 16), given(3, 2, length, 5)
    scores = np.einsum("hqd,hkd->hqk", q, k) / 4
    return np.einsum("hqk,hkv->hqv", softmax(scores, keep), v)


@variant
def causal_attention():
    i, j = positions(101)
    return masked(101, j <= i)


@variant
def sliding_window():
    i, j = positions(203)
    return masked(203, (j <= i) & (j > i - 64))


@variant
def dilated_window():
    keep = np.zeros((203, 203), bool)
    for i in range(203):
        for step in range(32):  # 32 keys, three apart
            if i - 3 * step >= 0:
                keep[i, i - 3 * step] = True
    return masked(203, keep)


@variant
def prefix_attention():
    i, j = positions(101)
    return masked(101, (j <= i) | (j < 37))


@variant
def packed_documents():
    keep = np.zeros((101, 101), bool)
    for start, end in [(0, 23), (23, 24), (24, 77), (77, 101)]:
        keep[start:end, start:end] = np.tril(np.ones((end - start, end - start), bool))
    return masked(101, keep)


@variant
def block_sparse():
    blocks = 13
    keep = np.zeros((16 * blocks, 16 * blocks), bool)
    for i in range(blocks):
        for j in range(i + 1):
            if i - j < 2 or j % 4 == 3:
                keep[16 * i:16 * (i + 1), 16 * j:16 * (j + 1)] = True
    return masked(203, keep[:203, :203])


@variant
def global_and_local():
    keep = np.zeros((203, 203), bool)
    for i in range(203):
        keep[i, max(0, i - 16):i + 17] = True
    keep[:4, :] = True
    keep[:, :4] = True
    return masked(203, keep)


@variant
def chunked_local():
    keep = np.zeros((203, 203), bool)
    for start in range(0, 203, 48):
        for i in range(start, min(start + 48, 203)):
            keep[i, start:i + 1] = True
    return masked(203, keep)
