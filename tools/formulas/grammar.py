# SPDX-License-Identifier: BSL-1.0
"""Random real expressions over given axes, and whole formulas."""
import dataclasses
import random as random_numbers

import attention
import layouts
from integers import RELATIONS, arithmetic, integer, of_two, number as whole_number, some, truth
from writer import COUNTS, SEQUENCES, STATIC, WIDTHS, Node, Writer, axis_numbers

MOST_AXES = 5
MOST_HEAVY = 7


def fresh(g, axes, *kinds):
    """An axis that is not among these."""
    free = [a for kind in kinds for a in kind if a not in axes]
    return g.random.choice(free) if free else None


def apply(function, x):
    word = {"exponential": "exp", "logarithm": "log", "square_root": "sqrt", "reciprocal_root": "rsqrt",
            "hyperbolic_tangent": "tanh", "absolute": "abs", "rectify": "relu"}.get(function, function)
    heed = f"(-{x.heed})" if function == "negate" else f"heed::{word}({x.heed})"
    return dataclasses.replace(x, heed=heed, ref=f"ref::apply(ref::function::{function}, {x.ref})")


def number(value):
    text = repr(float(value))
    return Node(text if value >= 0 else f"({text})", f"ref::number({text})", {})


def binary(symbol, left, right):
    return arithmetic(symbol, left, right, "real")


def unary(g, x):
    """A function of x whose results stay of moderate size and whose errors do not explode."""
    shape = g.random.randrange(13)
    if shape == 0:
        return apply("exponential", apply("negate", apply("absolute", x)))
    if shape == 1:
        return apply("exponential", apply("hyperbolic_tangent", x))
    if shape == 2:
        return apply("logarithm", binary("+", apply("absolute", x), number(0.5)))
    if shape == 3:
        return apply("square_root", binary("+", apply("absolute", x), number(0.25)))
    if shape == 4:
        return apply("reciprocal_root", binary("+", apply("absolute", x), number(0.5)))
    if shape == 5:
        c = g.constant("t.one_of<extent>({0, 1, 3, 50})")
        return dataclasses.replace(x, heed=f"heed::softcap({x.heed}, static_cast<double>({c}))", ref=f"ref::softcap({x.ref}, static_cast<double>({c}))")
    if shape == 6:
        base = binary("+", apply("absolute", x), number(0.5))
        p = g.pick(2.0, 0.5, -1.5)
        return of_two("pow", base, number(p))
    if shape == 7:
        return binary(g.pick("*", "/", "+", "-"), x, number(g.pick(0.5, 2.0, -0.25, 1.5)))
    if shape == 8:
        return binary(g.pick("*", "-"), number(g.pick(0.5, 2.0, 1.0)), x)
    return apply(g.pick("hyperbolic_tangent", "absolute", "rectify", "gelu", "gelu_tanh", "silu", "sigmoid", "negate"), x)


