# SPDX-License-Identifier: BSL-1.0
"""Shows heed's tensors, views, extents and narrow numbers in GDB:

    (gdb) print weights
    $1 = heed::tensor float [head 8, query 44, key 44] {[0, 0, 0] = 1, [0, 0, 1] = 0, ... of 15488}

The extents stand by the names of their axes; of the elements a corner is shown, the first four along each axis at most
and `print elements` (a setting of GDB) in all. `print/r` shows the raw structure.

To have it always, put this line into ~/.gdbinit:

    source /path/to/heed/tools/gdb/heed.py

To have it for one program alone, link to this file as PROGRAM-gdb.py beside the program; GDB loads that by itself where
`add-auto-load-safe-path` in ~/.gdbinit names the folder. `cmake --install` puts the file into share/heed/gdb.
"""
import itertools
import re
import struct

import gdb
import gdb.printing

CORNER = 4  # elements along each axis


def split(name, separator):
    """The parts of a type's name between separators that stand outside of all brackets."""
    parts, depth = [""], 0
    for letter in name:
        depth += (letter in "<(") - (letter in ">)")
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def short_name(name):
    """`key` for `(anonymous namespace)::key`, `model<768>` for `net::model<768>`."""
    return split(name, ":")[-1]


def static_extent(axis):
    """The number in heed::axis<64>, from which the tag derives; None where the extent is known at run time only."""
    for field in axis.strip_typedefs().fields():
        if not field.is_base_class:
            continue
        found = re.fullmatch(r"heed::axis<(-?\d+)(?:l|ll)?>", field.type.strip_typedefs().name)
        if found:
            return int(found.group(1)) if int(found.group(1)) >= 0 else None
        deeper = static_extent(field.type)
        if deeper is not None:
            return deeper
    return None


def number_of(value):
    """A bf16 or f16 as the number that it stands for; anything else as it is."""
    name = value.type.strip_typedefs().unqualified().name
    if name == "heed::bf16":
        return struct.unpack("<f", struct.pack("<I", int(value["bits"]) << 16))[0]
    if name == "heed::f16":
        return struct.unpack("<e", struct.pack("<H", int(value["bits"])))[0]
    return value


class Narrow:
    """bf16 and f16."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"{number_of(self.value):.6g}"


class NamedExtent:
    """`key{128}`"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        extent = static_extent(self.value.type)
        if extent is None:
            extent = int(self.value["size"]["value"])
        return f"{short_name(self.value.type.strip_typedefs().unqualified().name)}{{{extent}}}"


class Elements:
    """A tensor or a view: its kind, type and shape, and a corner of its elements."""

    def __init__(self, value):
        name = value.type.strip_typedefs().unqualified().name
        self.kind, _, arguments = name.partition("<")
        # GDB does not give the members of a template's pack as types, but the name has them
        element, *axes = split(arguments.rstrip()[:-1], ",")
        self.element = short_name(re.sub(r"\bconst\b", "", element).strip())
        self.axes = [short_name(axis) for axis in axes]
        self.leaf = value["leaf_"]
        self.extents = [int(self.leaf["extents"][place]) for place in range(len(axes))]
        self.size = 1
        for extent in self.extents:
            self.size *= extent

    def to_string(self):
        shape = ", ".join(f"{axis} {extent}" for axis, extent in zip(self.axes, self.extents))
        if self.size == 0 or int(self.leaf["data"]) == 0:
            return f"{self.kind} {self.element} [{shape}], empty"
        return f"{self.kind} {self.element} [{shape}]"

    def children(self):
        if self.size == 0 or int(self.leaf["data"]) == 0:
            return
        strides = [int(self.leaf["strides"][place]) for place in range(len(self.axes))]
        shown = 0
        for place in itertools.product(*(range(min(extent, CORNER)) for extent in self.extents)):
            offset = sum(index * stride for index, stride in zip(place, strides))
            yield "[" + ", ".join(map(str, place)) + "]", number_of(self.leaf["data"][offset])
            shown += 1
        if shown < self.size:
            yield "of", self.size


class Lookup(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("heed", [])

    def __call__(self, value):
        type_ = value.type.strip_typedefs().unqualified()
        if type_.code != gdb.TYPE_CODE_STRUCT or not type_.name:
            return None
        if re.match(r"heed::(tensor|view)<", type_.name):
            return Elements(value)
        if type_.name in ("heed::bf16", "heed::f16"):
            return Narrow(value)
        bases = [field.type.strip_typedefs().name or "" for field in type_.fields() if field.is_base_class]
        if any(name.startswith("heed::axis<") for name in bases):
            return NamedExtent(value)
        return None


gdb.printing.register_pretty_printer(gdb.current_objfile(), Lookup(), replace=True)
