# SPDX-License-Identifier: BSL-1.0
"""The table of the comparison: what each cell computes, how many operations and bytes that is.

Next to read: reference.py, what the results must be; or ../run, which measures the table.
"""
import dataclasses
import functools

import numpy

DOCUMENT, WINDOW, SOFTCAP = 200, 256, 30.0  # as in cell.hpp
MINILM_LAYERS = 6


@dataclasses.dataclass(frozen=True)
class Cell:
    """Attention q [batch, heads, queries, width] over k, v [batch, kv_heads, keys, width], with an edit of its scores; or
    a layer over x [batch, queries, heads * width], or all-MiniLM-L6-v2 over the first `batch` lines of sentences.txt."""
    regime: str
    kind: str
    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    width: int
    hidden: int = 0

    @property
    def name(self):
        if self.kind == "sentences":
            return f"{self.regime} ({self.batch})"
        heads = f"{self.heads}" if self.heads == self.kv_heads else f"{self.heads}/{self.kv_heads}"
        return f"{self.regime} ({self.batch}, {heads}, {self.queries}, {self.keys}, {self.width})"

    @property
    def line(self):
        """As bench_server reads it."""
        return (f"{self.kind} {self.batch} {self.heads} {self.kv_heads} {self.queries} {self.keys} {self.width} "
                f"{self.hidden}")

    @property
    def model(self):
        return self.heads * self.width

    @property
    def is_attention(self):
        return not self.kind.endswith("_layer") and self.kind != "sentences"

    def keeps(self, sequence, query, key):
        """Whether a query of a sequence sees a key: of numbers, of arrays that broadcast, of what a compiler traces."""
        at = query + (self.keys - self.queries)
        if self.kind in ("causal", "alibi"):
            return key <= at
        if self.kind == "window":
            return (key <= at) & (at - key < WINDOW)
        if self.kind == "documents":
            return (key <= at) & (at // DOCUMENT == key // DOCUMENT)
        if self.kind == "padding":
            return key < self.length(sequence)
        return None

    def length(self, sequence):
        return self.keys if self.batch < 2 else self.keys - sequence * self.keys * 4 // 5 // (self.batch - 1)

    @functools.lru_cache(maxsize=2)
    def kept(self):
        """keeps as bool [batch or 1, queries, keys]; None where everything is kept."""
        sequence = numpy.arange(self.batch if self.kind == "padding" else 1)[:, None, None]
        query, key = numpy.arange(self.queries)[:, None], numpy.arange(self.keys)
        kept = self.keeps(sequence, query, key)
        return None if kept is None else numpy.broadcast_to(kept, (len(sequence), self.queries, self.keys))

    def slopes(self):
        """Of ALiBi's heads (Press et al. 2022): those of the largest power of two, then every other one of twice that."""
        whole = 2 ** (self.heads.bit_length() - 1)
        between = [2.0 ** (-8.0 * (2 * h + 1) / (2 * whole)) for h in range(self.heads - whole)]
        return numpy.array([2.0 ** (-8.0 * (h + 1) / whole) for h in range(whole)] + between, dtype=numpy.float32)

    def pairs(self):
        """Kept pairs of query and key, over all sequences and heads."""
        kept = self.kept()
        if kept is None:
            return self.batch * self.heads * self.queries * self.keys
        return self.heads * int(kept.sum()) * (self.batch // len(kept))

    def weights(self):
        """Numbers in the weights of a layer."""
        model, shared = self.model, self.kv_heads * self.width
        if self.kind == "decoder_layer":
            return 2 * model * (model + shared) + 3 * model * self.hidden
        return 4 * model * model + 2 * model * self.hidden

    def layers(self):
        return MINILM_LAYERS if self.kind == "sentences" else 1

    def operations(self):
        """Those that the formula needs; a multiply-add is two. Pairs that a mask excludes do not count, padded tokens of
        sentences do."""
        if self.is_attention:
            return 4 * self.pairs() * self.width
        tokens = self.batch * self.queries
        return self.layers() * (2 * tokens * self.weights() + 4 * tokens * self.keys * self.model)

    def bytes(self):
        """Inputs and output once."""
        if self.is_attention:
            bias = self.heads * self.queries * self.keys if self.kind == "bias" else 0
            return 4 * (2 * self.batch * self.heads * self.queries * self.width
                        + 2 * self.batch * self.kv_heads * self.keys * self.width + bias)
        past = 2 * self.batch * (self.keys - self.queries) * self.kv_heads * self.width
        return 4 * (2 * self.batch * self.queries * self.model + self.layers() * self.weights() + past)


def attention(regime, kind, batch, heads, kv_heads, queries, keys, width):
    return Cell(regime, kind, batch, heads, kv_heads, queries, keys, width)


CELLS = [
    attention("textbook", "full", 1, 8, 8, 512, 512, 64),
    attention("short", "full", 32, 8, 8, 100, 100, 64),
    attention("tiny", "full", 64, 4, 4, 16, 16, 16),
    attention("cross", "full", 8, 8, 8, 128, 512, 64),
    attention("prefill", "full", 1, 12, 12, 1024, 1024, 64),
    attention("GPT-2, causal", "causal", 1, 12, 12, 1024, 1024, 64),
    attention("GPT-2, decode", "full", 1, 12, 12, 1, 1024, 64),
    attention("GPT-2, decode, batch of 16", "full", 16, 12, 12, 1, 1024, 64),
    attention("LLaMA, causal", "causal", 1, 32, 8, 2048, 2048, 128),
    attention("LLaMA, decode", "full", 1, 32, 8, 1, 4096, 128),
    attention("LLaMA, decode, batch of 8", "full", 8, 32, 8, 1, 4096, 128),
    attention("long", "full", 1, 12, 12, 4096, 4096, 64),
    attention("long, causal", "causal", 1, 12, 12, 4096, 4096, 64),
    attention("long, wide", "full", 1, 32, 32, 2048, 2048, 128),
    attention("long, wide, causal", "causal", 1, 32, 32, 2048, 2048, 128),
    attention("long, window of 256", "window", 1, 12, 12, 4096, 4096, 64),
    attention("documents of 200", "documents", 1, 12, 12, 2048, 2048, 64),
    attention("padding lengths", "padding", 4, 12, 12, 512, 512, 64),
    attention("ALiBi, causal", "alibi", 1, 12, 12, 1024, 1024, 64),
    attention("soft cap", "softcap", 1, 12, 12, 1024, 1024, 64),
    attention("bias [head, query, key]", "bias", 1, 12, 12, 1024, 1024, 64),
    Cell("encoder layer", "encoder_layer", 1, 12, 12, 1024, 1024, 64, 3072),
    Cell("encoder layer", "encoder_layer", 32, 8, 8, 100, 100, 64, 2048),
    Cell("encoder layer", "encoder_layer", 1, 4, 4, 16, 16, 16, 256),
    Cell("LLaMA layer, decode", "decoder_layer", 1, 32, 8, 1, 2048, 64, 8192),
    Cell("MiniLM, a sentence", "sentences", 1, 12, 12, 0, 0, 32, 1536),
    Cell("MiniLM, sentences", "sentences", 32, 12, 12, 0, 0, 32, 1536),
]

# Time against the length of the sequence, for the picture.
LENGTHS = [attention(f"{n} tokens", "causal", 1, 12, 12, n, n, 64) for n in (128, 256, 512, 1024, 2048, 4096, 8192)]
