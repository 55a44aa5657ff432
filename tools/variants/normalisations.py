# SPDX-License-Identifier: BSL-1.0
"""Attention whose variants differ in what becomes of a score."""
import numpy as np

from variants.common import attend, below, given, plain, positions, softmax, variant


@variant
def soft_cap():
    q, k, v = plain(101)
    return attend(30 * np.tanh(np.einsum("hqd,hkd->hqk", q, k) / 30), v, below(101))


@variant
def attention_sink():
    q, k, v = plain(203)
    sink = given(4, 2)
    i, j = positions(203)
    weights = softmax(np.einsum("hqd,hkd->hqk", q, k) / 4, (j <= i) & (i - j < 32), sink[:, None, None])
    return np.einsum("hqk,hkv->hqv", weights, v)


@variant
def softmax_plus_one():
    q, k, v = plain(101)
    weights = np.exp(np.einsum("hqd,hkd->hqk", q, k) / 4)
    return np.einsum("hqk,hkv->hqv", weights / (1 + weights.sum(axis=-1, keepdims=True)), v)


@variant
def query_key_norm():
    q, k, v = plain(101)
    q, k = q / np.linalg.norm(q, axis=-1, keepdims=True), k / np.linalg.norm(k, axis=-1, keepdims=True)
    return attend(5.5 * np.einsum("hqd,hkd->hqk", q, k), v, below(101))


@variant
def sigmoid_attention():
    q, k, v = plain(101)
    scores = np.einsum("hqd,hkd->hqk", q, k) / 4
    return np.einsum("hqk,hkv->hqv", 1 / (1 + np.exp(-(scores - np.log(101)))), v)


@variant
def squared_relu():
    q, k, v = plain(101)
    scores = np.einsum("hqd,hkd->hqk", q, k) / 4 * below(101)
    return np.einsum("hqk,hkv->hqv", np.maximum(scores, 0) ** 2, v) / 101
