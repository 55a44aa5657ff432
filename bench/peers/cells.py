# SPDX-License-Identifier: BSL-1.0
"""The table of the comparison: what each cell computes, how many operations and bytes that is.

Next to read: ../run, which measures it.
"""
import dataclasses

DOCUMENT, WINDOW, SOFTCAP = 200, 256, 30.0  # as in cell.hpp


@dataclasses.dataclass(frozen=True)
class Cell:
    """Attention q [batch, heads, queries, width] over k, v [batch, kv_heads, keys, width], with an edit of its scores; or
    an encoder layer over x [batch, queries, heads * width]."""
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
        heads = f"{self.heads}" if self.heads == self.kv_heads else f"{self.heads}/{self.kv_heads}"
        return f"{self.regime} ({self.batch}, {heads}, {self.queries}, {self.keys}, {self.width})"

    @property
    def line(self):
        """As bench_server reads it."""
        return (f"{self.kind} {self.batch} {self.heads} {self.kv_heads} {self.queries} {self.keys} {self.width} "
                f"{self.hidden}")

    def keeps(self, sequence, i, j):
        """Whether query i of a sequence sees key j."""
        if self.kind in ("causal", "alibi"):
            return j <= i + self.keys - self.queries
        if self.kind == "window":
            return 0 <= i - j < WINDOW
        if self.kind == "documents":
            return j <= i and i // DOCUMENT == j // DOCUMENT
        if self.kind == "padding":
            return j < self.length(sequence)
        return True

    def length(self, sequence):
        return self.keys if self.batch < 2 else self.keys - sequence * self.keys * 4 // 5 // (self.batch - 1)

    def pairs(self):
        """Kept pairs of query and key, over all sequences and heads."""
        n, m = self.queries, self.keys
        if self.kind in ("causal", "alibi"):
            kept = sum(min(m, i + m - n + 1) for i in range(n))
        elif self.kind == "window":
            kept = sum(min(i + 1, WINDOW) for i in range(n))
        elif self.kind == "documents":
            kept = sum(i % DOCUMENT + 1 for i in range(n))
        elif self.kind == "padding":
            return self.heads * n * sum(self.length(b) for b in range(self.batch))
        else:
            kept = n * m
        return self.batch * self.heads * kept

    def operations(self):
        """Those that the formula needs; a multiply-add is two. Excluded pairs do not count."""
        if self.kind == "encoder_layer":
            model = self.heads * self.width
            each = 2 * self.queries * (4 * model * model + 2 * model * self.hidden) + 4 * self.queries * self.keys * model
            return self.batch * each
        return 4 * self.pairs() * self.width

    def bytes(self):
        """Inputs and output once."""
        if self.kind == "encoder_layer":
            model = self.heads * self.width
            return 4 * (2 * self.batch * self.queries * model + 4 * model * model + 2 * model * self.hidden)
        bias = self.heads * self.queries * self.keys if self.kind == "bias" else 0
        return 4 * (2 * self.batch * self.heads * self.queries * self.width
                    + 2 * self.batch * self.kv_heads * self.keys * self.width + bias)


def attention(regime, kind, batch, heads, kv_heads, queries, keys, width):
    return Cell(regime, kind, batch, heads, kv_heads, queries, keys, width)


CELLS = [
    attention("textbook", "full", 1, 8, 8, 512, 512, 64),
    attention("short", "full", 32, 8, 8, 100, 100, 64),
    attention("tiny", "full", 64, 4, 4, 16, 16, 16),
    attention("cross", "full", 8, 8, 8, 128, 512, 64),
    attention("prefill", "full", 1, 12, 12, 1024, 1024, 64),
    attention("GPT-2, causal", "causal", 1, 12, 12, 1024, 1024, 64),
    attention("LLaMA, causal", "causal", 1, 32, 8, 2048, 2048, 128),
    attention("long", "full", 1, 12, 12, 4096, 4096, 64),
    attention("long, causal", "causal", 1, 12, 12, 4096, 4096, 64),
    attention("long, window of 256", "window", 1, 12, 12, 4096, 4096, 64),
    attention("decode", "full", 1, 32, 8, 1, 4096, 128),
    attention("decode, batch of 8", "full", 8, 32, 8, 1, 4096, 128),
    attention("documents of 200", "documents", 1, 12, 12, 2048, 2048, 64),
    attention("ALiBi, causal", "alibi", 1, 12, 12, 1024, 1024, 64),
    attention("soft cap", "softcap", 1, 12, 12, 1024, 1024, 64),
    attention("bias [head, query, key]", "bias", 1, 12, 12, 1024, 1024, 64),
    attention("padding lengths", "padding", 4, 12, 12, 512, 512, 64),
    Cell("encoder layer", "encoder_layer", 1, 12, 12, 1024, 1024, 64, 3072),
    Cell("encoder layer", "encoder_layer", 32, 8, 8, 100, 100, 64, 2048),
    Cell("encoder layer", "encoder_layer", 1, 4, 4, 16, 16, 16, 256),
]

# Time against the length of the sequence, for the picture.
LENGTHS = [attention(f"{n} tokens", "causal", 1, 12, 12, n, n, 64) for n in (64, 128, 256, 512, 1024, 2048, 4096, 8192)]
