# SPDX-License-Identifier: BSL-1.0
"""Softmax attention whose variants differ in which part of a picture a position sees."""
import numpy as np

from variants.common import attend, given, softmax, variant


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