def real(g, axes, depth):
    """A real expression over exactly these axes."""
    if depth <= 0 or g.heavy >= MOST_HEAVY:
        return g.leaf(axes)
    g.cost(axes)
    shape = g.random.randrange(100)
    if shape < 14:
        return unary(g, real(g, axes, depth - 1))
    if shape < 26:
        left, right = real(g, axes, depth - 1), real(g, some(g, axes), depth - 1)
        if g.chance(0.3):
            left, right = right, left
        if g.chance(0.2):
            return of_two(g.pick("min", "max"), left, right)
        if g.chance(0.15):
            return binary("/", left, binary("+", apply("absolute", right), number(0.5)))
        return binary(g.pick("+", "-", "*", "*"), left, right)
    if shape < 40:
        return contraction(g, axes, depth)
    if shape < 48 and len(axes) < MOST_AXES and g.heavy <= MOST_HEAVY - 4:
        return attention.context(g, axes, depth - 1)
    if shape < 57:
        return reduction(g, axes, depth)
    if shape < 65 and axes:
        return rows(g, axes, depth)
    if shape < 83:
        return layouts.layout(g, axes, depth, excluded if g.chance(0.25) else real)
    if shape < 88 and axes:
        return kept(g, real(g, axes, depth - 1))
    if shape < 91 and axes:
        c = truth(g, axes, 1)
        left, right = real(g, axes, depth - 1), g.leaf(axes) if g.chance(0.6) else number(g.pick(0.0, 1.5))
        if g.chance(0.5):
            left, right = right, left
        return Node(f"heed::where({c.heed}, {left.heed}, {right.heed})", f"ref::choose({c.ref}, {left.ref}, {right.ref})", dict(axes))
    if shape < 94 and axes:
        n = arithmetic("%", integer(g, axes, 1), whole_number(g, 2, 7))
        return binary(g.pick("*", "+", "-"), real(g, axes, depth - 1), n)
    if shape < 96:
        return dropout(g, real(g, axes, depth - 1))
    x = real(g, axes, depth - 1)
    g.heavy += 1
    if g.chance(0.5):
        return dataclasses.replace(x, heed=f"heed::let({x.heed})", ref=f"ref::let({x.ref})")
    x = g.shared(x)
    return binary(g.pick("+", "*", "-"), x, unary(g, x))


def kept(g, x):
    """x, excluded where some condition over its axes does not hold."""
    keep = truth(g, x.axes, 1)
    return Node(f"heed::where({keep.heed}, {x.heed})", f"ref::keep_where({keep.ref}, {x.ref})", dict(x.axes))


def excluded(g, axes, depth):
    """The same, bare or with something done to it."""
    x = real(g, axes, depth - 1)
    x = kept(g, x) if axes else x
    return unary(g, x) if g.chance(0.4) else x


def dropout(g, x):
    x = g.shared(x)
    p, seed = g.name("p"), g.name("s")
    g.declarations.append(f"const double {p} = t.one_of({{0.0, 0.25, 0.5, 0.9, 1.0}});")
    g.declarations.append(f"const std::uint64_t {seed} = t.seed();")
    return dataclasses.replace(x, heed=f"heed::dropout({x.heed}, {p}, {seed})", ref=f"ref::dropout(order_of({x.heed}), {x.ref}, {p}, {seed})")


def contraction(g, axes, depth):
    over = {}
    for _ in range(2 if g.chance(0.2) else 1):
        a = fresh(g, {**axes, **over}, WIDTHS, SEQUENCES if g.chance(0.3) else WIDTHS, ["sixteen", "three"])
        over[a] = g.extent(a)
    left, right = dict(over), dict(over)
    for a, n in axes.items():
        side = g.random.randrange(3 if g.chance(0.3) else 2)
        if side != 1 and len(left) < MOST_AXES:
            left[a] = n
        if side != 0 or a not in left:
            right[a] = n
    g.heavy += 1
    g.cost({**axes, **over})
    l, r = real(g, left, depth - 1), real(g, right, depth - 2 if g.chance(0.5) else 0)
    word = f"heed::dot<{', '.join(g.shuffled(over))}>"
    if r.heed.endswith(".v") and g.chance(0.15):
        r = dataclasses.replace(r, heed=f"heed::packed<{', '.join(over)}>({r.heed})")
    if g.chance(0.3):
        l, r = r, l
    return Node(f"{word}({l.heed}, {r.heed})", f"ref::dot({axis_numbers(over)}, {l.ref}, {r.ref})", dict(axes))


REDUCTIONS = [("sum", "sum"), ("mean", "mean"), ("max", "largest"), ("variance", "variance"), ("log_sum_exp", "log_sum_exp")]


