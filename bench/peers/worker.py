# SPDX-License-Identifier: BSL-1.0
"""The side of a Python peer: answers ../run line by line, in the language that server.cpp describes.

Next to read: torch_peer.py.
"""
import gc
import json
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


def status(name):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return float(line.split()[1]) * 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


def serve(makers, set_threads):
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
        del result, work
        gc.collect()
        # Made once more, with all libraries warm: what it adds beyond its inputs.
        before = status("VmRSS")
        try:
            pathlib.Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            pass
        work = makers[name](cell, folder)
        work()
        more = status("VmHWM") - before - sum(file.stat().st_size for file in pathlib.Path(folder).glob("*.f32"))
        ready[name] = work
        return {"first": seconds, "memory": max(0, more)}

    def sample(name, threads, wanted):
        set_threads(int(threads))
        work, wanted = ready[name], float(wanted)
        # With one thread another program that takes its core now and then does not count.
        clock = time.process_time if int(threads) == 1 else time.perf_counter
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
                answer = {"names": list(makers)}
            elif verb == "inputs":
                ready.clear()
                folder = words[0]
                cell = Cell("", words[1], *(int(word) for word in words[2:]))
                answer = {}
            elif verb == "prepare":
                answer = prepare(*words)
            elif verb == "sample":
                answer = sample(*words)
            else:
                answer = {"error": f"no such verb: {verb}"}
        except Exception as error:  # noqa: BLE001: whatever a peer throws is its answer
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)
