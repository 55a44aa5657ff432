# SPDX-License-Identifier: BSL-1.0
"""Integer expressions and conditions: coordinates, lengths, documents, tables, dense masks."""
from writer import SEQUENCES, STATIC, Node


def some(g, axes, least=0):
    """A random part of the axes."""
    names = list(axes)
    count = g.random.randint(min(least, len(names)), len(names))
    return {a: axes[a] for a in g.random.sample(names, count)}


def number(g, low=-3, high=9):
    n = g.random.randint(low, high)
    return Node(str(n) if n >= 0 else f"({n})", f"ref::whole({n})", {}, "integer")


def index(axis, n):
    return Node(f"heed::index<{axis}>()", f"ref::index({axis}::number, {n})", {axis: n}, "integer")


ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
RELATIONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "unequal"}


def arithmetic(symbol, left, right, kind="integer"):
    heed = f"({left.heed} {symbol} {right.heed})"
    ref = f"ref::combine(ref::operation::{ARITHMETIC[symbol]}, {left.ref}, {right.ref})"
    return Node(heed, ref, {**left.axes, **right.axes}, kind)


def relation(symbol, left, right):
    heed = f"({left.heed} {symbol} {right.heed})"
    ref = f"ref::compare(ref::relation::{RELATIONS[symbol]}, {left.ref}, {right.ref})"
    return Node(heed, ref, {**left.axes, **right.axes}, "truth")


OF_TWO = {"min": "smaller", "max": "larger", "pow": "power"}


def of_two(word, left, right, kind="real"):
    heed = f"heed::{word}({left.heed}, {right.heed})"
    ref = f"ref::combine(ref::operation::{OF_TWO[word]}, {left.ref}, {right.ref})"
    return Node(heed, ref, {**left.axes, **right.axes}, kind)


def extreme(word, left, right):
    return of_two(word, left, right, "integer")


def integer(g, axes, depth):
    """An integer expression over a part of the axes; never a number alone where there are axes."""
    if not axes:
        return number(g)
    if depth <= 0 or g.chance(0.25):
        if g.chance(0.6):
            return index(*g.random.choice(list(axes.items())))
        part = some(g, axes, 1)
        if g.chance(0.05):  # sums and products of these need more than 32 bits
            return g.integers(part, "-2147483648", "2147483647")
        return g.integers(part, "-3", g.pick("4", "40", "300"))
    shape = g.random.randrange(10)
    left = integer(g, axes, depth - 1)
    if shape <= 3:
        return arithmetic(g.pick("+", "-"), left, integer(g, axes, depth - 1))
    if shape == 4:
        return arithmetic("*", left, number(g))
    if shape <= 6:
        right = number(g, -4, 9) if g.chance(0.8) else integer(g, axes, 0)
        return arithmetic(g.pick("/", "%"), left, right)
    if shape == 7:
        return extreme(g.pick("min", "max"), left, integer(g, axes, depth - 1) if g.chance(0.5) else number(g))
    if shape == 8:
        return Node(f"heed::abs({left.heed})", f"ref::apply(ref::function::absolute, {left.ref})", left.axes, "integer")
    axis = g.random.choice(list(axes))
    if axis in left.axes and left.heed.startswith("i") and g.chance(0.5):
        g.heavy += 1
        return Node(f"heed::cumsum<{axis}>({left.heed})", f"ref::running_sum({axis}::number, {left.ref})", left.axes, "integer")
    c = truth(g, left.axes, 0)
    return Node(f"heed::cast<std::int64_t>({c.heed})", f"ref::to_whole({c.ref})", c.axes, "integer")


def clipped(g, ids, extent):
    """Ids that lie within a table."""
    if g.chance(0.5):
        inner = f"(({ids.heed} % {extent}))"
        return Node(inner, f"ref::combine(ref::operation::modulo, {ids.ref}, ref::whole({extent}))", ids.axes, "integer")
    high = Node(f"({extent} - 1)", f"ref::whole({extent} - 1)", {}, "integer")
    return extreme("min", extreme("max", ids, Node("0", "ref::whole(0)", {}, "integer")), high)


