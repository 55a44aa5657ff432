# SPDX-License-Identifier: BSL-1.0
"""Scores, their edits, weights, contexts, and what streams without a softmax."""
import dataclasses

import grammar
import layouts
from integers import arithmetic, clipped, index, integer, number as whole_number, of_two, sequence_pair, some, truth
from writer import SEQUENCES, STATIC, WIDTHS, Node, axis_numbers

MOST_AXES = 5


@dataclasses.dataclass
class Roles:
    keys: dict  # contracted: one axis, sometimes two
    scores: dict  # all axes of the scores, keys included
    query: dict  # of them the query side's
    key_side: dict
    values: dict  # all axes of the values, keys included
    kept: object = None  # a condition over the keys; where it does not hold, K and V hold what must not be seen


def roles(g, axes, values=True):
    keys = {}
    for _ in range(2 if g.chance(0.12) and len(axes) < 4 else 1):
        k = grammar.fresh(g, {**axes, **keys}, ["key", "key", "token", "entry"], WIDTHS if g.chance(0.1) else ["key"], SEQUENCES + ["sixteen"])
        same = [n for a, n in axes.items() if a in SEQUENCES]
        keys[k] = g.random.choice(same) if same and k not in STATIC and g.chance(0.2) else g.extent(k)
    own = [a for a in axes if a in WIDTHS or g.chance(0.1)][: g.pick(0, 1, 1, 1, 2)] if values else []
    rest = {a: n for a, n in axes.items() if a not in own}
    query, key_side, both = {}, dict(keys), {}
    for a, n in rest.items():
        side = g.pick("query", "query", "query", "shared", "shared", "key")
        if a == "query" or len(key_side) >= MOST_AXES - 1:
            side = "query" if g.chance(0.9) else side
        if side != "key":
            query[a] = n
        if side != "query" and len(key_side) < MOST_AXES - 1:
            key_side[a] = n
        elif a not in query:
            query[a] = n
        if a in key_side and g.chance(0.8) or g.chance(0.05):
            both[a] = n
    value_axes = {**keys, **{a: axes[a] for a in own}}
    for a, n in both.items():
        if len(value_axes) < MOST_AXES:
            value_axes[a] = n
    made = Roles(keys, {**query, **key_side}, query, key_side, value_axes)
    if values and g.chance(0.35):
        made.kept = g.truths(keys)
    return made


def key_tensor(g, r, axes, depth):
    """Keys or values: a tensor, or a projection of one; behind the mask lies what must not be seen."""
    if r.kept is None:
        return grammar.real(g, axes, depth)
    filling = f"{{.kept = &{r.kept.ref}}}"
    wide = [a for a in axes if (a in WIDTHS or a == "sixteen") and a not in r.keys]
    inner = grammar.fresh(g, axes, ["model", "hidden"])
    if depth > 0 and wide and inner and g.chance(0.4):
        x_axes = {a: n for a, n in axes.items() if a not in wide}
        x_axes[inner] = g.extent(inner)
        w_axes = {inner: g.extent(inner), **{a: axes[a] for a in wide}}
        x, w = cached(g, g.leaf(x_axes, filling)), g.leaf(w_axes)
        g.heavy += 1
        g.cost({**x_axes, **w_axes})
        return Node(f"heed::dot<{inner}>({x.heed}, {w.heed})", f"ref::dot({{{inner}::number}}, {x.ref}, {w.ref})", dict(axes))
    return cached(g, g.leaf(axes, filling))


def cached(g, x):
    """Now and then the same tensor, read out of a kv_cache."""
    grows = [a for a in x.axes if a not in STATIC]
    if not grows or not g.chance(0.15):
        return x
    return dataclasses.replace(x, heed=f"t.cached<{g.random.choice(grows)}>({x.heed})")


def dot(over, left, right, axes, g):
    if g.chance(0.25):
        left, right = right, left
    return Node(f"heed::dot<{', '.join(over)}>({left.heed}, {right.heed})", f"ref::dot({axis_numbers(over)}, {left.ref}, {right.ref})", dict(axes))


