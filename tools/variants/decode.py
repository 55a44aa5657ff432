# SPDX-License-Identifier: BSL-1.0
"""Attention across sequences: to a memory, to a cache, to parts that are put together; a search."""
import numpy as np

from variants.common import attend, given, softmax, variant


@variant
def cross_attention():
    q, k, v = given(1, 2, 2, 13, 16), given(2, 2, 2, 101, 16), given(3, 2, 2, 101, 5)
    return np.stack([attend(np.einsum("hqd,hkd->hqk", q[b], k[b, :, :n]) / 4, v[b, :, :n])
                     for b, n in enumerate([101, 66])])


@variant
def max_sim():
    q, k = given(1, 13, 16), given(2, 3, 101, 16)
    return np.array([sum(max(one @ other for other in k[b, :n]) for one in q) for b, n in enumerate([101, 66, 1])])


@variant
def ring_by_combine():
    q = given(1, 2, 101, 16)
    k = np.concatenate([given(2, 2, 101, 16), given(4, 2, 101, 16)], axis=1)
    v = np.concatenate([given(3, 2, 101, 5), given(5, 2, 101, 5)], axis=1)
    return attend(np.einsum("hqd,hkd->hqk", q, k) / 4, v)


@variant
def ragged_decode():
    q, k, v = given(1, 3, 2, 3, 16), given(2, 3, 2, 203, 16), given(3, 3, 2, 203, 5)
    return np.stack([np.einsum("hgk,hkv->hgv", softmax(np.einsum("hgd,hkd->hgk", q[b], k[b, :, :n]) / 4), v[b, :, :n])
                     for b, n in enumerate([203, 1, 130])])


@variant
def paged_decode():
    q, k_pool, v_pool = given(1, 3, 2, 16), given(2, 20, 16, 2, 16), given(3, 20, 16, 2, 5)
    result = np.zeros((3, 2, 5))
    for b, length in enumerate([80, 1, 67]):
        pages = [(7 * j + 3 * b + 2) % 20 for j in range(5)]
        k = k_pool[pages].reshape(80, 2, 16)[:length]
        v = v_pool[pages].reshape(80, 2, 5)[:length]
        result[b] = np.einsum("hk,khv->hv", softmax(np.einsum("hd,khd->hk", q[b], k) / 4), v)
    return result