def sequence_pair(g, axes):
    names = [a for a in axes if a in SEQUENCES] or [a for a in axes if a not in STATIC] or list(axes)
    if len(names) < 2:
        names = list(axes)
    return g.random.sample(names, 2) if len(names) >= 2 else None


def truth(g, axes, depth, along=None):
    """A condition over a part of the axes; `along`: an axis that should mostly be in it."""
    if depth > 0 and g.chance(0.45):
        left, right = truth(g, axes, depth - 1, along), truth(g, axes, depth - 1, along)
        word = g.pick("&&", "&&", "||")
        name = "both" if word == "&&" else "either"
        return Node(f"({left.heed} {word} {right.heed})", f"ref::{name}({left.ref}, {right.ref})", {**left.axes, **right.axes}, "truth")
    if depth > 0 and g.chance(0.1):
        x = truth(g, axes, depth - 1, along)
        return Node(f"(!{x.heed})", f"ref::inverted({x.ref})", x.axes, "truth")
    pair = sequence_pair(g, axes)
    if pair and along in axes and along not in pair:
        pair[1] = along
    k = along if along in axes else g.random.choice(list(axes))
    shape = g.random.randrange(9)
    if shape <= 2 and pair:
        return causal_or_window(g, axes, *pair)
    if shape == 3:  # a length, for each or for all
        rest = some(g, {a: n for a, n in axes.items() if a != k})
        length = g.integers(rest, "0", f"{axes[k]}")
        return relation("<", index(k, axes[k]), length)
    if shape == 4 and pair:  # documents
        rest = some(g, {a: n for a, n in axes.items() if a not in pair})
        ids = [g.integers({**rest, a: axes[a]}, "0", "3") for a in pair]
        return relation(g.pick("==", "==", "!=", "<="), *ids)
    if shape == 5:
        return g.truths({**some(g, axes), k: axes[k]})
    if shape == 6:  # of reals that are exact
        x = g.leaf({**some(g, axes), k: axes[k]})
        if g.chance(0.5):
            return relation(g.pick("<", ">"), x, Node("0.5", "ref::number(0.5)", {}))
        return relation(g.pick("<=", ">="), x, g.leaf(some(g, x.axes)))
    left, right = integer(g, axes, 2), integer(g, axes, 1)
    if not left.axes:
        left = index(k, axes[k])
    if g.chance(0.3):
        left = arithmetic("%", left, number(g, 2, 7))
    return relation(g.random.choice(list(RELATIONS)), left, right if g.chance(0.6) else number(g, -2, 40))


def causal_or_window(g, axes, q, k):
    i, j = index(q, axes[q]), index(k, axes[k])
    if axes[q] == axes[k] and g.chance(0.5):
        return Node(f"heed::causal<{q}, {k}>()", relation("<=", j, i).ref, {q: axes[q], k: axes[k]}, "truth")
    if g.chance(0.3):
        rest = some(g, {a: n for a, n in axes.items() if a not in (q, k)})
        past = g.integers(rest, "-3", "20")
    else:
        c = g.constant(f"t.one_of<extent>({{0, {axes[k]} - {axes[q]}, 1, 17, -2}})")
        past = Node(c, f"ref::whole({c})", {}, "integer")
    position = arithmetic("+", i, past)
    below = relation("<=", j, position)
    if g.chance(0.5):
        return Node(f"heed::causal<{q}, {k}>({past.heed})", below.ref, below.axes, "truth")
    n = g.constant("t.one_of<extent>({0, 1, 5, 16, 64, 9223372036854775807})")
    near = relation("<", arithmetic("-", position, j), Node(n, f"ref::whole({n})", {}, "integer"))
    return Node(f"heed::window<{q}, {k}>({n}, {past.heed})", f"ref::both({below.ref}, {near.ref})", below.axes, "truth")
