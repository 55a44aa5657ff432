#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes tests/variants/golden: each kind of attention of tests/variants, in float64, from the formula of its paper.

    tools/make_variants.py              writes them
    tools/make_variants.py --check      only says which differ by more than 1e-12

Needs NumPy. The formulas stand in tools/variants, one file a family, and know nothing of heed: masks are arrays of truth
values over all queries and keys, sums are einsum. The inputs are hashes of their element's number, as in
tests/variants/variant.hpp; only results are stored.
"""
import argparse
import importlib
import pathlib
import sys

import numpy as np

from variants.common import VARIANTS

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "variants" / "golden"
FAMILIES = ["masks", "positions", "heads", "normalisations", "linear", "vision", "decode"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check

    for family in FAMILIES:
        importlib.import_module(f"variants.{family}")
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
