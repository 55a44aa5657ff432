# SPDX-License-Identifier: BSL-1.0
"""The side of a Python peer: answers ../run line by line, in the language that server.cpp describes; and its inputs.

Next to read: torch_peer.py.
"""
import gc
import json
import os
import pathlib
import resource
import sys
import time

import numpy

from cells import Cell


class Unsupported(Exception):
    """The peer has nothing for this kind of cell."""


def load(folder, name, *shape):
    return numpy.fromfile(pathlib.Path(folder) / f"{name}.f32", dtype=numpy.float32).reshape(shape)


def operands(cell, folder):
    """q, k and v."""
    memory = (cell.batch, cell.kv_heads, cell.keys, cell.width)
    return [load(folder, "q", cell.batch, cell.heads, cell.queries, cell.width),
            load(folder, "k", *memory), load(folder, "v", *memory)]


def additive(cell, folder):
    """What is added to the scores, exclusions as -infinity: [batch or 1, heads or 1, queries, keys], or None."""
    if cell.kind == "bias":
        return load(folder, "bias", 1, cell.heads, cell.queries, cell.keys)
    kept = cell.kept()
    if kept is None:
        return None
    added = numpy.float32(0)
    if cell.kind == "alibi":
        query, key = numpy.arange(cell.queries)[:, None] + cell.keys - cell.queries, numpy.arange(cell.keys)
        added = cell.slopes()[:, None, None] * (key - query).astype(numpy.float32)
    return numpy.where(kept[:, None], added, numpy.float32(-numpy.inf))


def model_weights():
    """The tensors of all-MiniLM-L6-v2, by name."""
    data = (pathlib.Path(os.environ["HEED_BENCH_MODEL"]) / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            tensors[name] = numpy.frombuffer(data, numpy.float32, (end - begin) // 4, start + begin).reshape(entry["shape"])
    return tensors


def status(name):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return float(line.split()[1]) * 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


def serve(makers, set_threads, versions):
    """makers: name to function(cell, folder), which gives a function that computes the cell and returns a NumPy array or
    something that numpy.asarray takes."""
    folder, cell, ready = None, None, {}

    def prepare(name, threads):
        set_threads(int(threads))
        start = time.perf_counter()
        work = makers[name](cell, folder)
        result = work()
        seconds = time.perf_counter() - start
        numpy.ascontiguousarray(numpy.asarray(result), dtype=numpy.float32).tofile(pathlib.Path(folder) / f"{name}.out")
        ready[name] = work
        return {"first": seconds}

    def memory(name, threads):
        set_threads(int(threads))
        ready.clear()
        makers[name](cell, folder)()  # what a library sets up once does not count
        gc.collect()
        before = status("VmRSS")
        try:
            pathlib.Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            pass
        makers[name](cell, folder)()
        more = status("VmHWM") - before - sum(file.stat().st_size for file in pathlib.Path(folder).glob("*.f32"))
        return {"memory": max(0, more)}

    def sample(name, threads, wanted, before):
        set_threads(int(threads))
        work, wanted = ready[name], float(wanted)
        # With one thread another program that takes its core now and then does not count.
        clock = time.process_time if int(threads) == 1 else time.perf_counter
        for _ in range(int(before)):
            work()
        runs, start = 0, clock()
        while True:
            work()
            runs += 1
            seconds = clock() - start
            if seconds >= wanted:
                return {"seconds": seconds / runs, "runs": runs}

    for line in sys.stdin:
        verb, *words = line.split()
        try:
            if verb == "names":
                answer = {"names": list(makers), "versions": versions}
            elif verb == "inputs":
                ready.clear()
                gc.collect()
                folder = words[0]
                cell = Cell("", words[1], *(int(word) for word in words[2:]))
                answer = {}
            elif verb == "prepare":
                answer = prepare(*words)
            elif verb == "memory":
                answer = memory(*words)
            elif verb == "sample":
                answer = sample(*words)
            else:
                answer = {"error": f"no such verb: {verb}"}
        except Exception as error:  # noqa: BLE001: whatever a peer throws is its answer
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)