def reduction(g, axes, depth):
    if len(axes) >= MOST_AXES:
        return g.leaf(axes)
    over = {}
    for _ in range(2 if g.chance(0.2) and len(axes) < MOST_AXES - 1 else 1):
        a = fresh(g, {**axes, **over}, SEQUENCES, WIDTHS, ["sixteen", "three"])
        over[a] = g.extent(a)
    g.heavy += 1
    x = real(g, {**axes, **over}, depth - 1)
    word, name = g.random.choice(REDUCTIONS)
    if word == "log_sum_exp":  # an infinity would be all that is left of what follows
        x = binary("+", x, g.leaf({a: n for a, n in over.items()}))
        sink = g.leaf(some(g, axes))
        return Node(f"heed::{word}<{', '.join(over)}>({x.heed}, {sink.heed})", f"ref::{name}({axis_numbers(over)}, {x.ref}, {sink.ref})", dict(axes))
    made = Node(f"heed::{word}<{', '.join(over)}>({x.heed})", f"ref::{name}({axis_numbers(over)}, {x.ref})", dict(axes))
    if word == "max":
        made = of_two("max", made, number(-4.0))
    return made


def rows(g, axes, depth):
    a = g.random.choice(list(axes))
    x = real(g, axes, depth - 1)
    g.heavy += 1
    shape = g.random.randrange(5)
    if shape == 0:
        return Node(f"heed::softmax<{a}>({x.heed})", f"ref::softmax({{{a}::number}}, {x.ref})", dict(axes))
    if shape == 1:
        return Node(f"heed::cumsum<{a}>({x.heed})", f"ref::running_sum({a}::number, {x.ref})", dict(axes))
    if shape == 2 and len(axes) > 1:
        over = g.random.sample(list(axes), 2)
        return Node(f"heed::softmax<{', '.join(over)}>({x.heed})", f"ref::softmax({axis_numbers(over)}, {x.ref})", dict(axes))
    gain = g.leaf(some(g, axes)) if g.chance(0.7) else number(1.5)
    if shape == 3:
        return binary_ref_only(f"heed::rms_norm<{a}>({x.heed}, {gain.heed}, 0.01)", f"ref::standardise({a}::number, {x.ref}, false, 0.01)", gain, axes)
    shift = g.leaf(some(g, axes)) if g.chance(0.7) else number(0.25)
    scaled = binary_ref_only("", f"ref::standardise({a}::number, {x.ref}, true, 0.01)", gain, axes)
    return Node(f"heed::layer_norm<{a}>({x.heed}, {gain.heed}, {shift.heed}, 0.01)", f"ref::combine(ref::operation::add, {scaled.ref}, {shift.ref})", dict(axes))


def binary_ref_only(heed, ref, gain, axes):
    return Node(heed, f"ref::combine(ref::operation::multiply, {ref}, {gain.ref})", dict(axes))


# ---------------------------------------------------------------- whole formulas
@dataclasses.dataclass
class Formula:
    lines: list
    text: str
    rounding: str


def result_axes(g, least=0):
    kinds = [COUNTS, COUNTS, SEQUENCES, WIDTHS, list(STATIC)]
    axes = {}
    for kind in g.random.sample(kinds, g.random.randint(least, 4)):
        a = fresh(g, axes, kind)
        axes[a] = g.extent(a)
    return axes


def formula(seed, number_of_formula):
    batch = number_of_formula // 8
    value_type = "double" if batch % 6 == 5 else "float"  # a program of 8 needs the kernels of one type
    g = Writer(random_numbers.Random(f"{seed}/{number_of_formula}"), value_type)
    shape = g.random.randrange(100)
    second = None
    if shape < 55:
        axes = result_axes(g, 1)
        if not any(a in SEQUENCES for a in axes) and g.chance(0.8):
            axes["query"] = g.extent("query")
        top, second = attention.context_and_sum(g, axes, g.pick(0, 1, 1, 2))
        if second is None:
            top = around(g, top)
    elif shape < 68:
        top = around(g, attention.streamed_reduction(g, result_axes(g, 1), g.pick(0, 1)))
    elif shape < 95:
        top = real(g, result_axes(g), g.pick(2, 3, 3, 4))
    else:
        top = integer_result(g)
    return written(g, top, second)


