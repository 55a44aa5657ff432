#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""dlpack_python.py LIBRARY numpy|torch: heed's tensors in NumPy or PyTorch and theirs in heed, the same memory.

LIBRARY is made of dlpack_python.cpp. Ends with 77 where the other side is not installed.
"""
import ctypes
import gc
import sys
import weakref

NAMES = {False: (b"dltensor", b"used_dltensor"), True: (b"dltensor_versioned", b"used_dltensor_versioned")}
heed = ctypes.PyDLL(sys.argv[1])
api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

for name in ("give", "give_strided", "sums", "data", "give_versioned", "give_constant"):
    if hasattr(heed, name):
        getattr(heed, name).restype = ctypes.c_void_p
for name in ("take_plain", "take_versioned"):
    if hasattr(heed, name):
        getattr(heed, name).restype = ctypes.c_bool
        getattr(heed, name).argtypes = [ctypes.c_void_p, ctypes.c_char_p]
heed.what.restype = ctypes.c_char_p
heed.element.restype = ctypes.c_double
heed.stride.restype = ctypes.c_ssize_t
heed.write_given.argtypes = heed.write_taken.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_float]

failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print(f"line {sys._getframe(1).f_lineno}: {what}")


class Exporter:
    """What from_dlpack asks of a tensor."""

    def __init__(self, pointer, versioned=False):
        self.pointer, self.name = pointer, NAMES[versioned][0]

    def __dlpack__(self, **_):
        return api.PyCapsule_New(self.pointer, self.name, None)

    def __dlpack_device__(self):
        return 1, 0


def take(array, kind, **how):
    """What heed says of the array, or "" where it took it."""
    capsule = array.__dlpack__(**how)
    versioned = bool(api.PyCapsule_IsValid(capsule, NAMES[True][0]))
    function = heed.take_versioned if versioned else heed.take_plain
    if not function(api.PyCapsule_GetPointer(capsule, NAMES[versioned][0]), kind.encode()):
        return heed.what().decode()
    api.PyCapsule_SetName(capsule, NAMES[versioned][1])
    return ""


def from_heed(other):
    array = other.from_dlpack(Exporter(heed.give()))
    check(tuple(array.shape) == (3, 4), array.shape)
    check(array.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], array)
    heed.write_given(1, 2, -1)
    check(array[1, 2] == -1, "a write of heed is not seen")
    strided = other.from_dlpack(Exporter(heed.give_strided()))
    check(strided.tolist() == [[0, 8], [1, 9], [2, 10], [3, 11]], strided)
    heed.write_given(2, 3, 50)
    check(strided[3, 1] == 50, "a write of heed is not seen through strides")
    del strided
    heed.forget_given()
    check(array[1, 2] == -1 and array[2, 3] == 50, "the elements went with the tensor")
    if other.__name__ == "torch":  # arrays of NumPy before 2 can't be written, however they were exchanged
        kept = other.from_dlpack(Exporter(heed.give()))
        check(take(kept, "float") == "", heed.what())
        kept[0, 0] = 70
        check(heed.element(0, 0) == 70, "a write is not seen by heed")
        heed.forget_taken()


def to_heed(other, array, address):
    """array: three rows of four of float32, counted."""
    check(take(array, "float") == "", heed.what())
    check(heed.data() == address(array), "it is a copy")
    check(heed.element(2, 1) == 9, heed.element(2, 1))
    array[2, 1] = -3
    check(heed.element(2, 1) == -3, "a write is not seen by heed")
    heed.write_taken(0, 3, 30)
    check(array[0, 3] == 30, "a write of heed is not seen")
    sums = other.from_dlpack(Exporter(heed.sums()))
    check(sums.tolist() == array.sum(1).tolist(), sums)

    part = array.T[1:, ::2]
    check(take(part, "float") == "", heed.what())
    check((heed.stride(0), heed.stride(1)) == (1, 8), (heed.stride(0), heed.stride(1)))
    check(heed.data() == address(array) + 4 and heed.element(2, 1) == array[2, 3], "a part is not where it was")
    sums = other.from_dlpack(Exporter(heed.sums()))
    check(sums.tolist() == part.sum(1).tolist(), sums)

    check(take(array, "double") == "from_dlpack: wanted elements of type double (float64), found float32", heed.what())
    check(take(array[0], "float") == "from_dlpack: wanted (query, key), found [4]", heed.what())


def lifetime(array):
    gone = weakref.ref(array)
    check(take(array, "float") == "", heed.what())
    del array
    gc.collect()
    check(gone() is not None, "heed did not keep it")
    heed.forget_taken()
    gc.collect()
    check(gone() is None, "heed did not give it back")


def versions(other, array):
    """The tensors of DLPack 1.0 and newer."""
    if not hasattr(heed, "take_versioned"):
        return "not tried: dlpack.h is older than 1.0"
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:
        return f"not tried: {other.__name__} is older than DLPack 1.0"
    if not api.PyCapsule_IsValid(capsule, NAMES[True][0]):
        return f"not tried: {other.__name__} gives none"
    check(take(array, "float", max_version=(1, 0)) == "", heed.what())
    heed.write_taken(1, 1, -11)
    check(array[1, 1] == -11, "a write of heed is not seen")
    pointer = heed.give()
    other.from_dlpack(Exporter(pointer))
    writable = other.from_dlpack(Exporter(heed.give_versioned(), True))
    writable[0, 0] = 12
    check(take(writable, "float") == "" and heed.element(0, 0) == 12, "a write is not seen by heed")
    if other.__name__ == "numpy":
        constant = other.from_dlpack(Exporter(heed.give_constant(), True))
        check(not constant.flags.writeable, "constants can be written")
        check(take(constant, "float", max_version=(1, 0)) ==
              "from_dlpack: the elements must not be written (say from_dlpack<float const, ...>)", heed.what())
        check(take(constant, "constant", max_version=(1, 0)) == "" and heed.element(0, 0) == 12, heed.what())
    heed.forget_taken()
    return "tried"


def types(kinds, make):
    tried = []
    for kind, name in kinds.items():
        array = make(name)
        try:
            said = take(array, kind)
        except BufferError:  # NumPy before 1.25 gives no bool
            continue
        check(said == "" and [heed.element(0, j) for j in range(3)] == [0, 1, 1], f"{kind}: {said}")
        tried.append(kind)
    heed.forget_taken()
    return ", ".join(tried)


def main():
    try:
        other = __import__(sys.argv[2])
    except ImportError:
        print(f"skipped: there is no {sys.argv[2]}")
        return 77
    if other.__name__ == "numpy":
        counted = lambda: other.arange(12, dtype="float32").reshape(3, 4)
        address = lambda array: array.__array_interface__["data"][0]
        make = lambda name: other.array([[0, 1, 1]], dtype=name)
        kinds = {"float": "float32", "double": "float64", "f16": "float16", "int32": "int32", "int64": "int64",
                 "bool": "bool"}
    else:
        counted = lambda: other.arange(12, dtype=other.float32).reshape(3, 4)
        address = lambda array: array.data_ptr()
        make = lambda name: other.tensor([[0, 1, 1]], dtype=getattr(other, name))
        kinds = {"float": "float32", "double": "float64", "f16": "float16", "bf16": "bfloat16", "int32": "int32",
                 "int64": "int64", "bool": "bool"}
    from_heed(other)
    to_heed(other, counted(), address)
    heed.forget_taken()
    if other.__name__ == "numpy":
        lifetime(counted())
    print(f"{other.__name__} {other.__version__}; types: {types(kinds, make)}; "
          f"tensors of DLPack 1: {versions(other, counted())}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
