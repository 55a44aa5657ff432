#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes tests/variants/golden: each kind of attention of tests/variants, in float64, from the formula of its paper.

    tools/make_variants.py              writes them
    tools/make_variants.py --check      only says which differ by more than 1e-12

Needs NumPy. Nothing here knows heed: masks are arrays of truth values over all queries and keys, sums are einsum. The
inputs are hashes of their element's number, as in tests/variants/variant.hpp; only results are stored.
"""
import argparse
import pathlib
import sys

import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "variants" / "golden"
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


# ---------------------------------------------------------------------------------------------- masks
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


# ---------------------------------------------------------------------------------------------- positions
def plain(length, heads=2):
    return given(1, heads, length, 16), given(2, heads, length, 16), given(3, heads, length, 5)


def attend(scores, v, keep=True):
    return np.einsum("hqk,hkv->hqv", softmax(scores, keep), v)


def below(length):
    return np.tril(np.ones((length, length), bool))


@variant
def alibi_attention():
    q, k, v = plain(101, 6)
    i, j = positions(101)
    four = [2.0 ** -(8 / 4 * (h + 1)) for h in range(4)]  # the slopes of four heads, then every second one of eight
    slopes = np.array(four + [2.0**-1, 2.0**-3])
    scores = np.einsum("hqd,hkd->hqk", q, k) / 4 - slopes[:, None, None] * (i - j)
    return attend(scores, v, below(101))


@variant
def t5_buckets():
    q, k, v = plain(203)
    table = given(4, 2, 32)
    scores = np.einsum("hqd,hkd->hqk", q, k)
    for i in range(203):
        for j in range(203):
            distance, bucket = abs(j - i), 16 if j > i else 0
            if distance < 8:
                bucket += distance
            else:
                bucket += min(8 + int(np.log(distance / 8) / np.log(100 / 8) * 8), 15)
            scores[:, i, j] += table[:, bucket]
    return attend(scores, v)


@variant
def relative_keys():
    q, k, v = plain(101)
    r = given(4, 33, 16)
    i, j = positions(101)
    each = r[np.clip(j - i, -16, 16) + 16]  # a key vector for each pair of positions
    scores = np.einsum("hqd,hkd->hqk", q, k) + np.einsum("hqd,qkd->hqk", q, each)
    return attend(scores / 4, v)


@variant
def transformer_xl():
    q, k, v = plain(101)
    u, w, w_r = given(4, 2, 16), given(5, 2, 16), given(6, 2, 16, 8)
    i, j = positions(101)
    angles = (i - j)[:, :, None] * 10000.0 ** (-np.arange(0, 8, 2) / 8)
    r = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(101, 101, 8)  # of the distance i - j
    content = np.einsum("hqd,hkd->hqk", q + u[:, None], k)
    position = np.einsum("hqd,hdr,qkr->hqk", q + w[:, None], w_r, r, optimize=True)
    return attend((content + position) / 4, v, below(101))


def turned(x, angles, interleaved):
    """Pairs of the last axis turned by angles[position, pair]."""
    half = x.shape[-1] // 2
    first, second = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    cosines, sines = np.cos(angles), np.sin(angles)
    a, b = first * cosines - second * sines, first * sines + second * cosines
    return np.stack([a, b], axis=-1).reshape(x.shape) if interleaved else np.concatenate([a, b], axis=-1)


def angles_of(length, width):
    return np.arange(length)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)[None, :]


@variant
def rotary_attention():
    q, k, v = plain(101)
    q, k = turned(q, angles_of(101, 16), True), turned(k, angles_of(101, 16), True)
    return attend(np.einsum("hqd,hkd->hqk", q, k) / 4, v, below(101))


@variant
def partial_rotary():
    q, k, v = plain(101)
    angles = angles_of(101, 4)
    q = np.concatenate([turned(q[..., :4], angles, False), q[..., 4:]], axis=-1)
    k = np.concatenate([turned(k[..., :4], angles, False), k[..., 4:]], axis=-1)
    return attend(np.einsum("hqd,hkd->hqk", q, k) / 4, v, below(101))


@variant
def yarn():
    q, k, v = plain(101)
    trained, stretch, alpha, beta = 64, 4, 1, 32
    theta = 10000.0 ** (-np.arange(0, 16, 2) / 16)
    turns = trained * theta / (2 * np.pi)  # r(d), the ratio of the context to the wavelength
    gamma = np.clip((turns - alpha) / (beta - alpha), 0, 1)
    angles = np.arange(101)[:, None] * ((1 - gamma) * theta / stretch + gamma * theta)
    temperature = 1 / (0.1 * np.log(stretch) + 1) ** 2
    scores = np.einsum("hqd,hkd->hqk", turned(q, angles, False), turned(k, angles, False))
    return attend(scores / (temperature * 4), v)


# ---------------------------------------------------------------------------------------------- heads
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


# ---------------------------------------------------------------------------------------------- normalisations
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


# ---------------------------------------------------------------------------------------------- linear
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


# ---------------------------------------------------------------------------------------------- vision
def windows(x, size):
    """[row, column, head, d] to [window_row, window_column, size * size, head, d]."""
    rows, columns = x.shape[0] // size, x.shape[1] // size
    x = x.reshape(rows, size, columns, size, *x.shape[2:])
    return np.moveaxis(x, 2, 1).reshape(rows, columns, size * size, *x.shape[4:])


def swin(q, k, v, keep=True):
    """keep[window_row, window_column, query, key]; the result in the order window_row, row, window_column, column."""
    q, k, v = windows(q, 5), windows(k, 5), windows(v, 5)
    table = given(4, 81, 2)
    scores = np.einsum("rcqhd,rckhd->rchqk", q, k) / 4
    for i in range(25):
        for j in range(25):
            scores[:, :, :, i, j] += table[(i // 5 - j // 5 + 4) * 9 + i % 5 - j % 5 + 4]
    keep = keep if keep is True else keep[:, :, None]
    context = np.einsum("rchqk,rckhd->rcqhd", softmax(scores, keep), v)
    rows, columns = context.shape[:2]
    return np.moveaxis(context.reshape(rows, columns, 5, 5, 2, 16), 1, 2)


def picture(seed, rows, columns):
    return given(seed, rows, columns, 2, 16)


@variant
def swin_windows():
    return swin(picture(1, 10, 15), picture(2, 10, 15), picture(3, 10, 15))


@variant
def swin_shifted_windows():
    q, k, v = (np.roll(picture(seed, 10, 15), (-2, -2), axis=(0, 1)) for seed in (1, 2, 3))
    row, column = np.mgrid[0:10, 0:15]  # where each position was before: parts from both ends are not neighbours
    where = np.stack([np.roll(row, -2, axis=0), np.roll(column, -2, axis=1)], axis=-1)[:, :, None]
    where = windows(where, 5)[:, :, :, 0]
    apart = np.abs(where[:, :, :, None] - where[:, :, None, :])
    return swin(q, k, v, (apart < 5).all(axis=-1))


@variant
def axial_attention():
    q, k, v = picture(1, 3, 101), picture(2, 3, 101), picture(3, 3, 101)
    scores = np.einsum("rqhd,rkhd->rqhk", q, k) / 4
    return np.einsum("rqhk,rkhd->rqhd", softmax(scores), v)


@variant
def neighbourhood():
    q, k, v = picture(1, 11, 13), picture(2, 11, 13), picture(3, 11, 13)
    result = np.zeros((11, 13, 2, 16))
    for i in range(11):
        for j in range(13):
            top, left = np.clip(i - 2, 0, 11 - 5), np.clip(j - 2, 0, 13 - 5)
            k_near = k[top:top + 5, left:left + 5].reshape(25, 2, 16)
            v_near = v[top:top + 5, left:left + 5].reshape(25, 2, 16)
            weights = softmax(np.einsum("hd,khd->hk", q[i, j], k_near) / 4)
            result[i, j] = np.einsum("hk,khd->hd", weights, v_near)
    return result


@variant
def perceiver_latents():
    latents, x = given(1, 7, 24), given(2, 203, 24)
    w_q, w_k, w_v = given(3, 24, 2, 16) / 4, given(4, 24, 2, 16) / 4, given(5, 24, 2, 5) / 4
    q, k = np.einsum("lm,mhd->hld", latents, w_q), np.einsum("km,mhd->hkd", x, w_k)
    context = attend(np.einsum("hld,hkd->hlk", q, k) / 4, np.einsum("km,mhv->hkv", x, w_v))
    return np.moveaxis(context, 0, 1)


# ---------------------------------------------------------------------------------------------- decode
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


# ---------------------------------------------------------------------------------------------- files
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check

    GOLDEN.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name, compute in VARIANTS.items():
        path, result = GOLDEN / f"{name}.npy", np.ascontiguousarray(compute(), dtype=np.float64)
        if not np.all(np.isfinite(result)):
            raise ValueError(f"{name} is not finite")
        if not check:
            np.save(path, result)
        elif not path.exists() or np.load(path).shape != result.shape or np.abs(np.load(path) - result).max() > 1e-12:
            wrong.append(name)
    wrong += [f"{path.name} (no variant)" for path in sorted(GOLDEN.glob("*.npy")) if path.stem not in VARIANTS]
    print(f"{len(VARIANTS)} variants" + "".join(f"\ndiffers: {name}" for name in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
