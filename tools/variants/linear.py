# SPDX-License-Identifier: BSL-1.0
"""Attention without a softmax over all pairs, or with one whose scores decay; pooling."""
import numpy as np

from variants.common import attend, below, given, plain, softmax, variant


@variant
def linear_attention():
    q, k, v = plain(101)
    q, k = (np.where(x > 0, x + 1, np.exp(x)) for x in (q, k))
    similarity = np.einsum("hqd,hkd->hqk", q, k)  # all pairs, as the paper's equation 4 has it
    return np.einsum("hqk,hkv->hqv", similarity / similarity.sum(axis=-1, keepdims=True), v)


@variant
def retention():
    q, k, v = plain(101)
    gamma = [0.96875, 0.984375]
    result = np.zeros((2, 101, 5))
    for h in range(2):
        state = np.zeros((16, 5))  # the recurrent form
        for n in range(101):
            state = gamma[h] * state + np.outer(k[h, n], v[h, n])
            result[h, n] = q[h, n] @ state
    return result


@variant
def forgetting_gate():
    q, k, v = plain(101)
    gate = 1 / (1 + np.exp(-(given(4, 2, 101) + 2)))
    scores = np.einsum("hqd,hkd->hqk", q, k) / 4
    for i in range(101):
        for j in range(i + 1):
            scores[:, i, j] += np.log(gate[:, j + 1:i + 1]).sum(axis=-1)
    return attend(scores, v, below(101))


@variant
def additive_attention():
    q, k, v, w = given(1, 13, 24), given(2, 101, 24), given(3, 101, 5), given(4, 24)
    scores = np.tanh(q[:, None] + k[None, :]) @ w
    return softmax(scores) @ v


@variant
def attention_pooling():
    x, w, b, u = given(1, 3, 101, 24), given(2, 24, 17) / 4, given(3, 17), given(4, 17)
    scores = np.tanh(x @ w + b) @ u
    return np.stack([softmax(scores[n, :length]) @ x[n, :length] for n, length in enumerate([101, 1, 67])])


@variant
def masked_mean_pooling():
    x = given(1, 3, 101, 24)
    return np.stack([x[n, :length].mean(axis=0) for n, length in enumerate([101, 1, 67])])