def raw_scores(g, r, depth):
    g.heavy += 1
    shape = g.random.randrange(12)
    if shape == 0 and r.kept is None and len(r.scores) <= MOST_AXES:
        return g.leaf(r.scores)
    if shape == 1 and r.kept is None:  # decay by distance, no dot at all
        n = integer(g, r.scores, 2)
        wide = Node(f"heed::cast<{g.value_type}>({n.heed})", f"ref::to_real({n.ref})", n.axes)
        return grammar.binary("+", grammar.apply("hyperbolic_tangent", g.leaf(r.scores)), grammar.apply("hyperbolic_tangent", wide))
    over = {}
    for _ in range(2 if shape == 2 else 1):
        c = grammar.fresh(g, {**r.scores, **over, **{a: 0 for a in r.values}}, WIDTHS, WIDTHS + ["sixteen", "three"])
        over[c] = g.extent(c)
    if shape == 3 and r.kept is None:
        return rotated(g, r)
    g.cost({**r.scores, **over})
    q = grammar.real(g, {**r.query, **over}, depth if g.chance(0.5) else 0)
    k = key_tensor(g, r, {**r.key_side, **over}, depth if g.chance(0.5) else 0)
    s = dot(over, q, k, r.scores, g)
    if shape == 4:  # a second dot, as in latent attention
        c = grammar.fresh(g, {**r.scores, **over}, WIDTHS, ["three"])
        more = {c: g.extent(c)}
        g.cost({**r.scores, **more})
        second = dot(more, g.leaf({**r.query, **more}), key_tensor(g, r, {**r.keys, **more}, 0), {**r.query, **r.keys}, g)
        if set(second.axes) <= set(s.axes):
            s = grammar.binary(g.pick("+", "-"), s, second)
    return s


def rotated(g, r):
    """Rotary positions of queries and keys."""
    n = g.constant("2 * t.below(20)")
    c = grammar.fresh(g, r.scores, WIDTHS)
    halves = g.pick("true", "false")
    pairs = f"heed::rope_pairs::{'half' if halves == 'true' else 'interleaved'}"
    g.cost({**r.scores, c: n})

    def turned(axes):
        x = g.leaf({**axes, c: n})
        position = next((a for a in axes if a in SEQUENCES), None)
        if position is None:
            return x
        past = g.constant("t.between(-3, 60)")
        g.heavy += 1
        return dataclasses.replace(x, heed=f"heed::rope<{c}, {position}>({x.heed}, {pairs}, 100.0, {past})",
                                   ref=f"ref::rope({c}::number, {position}::number, {x.ref}, {halves}, 100.0, ref::whole({past}))")

    return dot({c: n}, turned(r.query), turned(r.key_side), r.scores, g)


def edited(g, r, s, most):
    """Edits in any order; a mask that hides what must not be seen is among them where there is something."""
    axes = r.scores
    k = g.random.choice(list(r.keys))
    edits = [g.random.choice(EDITS) for _ in range(g.random.randint(0, most))]
    if r.kept is not None:
        edits.insert(g.random.randint(0, len(edits)), hidden)
    for edit in edits:
        s = edit(g, r, s, axes, k)
    return s


def hidden(g, r, s, axes, k):
    keep = r.kept
    if g.chance(0.4):
        more = truth(g, axes, 1, k)
        keep = Node(f"({keep.heed} && {more.heed})", f"ref::both({keep.ref}, {more.ref})", {**keep.axes, **more.axes}, "truth")
    return Node(f"heed::where({keep.heed}, {s.heed})", f"ref::keep_where({keep.ref}, {s.ref})", dict(axes))


def masked(g, r, s, axes, k):
    keep = truth(g, axes, 2, k)
    return Node(f"heed::where({keep.heed}, {s.heed})", f"ref::keep_where({keep.ref}, {s.ref})", dict(axes))


def scaled(g, r, s, axes, k):
    return grammar.binary(g.pick("*", "/"), s, grammar.number(g.pick(0.5, 0.125, 4.0, -1.0)))


def capped(g, r, s, axes, k):
    c = g.constant("t.one_of<extent>({0, 1, 3, 50})")
    return dataclasses.replace(s, heed=f"heed::softcap({s.heed}, static_cast<double>({c}))", ref=f"ref::softcap({s.ref}, static_cast<double>({c}))")


def biased(g, r, s, axes, k):
    part = some(g, axes)
    if g.chance(0.8):
        part[k] = axes[k]
    infinities = "{.minus_infinities = 0.3}" if k in part and g.chance(0.5) else ""
    bias = g.leaf(part, infinities)
    s, bias = (bias, s) if g.chance(0.2) else (s, bias)
    return grammar.binary("+", s, bias)


