# SPDX-License-Identifier: BSL-1.0
"""Softmax attention whose variants differ in what heads share."""
import numpy as np

from variants.common import attend, below, given, softmax, variant


@variant
def grouped_query():
    q, k, v = given(1, 6, 101, 16), given(2, 2, 101, 16), given(3, 2, 101, 5)
    result = np.zeros((2, 3, 101, 5))
    for h in range(6):
        scores = q[h] @ k[h // 3].T / 4
        result[h // 3, h % 3] = softmax(scores, below(101)) @ v[h // 3]
    return result


@variant
def multi_query():
    q, k, v = given(1, 6, 101, 16), given(2, 101, 16), given(3, 101, 5)
    scores = np.einsum("hqd,kd->hqk", q, k) / 4
    return np.einsum("hqk,kv->hqv", softmax(scores, below(101)), v)


@variant
def latent_attention():
    q, q_rotary = given(1, 3, 101, 16), given(2, 3, 101, 8)
    c, k_rotary = given(3, 101, 24), given(4, 101, 8)
    w_uk, w_uv = given(5, 3, 16, 24) / 4, given(6, 3, 24, 5) / 4
    k, v = np.einsum("kl,hdl->hkd", c, w_uk), np.einsum("kl,hlv->hkv", c, w_uv)  # not absorbed: each head's own
    scores = np.einsum("hqd,hkd->hqk", q, k) + np.einsum("hqr,kr->hqk", q_rotary, k_rotary)
    return attend(scores / np.sqrt(24), v, below(101))


@variant
def differential():
    q_1, k_1, q_2, k_2 = (given(seed, 2, 101, 16) for seed in (1, 2, 3, 4))
    v, factor = given(5, 2, 101, 5), given(6, 2)
    first = softmax(np.einsum("hqd,hkd->hqk", q_1, k_1) / 4, below(101))
    second = softmax(np.einsum("hqd,hkd->hqk", q_2, k_2) / 4, below(101))
    return np.einsum("hqk,hkv->hqv", first - factor[:, None, None] * second, v)


def mixed_heads():
    q, k, v = given(1, 3, 53, 16), given(2, 3, 53, 16), given(3, 2, 53, 5)
    w_l, w_w = given(4, 3, 4) / 4, given(5, 4, 2) / 4
    weights = softmax(np.einsum("hqd,hkd,hm->mqk", q, k, w_l))
    return np.einsum("mqk,ma,akv->qav", weights, w_w, v)


@variant
def talking_heads():
    return mixed_heads()


@variant
def talking_heads_streamed():
    return mixed_heads()


@variant
def cross_layer():
    x, k, v = given(1, 53, 24), given(2, 2, 53, 16), given(3, 2, 53, 5)
    w_q1, w_q2, w_o = given(4, 24, 2, 16) / 4, given(5, 24, 2, 16) / 4, given(6, 2, 5, 24) / 4

    def read(x, w_q):
        q = np.einsum("qm,mhd->hqd", x, w_q)
        return attend(np.einsum("hqd,hkd->hqk", q, k) / 4, v)

    h = x + np.einsum("hqv,hvm->qm", read(x, w_q1), w_o)
    return np.moveaxis(read(h, w_q2), 0, 1)
