# SPDX-License-Identifier: BSL-1.0
"""Softmax attention whose variants differ in how positions enter."""
import numpy as np

from variants.common import attend, below, given, plain, positions, variant


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
