#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes tests/golden/io: small files as NumPy and the safetensors package write them (pip: numpy torch safetensors).

tests/io_npy.cpp and tests/io_safetensors.cpp know the numbers by their formula: element i, counted in C order, is
i / 2 - 3 in a type of real numbers, 3 i - 7 in a signed and 3 i in an unsigned one, and i % 3 == 0 as a truth value.
"""
import pathlib
import warnings

import numpy
import safetensors.numpy
import safetensors.torch
import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "io"


def numbers(dtype, *shape):
    i = numpy.arange(int(numpy.prod(shape)))
    kind = numpy.dtype(dtype).kind
    values = {"f": i / 2 - 3, "i": 3 * i - 7, "u": 3 * i, "b": i % 3 == 0}[kind]
    return values.astype(dtype).reshape(shape)


def save_version(name, array, version):
    with open(FOLDER / name, "wb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions that old readers do not know
        numpy.lib.format.write_array(file, array, version=version)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for dtype in "f4 f8 f2 i8 i4 i2 i1 u4 u2 u1 u8 b1".split():
        numpy.save(FOLDER / f"{dtype}.npy", numbers(dtype, 3, 4))
        numpy.save(FOLDER / f"{dtype}_fortran.npy", numpy.asfortranarray(numbers(dtype, 3, 4)))
    numpy.save(FOLDER / "three_axes_fortran.npy", numpy.asfortranarray(numbers("f4", 2, 3, 4)))
    numpy.save(FOLDER / "one_axis.npy", numbers("f4", 5))
    numpy.save(FOLDER / "scalar.npy", numpy.float32(-3))
    numpy.save(FOLDER / "empty.npy", numbers("f4", 0, 4))
    save_version("version_2.npy", numbers("f4", 3, 4), (2, 0))
    save_version("version_3.npy", numbers("f4", 3, 4), (3, 0))
    numpy.save(FOLDER / "big_endian.npy", numbers("f4", 3, 4).astype(">f4"))
    numpy.save(FOLDER / "structured.npy", numpy.zeros(3, dtype=[("a", "f4"), ("b", "i4")]))
    numpy.save(FOLDER / "complex.npy", numpy.zeros(3, dtype="c8"))

    tensors = {dtype: torch.from_numpy(numbers(dtype, 3, 4)) for dtype in "f8 f4 f2 i8 i4 i2 i1 u1 b1".split()}
    tensors["bf16"] = torch.from_numpy(numbers("f4", 3, 4)).to(torch.bfloat16)
    tensors["scalar"] = torch.tensor(-3.0)
    tensors["empty"] = torch.zeros(0, 4)
    tensors["f8_e4m3"] = torch.zeros(3, 4).to(torch.float8_e4m3fn)
    metadata = {"format": "pt", "by \u00fc": "line\nbreak \"q\""}
    safetensors.torch.save_file(tensors, FOLDER / "types.safetensors", metadata)
    two = {"embedding.ids": numbers("i8", 3), "layer.0.w": numbers("f4", 3, 4), "layer.0.b": numbers("f4", 3)}
    safetensors.numpy.save_file(two, FOLDER / "layer.safetensors", {"format": "np"})


if __name__ == "__main__":
    main()