def sloped(g, r, s, axes, k):
    pair = sequence_pair(g, axes)
    if not pair:
        return scaled(g, r, s, axes, k)
    q, k = pair
    slopes = g.leaf(some(g, {a: n for a, n in axes.items() if a not in pair}), "{.spread = 0.05}")
    past = g.constant("t.between(-3, 9)")
    distance = arithmetic("-", arithmetic("-", index(k, axes[k]), index(q, axes[q])), Node("", f"ref::whole({past})", {}, "integer"))
    bias = Node(f"heed::alibi<{q}, {k}>({slopes.heed}, {past})", f"ref::combine(ref::operation::multiply, {slopes.ref}, {distance.ref})", {**slopes.axes, **distance.axes})
    return grammar.binary("+", s, bias)


def by_table(g, r, s, axes, k):
    part = some(g, axes)
    part[k] = axes[k]
    bias = layouts.taken(g, part, 1, grammar.real)
    return grammar.binary(g.pick("+", "+", "*"), s, bias)


def chosen(g, r, s, axes, k):
    c = truth(g, axes, 1, k)
    if g.chance(0.5):  # a bias of 0 and -infinity, spelt as a choice
        low = f"-std::numeric_limits<{g.value_type}>::infinity()"
        bias = Node(f"heed::where({c.heed}, {g.value_type}{{0}}, {low})", f"ref::choose({c.ref}, ref::number(0.0), ref::number({low}))", c.axes)
        return grammar.binary("+", s, bias)
    return Node(f"heed::where({c.heed}, {s.heed}, {grammar.number(-1.5).heed})", f"ref::choose({c.ref}, {s.ref}, ref::number(-1.5))", dict(axes))


def counted(g, r, s, axes, k):
    n = arithmetic("%", integer(g, axes, 1), whole_number(g, 2, 7))
    return grammar.binary(g.pick("*", "+", "-"), s, n)


def bent(g, r, s, axes, k):
    return grammar.apply(g.pick("hyperbolic_tangent", "absolute", "silu", "gelu"), s)


EDITS = [masked, masked, masked, scaled, scaled, capped, biased, biased, sloped, by_table, chosen, counted, bent]


def softmax(g, r, s):
    """The weights, the text of the sink, and the reference's."""
    over, numbers = ", ".join(g.shuffled(r.keys)), axis_numbers(r.keys)
    sink = None
    if g.chance(0.3):
        rest = {a: n for a, n in r.scores.items() if a not in r.keys}
        if g.chance(0.3):
            name = g.name("sink")
            g.declarations.append(f"const double {name} = t.one_of({{0.0, 2.0, -std::numeric_limits<double>::infinity()}});")
            sink = Node(name, f"ref::number({name})", {})
        else:
            sink = g.leaf(some(g, rest), g.pick("", "{.minus_infinities = 0.3}"))
    heed_sink, ref_sink = (f", {sink.heed}", f", {sink.ref}") if sink else ("", "")
    weights = Node(f"heed::softmax<{over}>({s.heed}{heed_sink})", f"ref::softmax({numbers}, {s.ref}{ref_sink})", dict(r.scores))
    rest = {a: n for a, n in r.scores.items() if a not in r.keys}
    total = Node(f"heed::log_sum_exp<{over}>({s.heed}{heed_sink})", f"ref::log_sum_exp({numbers}, {s.ref}{ref_sink})", rest)
    return weights, total


def changed_weights(g, r, w):
    for _ in range(g.pick(0, 0, 0, 1, 1, 2)):
        shape = g.random.randrange(8)
        if shape == 0:
            w = grammar.dropout(g, w)
        elif shape == 1:
            w = grammar.binary(g.pick("*", "/"), w, grammar.number(g.pick(0.5, 2.0)))
        elif shape == 2:
            w = grammar.binary("*", w, g.leaf(some(g, r.scores)))
        elif shape == 3:
            w = grammar.kept(g, w)
        elif shape == 4:
            g.heavy += 1
            w = dataclasses.replace(w, heed=f"heed::let({w.heed})", ref=f"ref::let({w.ref})")
        elif shape == 5:
            w = grammar.apply("negate", w)
        else:
            w = bent_weights(g, r, w)
    return w


