#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""How far PyTorch's attention in float32 is from float64, in the cases of examples/precision.cpp: 4 heads of width 64, up to
512 queries of which every seventh is looked at, N(0, 1). The numbers are others of the same distribution: the median of
seven draws.

    bench/peers/precision.py      needs torch; prints the largest error and the mean of each case
"""
import statistics

import torch

HEADS, WIDTH, EVERY, DRAWS = 4, 64, 7, 7


def errors(draw, length, scale, causal):
    torch.manual_seed(draw)
    rows = min(length, 512)
    q, k, v = (torch.randn(1, HEADS, n, WIDTH) for n in (rows, length, length))
    mask = torch.arange(length) <= torch.arange(rows)[:, None] if causal else None
    results = [torch.nn.functional.scaled_dot_product_attention(*(x.to(kind) for x in (q, k, v)), attn_mask=mask, scale=scale)
               for kind in (torch.float32, torch.float64)]
    far = (results[0].double() - results[1])[:, :, ::EVERY].abs()
    return far.max().item(), far.mean().item()


def main():
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads: largest error, mean")
    for length in (128, 1024, 4096):
        for name, scale, causal in (("", 0.125, False), (", sharp", 1.0, False), (", causal", 0.125, True)):
            if causal and length > 1024:
                continue
            largest, mean = (statistics.median(column) for column in
                             zip(*(errors(draw, length, scale, causal) for draw in range(DRAWS))))
            print(f"{length} keys{name:10} {largest:.1e} {mean:.1e}")


if __name__ == "__main__":
    main()
