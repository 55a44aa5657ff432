# SPDX-License-Identifier: BSL-1.0
"""The words that give elements other names and places: views, slices, joins, gathers."""
from integers import clipped, integer, some
from writer import COUNTS, SEQUENCES, STATIC, WIDTHS, Node

MOST_AXES = 5


def replaced(axes, a, new):
    """The same axes with others in the place of a."""
    result = {}
    for b, n in axes.items():
        result.update(new if b == a else {b: n})
    return result


def layout(g, axes, depth, real):
    makers = [rename, slice_of, element, roll, concat, stack, split, merge, take, take, broadcast]
    g.random.shuffle(makers)
    for maker in makers:
        made = maker(g, axes, depth, real)
        if made:
            return made
    return g.leaf(axes)


def pick_axis(g, axes, dynamic):
    names = [a for a in axes if not dynamic or a not in STATIC]
    return g.random.choice(names) if names else None


def free_axis(g, axes):
    return g.random.choice([a for a in SEQUENCES + WIDTHS + COUNTS if a not in axes])


def rename(g, axes, depth, real):
    a = pick_axis(g, axes, False)
    if not a:
        return None
    b = free_axis(g, axes)
    x = real(g, replaced(axes, a, {b: axes[a]}), depth - 1)
    return Node(f"heed::rename<{b}, {a}>({x.heed})", f"ref::rename({b}::number, {a}::number, {x.ref})", dict(axes))


def slice_of(g, axes, depth, real):
    a = pick_axis(g, axes, False)
    if not a:
        return None
    whole = g.constant(f"{axes[a]} + t.below(20)")
    start = g.constant(f"t.below({whole} - {axes[a]} + 1)")
    end = f"{start} + {axes[a]}"
    if a in STATIC:
        b = free_axis(g, axes)
        x = real(g, replaced(axes, a, {b: whole}), depth - 1)
        inner = f"ref::slice({b}::number, {start}, {end}, {x.ref})"
        return Node(f"heed::slice<{b}, {a}>({x.heed}, {start})", f"ref::rename({b}::number, {a}::number, {inner})", dict(axes))
    x = real(g, replaced(axes, a, {a: whole}), depth - 1)
    return Node(f"heed::slice<{a}>({x.heed}, {start}, {end})", f"ref::slice({a}::number, {start}, {end}, {x.ref})", dict(axes))


def element(g, axes, depth, real):
    if len(axes) >= MOST_AXES:
        return None
    b = free_axis(g, axes)
    n = g.constant("1 + t.below(4)")
    i = g.constant(f"t.below({n})")
    x = real(g, {**axes, b: n}, depth - 1)
    return Node(f"heed::at<{b}>({x.heed}, {i})", f"ref::at({b}::number, {i}, {x.ref})", dict(axes))


def roll(g, axes, depth, real):
    a = pick_axis(g, axes, False)
    if not a:
        return None
    n = g.constant("t.between(-400, 400)")
    x = real(g, axes, depth - 1)
    return Node(f"heed::roll<{a}>({x.heed}, {n})", f"ref::roll({a}::number, {n}, {x.ref})", dict(axes))


def concat(g, axes, depth, real):
    a = pick_axis(g, axes, True)
    if not a:
        return None
    first = g.constant(f"t.below({axes[a]} + 1)")
    rest = g.constant(f"{axes[a]} - {first}")
    x, y = real(g, replaced(axes, a, {a: first}), depth - 1), real(g, replaced(axes, a, {a: rest}), depth - 2)
    return Node(f"heed::concat<{a}>({x.heed}, {y.heed})", f"ref::concat({a}::number, {x.ref}, {y.ref})", dict(axes))


def stack(g, axes, depth, real):
    if "two" not in axes:
        return None
    rest = {a: n for a, n in axes.items() if a != "two"}
    x, y = real(g, rest, depth - 1), real(g, rest, depth - 2)
    return Node(f"heed::stack<two>({x.heed}, {y.heed})", f"ref::stack(two::number, {x.ref}, {y.ref})", dict(axes))


def split(g, axes, depth, real):
    if len(axes) < 2:
        return None
    b, c = g.random.sample(list(axes), 2)
    a = free_axis(g, axes)
    inner = {d: n for d, n in replaced(axes, b, {a: f"({axes[b]} * {axes[c]})"}).items() if d != c}
    x = real(g, inner, depth - 1)
    extents = "".join(f", {d}{{{axes[d]}}}" for d in (b, c) if d not in STATIC)
    ref = f"ref::split({a}::number, {b}::number, {c}::number, {axes[b]}, {axes[c]}, {x.ref})"
    return Node(f"heed::split<{a}, {b}, {c}>({x.heed}{extents})", ref, dict(axes))


def merge(g, axes, depth, real):
    a = pick_axis(g, axes, True)
    if not a or len(axes) >= MOST_AXES:
        return None
    b = free_axis(g, axes)
    c = free_axis(g, {**axes, b: ""})
    major = g.constant(f"t.divisor({axes[a]})")
    minor = g.constant(f"{axes[a]} / {major}")
    x = real(g, replaced(axes, a, {b: major, c: minor}), depth - 1)
    return Node(f"heed::merge<{b}, {c}, {a}>({x.heed})", f"ref::merge({b}::number, {c}::number, {a}::number, {x.ref})", dict(axes))


def take(g, axes, depth, real):
    made = taken(g, axes, depth, real) if axes else None
    if made and "index<" in made.heed:  # coordinates get their extents from what they meet
        leaf = g.leaf(axes)
        return Node(f"({made.heed} + {leaf.heed})", f"ref::combine(ref::operation::add, {made.ref}, {leaf.ref})", dict(axes))
    return made


def taken(g, axes, depth, real):
    places = some(g, axes, 1)  # the axes of the ids
    own = some(g, places, 1)  # those that the table lacks
    e = free_axis(g, axes)
    table = {a: n for a, n in axes.items() if a not in own}
    if g.chance(0.4) and len(own) == 2:  # by distance
        (q, nq), (k, nk) = own.items()
        n = g.constant(f"{nq} + {nk} + 1")
        x = real(g, {**table, e: n}, depth - 2)
        heed = f"(heed::index<{q}>() - heed::index<{k}>() + {nk})"
        ids = f"ref::combine(ref::operation::subtract, ref::index({q}::number, {nq}), ref::index({k}::number, {nk}))"
        ids = f"ref::combine(ref::operation::add, {ids}, ref::whole({nk}))"
        return Node(f"heed::take<{e}>({x.heed}, {heed})", f"ref::take({e}::number, {x.ref}, {ids})", dict(axes))
    n = g.constant("1 + t.below(9)")
    x = real(g, {**table, e: n}, depth - 2)
    ids = integer(g, places, 1)
    if set(own) - set(ids.axes):  # every axis that the table lacks comes from the ids
        ids = g.integers(places, "-5", "20")
    ids = clipped(g, ids, n)
    return Node(f"heed::take<{e}>({x.heed}, {ids.heed})", f"ref::take({e}::number, {x.ref}, {ids.ref})", dict(axes))


def broadcast(g, axes, depth, real):
    a = pick_axis(g, axes, False)
    if not a:
        return None
    x = real(g, {b: n for b, n in axes.items() if b != a}, depth - 1)
    extent = "" if a in STATIC else f", {a}{{{axes[a]}}}"
    return Node(f"heed::broadcast<{a}>({x.heed}{extent})", f"ref::broadcast({a}::number, {axes[a]}, {x.ref})", dict(axes))