def bent_weights(g, r, w):
    """Weights through what is not linear in them. Most of it leaves a softmax's zeros zeros."""
    shape = g.random.randrange(6)
    if shape == 0:
        return grammar.apply(g.pick("gelu", "gelu_tanh", "silu", "hyperbolic_tangent"), w)
    if shape == 1:
        return of_two("pow", w, grammar.number(2.0))
    if shape == 2:
        word, bound = g.pick(("min", 0.25), ("max", 0.0), ("max", 0.125))
        return of_two(word, w, grammar.number(bound))
    if shape == 3:
        return of_two(g.pick("min", "max"), w, g.leaf(some(g, r.scores)))
    if shape == 4:
        c = truth(g, r.scores, 1)
        both = [w, grammar.number(g.pick(0.0, 0.0, 1.5))]
        g.random.shuffle(both)
        return Node(f"heed::where({c.heed}, {both[0].heed}, {both[1].heed})", f"ref::choose({c.ref}, {both[0].ref}, {both[1].ref})", dict(w.axes))
    return grammar.apply("exponential", w)


def plain_weights(g, r, s):
    shape = g.random.randrange(5)
    if shape == 0:
        return grammar.apply("sigmoid", s)
    if shape == 1:
        return grammar.apply("exponential", grammar.apply("negate", grammar.apply("absolute", s)))
    if shape == 2:
        s = g.shared(grammar.apply("rectify", s))
        return grammar.binary("*", s, s)
    if shape == 3:
        return grammar.apply("exponential", grammar.apply("hyperbolic_tangent", s))
    return grammar.apply("hyperbolic_tangent", s)


def with_values(g, r, w, axes, depth):
    g.cost({**r.scores, **r.values})
    v = key_tensor(g, r, r.values, depth if g.chance(0.4) else 0)
    if g.chance(0.12):
        v = grammar.kept(g, v)
    return dot(r.keys, w, v, axes, g)


def combined(g, r, axes):
    """Two sets of keys, each with its softmax, as one: the context and the log-sum-exp."""
    g.heavy += 4
    texts, refs = [], []
    for _ in range(2):
        weights, total = softmax(g, r, g.shared(edited(g, r, raw_scores(g, r, 0), 2)))
        part = with_values(g, r, weights, axes, 0)
        texts += [part.heed, total.heed]
        refs += [part.ref, total.ref]
    name = g.name("e")
    g.statements.append((f"const auto {name} = heed::combine({', '.join(texts)});", f"const auto r_{name} = ref::combine_contexts({', '.join(refs)});"))
    return Node(f"{name}.first", f"r_{name}.first", dict(axes)), Node(f"{name}.second", f"r_{name}.second", total.axes)


def context_and_sum(g, axes, depth):
    """A context over these axes; now and then the log-sum-exp of its scores as well."""
    g.heavy += 3
    r = roles(g, axes)
    if g.chance(0.08):
        return combined(g, r, axes)
    s = edited(g, r, raw_scores(g, r, depth), g.pick(1, 2, 3, 4))
    kind = g.random.randrange(10)
    total = None
    if kind < 7:
        if g.chance(0.12):
            s = g.shared(s)
            weights, total = softmax(g, r, s)
        else:
            weights, _ = softmax(g, r, s)
        weights = changed_weights(g, r, weights)
    elif kind == 7:  # differential attention
        g.heavy += 2
        other = edited(g, r, raw_scores(g, r, 0), 2)
        first, second = softmax(g, r, s)[0], softmax(g, r, other)[0]
        second = grammar.binary("*", second, g.leaf(some(g, {a: n for a, n in axes.items() if a in r.scores and a not in r.values})) if g.chance(0.5) else grammar.number(0.5))
        weights = grammar.binary(g.pick("-", "-", "+"), first, second)
    else:
        weights = plain_weights(g, r, s)
    return with_values(g, r, weights, axes, depth), total


def context(g, axes, depth):
    return context_and_sum(g, axes, depth)[0]


def streamed_reduction(g, axes, depth):
    """A sum, mean, largest or log-sum-exp of scores that are not stored."""
    g.heavy += 2
    r = roles(g, axes, values=False)
    s = edited(g, r, raw_scores(g, r, depth), 3)
    word, name = g.pick(("sum", "sum"), ("mean", "mean"), ("max", "largest"), ("log_sum_exp", "log_sum_exp"))
    if word in ("sum", "mean") and g.chance(0.6):
        s = plain_weights(g, r, s)
    return Node(f"heed::{word}<{', '.join(r.keys)}>({s.heed})", f"ref::{name}({axis_numbers(r.keys)}, {s.ref})", dict(axes))