def around(g, x):
    """Something behind a stream: a projection, a residual, a norm."""
    for _ in range(g.pick(0, 0, 1, 1, 2)):
        shape = g.random.randrange(6)
        axes = x.axes
        if shape == 0:
            x = binary(g.pick("+", "-"), x, g.leaf(axes))
        elif shape == 1:
            x = binary("*", apply(g.pick("sigmoid", "gelu", "hyperbolic_tangent"), x), g.leaf(some(g, axes)))
        elif shape == 2:
            x = unary(g, x)
        elif shape == 3 and axes:
            over = some(g, axes, 1)
            new = fresh(g, axes, ["model", "hidden", "sixteen"])
            if len(over) < MOST_AXES and new:
                w = g.leaf({**over, new: g.extent(new)})
                rest = {a: n for a, n in axes.items() if a not in over}
                g.cost({**axes, **w.axes})
                x = Node(f"heed::dot<{', '.join(over)}>({x.heed}, {w.heed})", f"ref::dot({axis_numbers(over)}, {x.ref}, {w.ref})", {**rest, new: g.extent(new)})
        elif shape == 4 and axes:
            a = g.random.choice(list(axes))
            gain = g.leaf({a: axes[a]})
            x = binary_ref_only(f"heed::rms_norm<{a}>({x.heed}, {gain.heed}, 0.01)", f"ref::standardise({a}::number, {x.ref}, false, 0.01)", gain, axes)
        elif axes:
            a = g.random.choice(list(axes))
            rest = {b: n for b, n in axes.items() if b != a}
            x = Node(f"heed::mean<{a}>({x.heed})", f"ref::mean({{{a}::number}}, {x.ref})", rest)
    return x


def integer_result(g):
    axes = result_axes(g, 1)
    shape = g.random.randrange(3)
    a = g.random.choice(list(axes))
    rest = {b: n for b, n in axes.items() if b != a}
    if shape == 0:
        x = g.leaf(axes)
        keep = truth(g, axes, 1)
        return Node(f"heed::argmax<{a}>(heed::where({keep.heed}, {x.heed}))", f"ref::argmax({a}::number, ref::keep_where({keep.ref}, {x.ref}))", rest, "integer")
    if shape == 1:
        c = truth(g, axes, 1)
        if a not in c.axes:
            c = g.truths(axes)
        rest = {b: n for b, n in c.axes.items() if b != a}
        x = g.integers(c.axes, "-9", "9")
        return Node(f"heed::sum<{a}>(heed::where({c.heed}, {x.heed}, 0))", f"ref::sum({{{a}::number}}, ref::choose({c.ref}, {x.ref}, ref::whole(0)))", rest, "integer")
    x, y = g.integers(axes, "-50", "50", "std::int64_t"), integer(g, axes, 2)
    return arithmetic(g.pick("+", "-", "/", "%"), x, y)


def written(g, top, second):
    costs = ", ".join(dict.fromkeys(g.costs)) or "0.0"
    lines = [*g.declarations, f"if (!t.affordable({{{costs}}})) return;", *g.tensors]
    for heed, ref in g.statements:
        lines += [heed, ref]
    lines += [f"const table want = {top.ref};"]
    if second:
        lines += [f"const table want_second = {second.ref};"]
        lines += [f"t.check_both({top.heed}, {second.heed}, want, want_second);"]
        result = f"{top.heed}\n    and {second.heed}"
    else:
        order = g.shuffled(top.axes) if g.chance(0.4) and top.axes else []
        lines += [f"t.check{'<' + ', '.join(order) + '>' if order else ''}({top.heed}, want);"]
        result = top.heed
    text = "    ".join(f"{line}\n" for line in ["", *g.tensors, *(heed for heed, _ in g.statements), result])
    return Formula(lines, text.strip(), "0x1p-53" if g.value_type == "double" else "0x1p-24")
