# SPDX-License-Identifier: BSL-1.0
"""What a formula is while it is being made: declarations, and nodes that know both of their texts."""
import dataclasses

SEQUENCES = ["query", "key", "token", "entry"]
WIDTHS = ["d_head", "d_value", "model", "hidden"]
COUNTS = ["batch", "head", "group", "part"]
STATIC = {"sixteen": 16, "three": 3, "two": 2}
KIND = {**dict.fromkeys(SEQUENCES, "sequence"), **dict.fromkeys(WIDTHS, "width"), **dict.fromkeys(COUNTS, "few")}


@dataclasses.dataclass
class Node:
    """An expression: heed's text, the reference's text, its axes with the names of their extents, and the order in which heed
    has them (where that is known)."""

    heed: str
    ref: str
    axes: dict
    kind: str = "real"  # real, integer, truth
    order: list = None  # heed's order of axes, where something depends on it (dropout)


class Writer:
    def __init__(self, random, value_type):
        self.random = random
        self.value_type = value_type
        self.declarations = []
        self.costs = []
        self.tensors = []
        self.statements = []
        self.names = 0
        self.extents = {}
        self.heavy = 0  # how much there is to compile

    def chance(self, p):
        return self.random.random() < p

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    # ------------------------------------------------------------ extents
    def extent(self, axis):
        """The formula's own extent of an axis."""
        if axis not in self.extents:
            if axis in STATIC:
                self.extents[axis] = str(STATIC[axis])
            else:
                self.extents[axis] = self.draw(f"n_{axis}", f"t.{KIND[axis]}()")
        return self.extents[axis]

    def draw(self, name, code, declare=True):
        self.declarations.append(f"const extent {name} = {code};")
        self.declarations.append(f't.note("{name}", {name});')
        return name

    def constant(self, code):
        """A number that is drawn when the program runs."""
        return self.draw(self.name("c"), code)

    def cost(self, axes):
        if axes:
            self.costs.append(" * ".join(f"static_cast<double>({n})" for n in axes.values()))

    # ------------------------------------------------------------ tensors
    def shuffled(self, axes):
        order = list(axes)
        self.random.shuffle(order)
        return order

    def tensor(self, kind, stem, maker, storage, axes, *more):
        """A tensor over these axes, in any order of them, drawn when the program runs."""
        order = self.shuffled(axes)
        name = self.name(stem)
        extents = "{" + ", ".join(axes[a] for a in order) + "}"
        self.tensors.append(f"const auto {name} = t.{maker}<{', '.join([*storage, *order])}>({', '.join([extents, *more])});")
        self.cost(axes)
        return Node(f"{name}.v", f"{name}.r", dict(axes), kind, order)

    def leaf(self, axes, filling=""):
        storage = self.value_type
        if storage == "float":
            storage = self.pick("float", "float", "float", "float", "heed::bf16", "heed::f16")
        if not filling and self.chance(0.03):
            filling = "{.not_numbers = 0.02}"
        return self.tensor("real", "x", "real", [storage], axes, *([filling] if filling else []))

    def integers(self, axes, low, high, storage=None):
        return self.tensor("integer", "i", "integers", [storage or self.pick("std::int32_t", "std::int64_t")], axes, low, high)

    def truths(self, axes):
        return self.tensor("truth", "m", "truths", [], axes)

    # ------------------------------------------------------------ sharing
    def shared(self, node):
        """The node under a name, so that it can stand in several places."""
        name = self.name("e")
        self.statements.append((f"const auto {name} = {node.heed};", f"const table r_{name} = {node.ref};"))
        return dataclasses.replace(node, heed=name, ref=f"r_{name}")


def axis_numbers(axes):
    return "{" + ", ".join(f"{axis}::number" for axis in axes) + "}"
