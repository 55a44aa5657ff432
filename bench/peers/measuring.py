# SPDX-License-Identifier: BSL-1.0
"""One cell: its inputs, each implementation run once and found right, then timed in turns.

Next to read: report.py, what becomes of the figures.
"""
import dataclasses
import json
import pathlib
import statistics
import time

import numpy

import reference
from servers import Ended

STEADY = 0.05  # how far the peak may move around one sample
TRIES = 4
ROUNDS = 15
TOLERANCE = 2e-4  # of the largest value of the result
SLOW = 0.3  # seconds from which on a run needs no other before it
# Scores beyond which compositions that store them are left out: they take seconds, and the best of their kind stays.
MOST_SCORES = {"eigen": 1e8, "xtensor": 1e8, "torch_textbook": 1e8, "unfused": 4e8, "openblas": 4e8, "onednn": 4e8,
               "onnx_attention": 4e8}


def is_lack(cell, error):
    """Whether an implementation says that it has nothing for the cell: no fault of its."""
    return error.startswith(("Unsupported", cell.kind, "grouped heads"))


def takes_part(name, cell):
    return not cell.is_attention or cell.batch * cell.heads * cell.queries * cell.keys <= MOST_SCORES.get(name, float("inf"))


def give_inputs(servers, cell, folder):
    """The cell, with the extents that its inputs decide."""
    for old in [*pathlib.Path(folder).glob("*.f32"), *pathlib.Path(folder).glob("*.out")]:
        old.unlink()
    for server in servers:
        answer = server.ask("inputs", folder, cell.line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        if server is servers[0]:
            cell = dataclasses.replace(cell, queries=answer["queries"], keys=answer["keys"])
    return cell


def prepare(servers, cell, threads, folder):
    """The implementations that have the cell, each run once and compared with the formula in float64 and with `unfused`:
    {name: (server, what it answered)}, and why others are left out."""
    ready, wrong, whole = {}, {}, None
    index, exact = reference.expected(cell, folder)
    order = [(server, name) for server in servers for name in server.names if takes_part(name, cell)]
    order.sort(key=lambda each: each[1] != "unfused")
    for server, name in order:
        try:
            answer = server.ask("prepare", name, threads)
        except Ended as error:
            wrong[name] = str(error)
            server.restart()
            server.ask("inputs", folder, cell.line)
            for other in [other for other, (owner, _) in ready.items() if owner is server]:
                server.ask("prepare", other, threads)
            continue
        if "error" in answer:
            if not is_lack(cell, answer["error"]):
                wrong[name] = answer["error"]
            continue
        result = numpy.fromfile(pathlib.Path(folder) / f"{name}.out", dtype=numpy.float32).reshape(reference.shape_of(cell))
        whole = result if whole is None else whole
        largest = float(numpy.max(numpy.abs(exact)))
        answer["error"] = float(numpy.max(numpy.abs(result[index] - exact))) / largest
        far = max(answer["error"], float(numpy.max(numpy.abs(result - whole))) / largest)
        if not far <= TOLERANCE:
            wrong[name] = f"differs by {far:.1e} of the largest value"
            continue
        ready[name] = (server, answer)
    return ready, wrong


def steady_sample(yardstick, server, name, threads, seconds, before, patience):
    """Seconds of a run, the peak around it, and how often it was taken again since the peak moved; for so many seconds."""
    end = time.monotonic() + patience
    for attempt in range(TRIES):
        peak = yardstick.ask("peak", threads)["rate"]
        taken = server.ask("sample", name, threads, seconds, before)["seconds"]
        after = yardstick.ask("peak", threads)["rate"]
        if abs(after / peak - 1) <= STEADY or time.monotonic() > end:
            break
    return taken, (peak + after) / 2, attempt


def measure(servers, cell, threads, seconds, folder):
    """About `seconds` long, longer where that is not enough for two samples of each (one, where a run takes a second)."""
    start = time.monotonic()
    cell = give_inputs(servers, cell, folder)
    ready, wrong = prepare(servers, cell, threads, folder)
    if "heed" not in ready:
        raise RuntimeError(f"heed: {wrong.get('heed', 'is missing')}")
    yardstick, share = servers[0], seconds / len(ready)
    taken = {name: [] for name in ready}
    peaks, spent, again = {name: [] for name in ready}, dict.fromkeys(ready, 0.0), 0
    for turn in range(ROUNDS):
        late = turn > 0 and time.monotonic() - start > seconds
        wanted = [name for name in ready if turn == 0 or (turn == 1 and taken[name][-1] < 1) or (spent[name] < share and not late)]
        for name in wanted:
            begun = time.monotonic()
            server, answer = ready[name]
            # A sample is long enough for the clock and short enough for several rounds.
            long = (taken[name][-1] if taken[name] else answer["first"]) > SLOW
            time_taken, peak, tries = steady_sample(yardstick, server, name, threads, min(0.2, max(0.02, share / 9)), int(not long),
                                                    share)
            taken[name].append(time_taken)
            peaks[name].append(peak)
            again += tries
            spent[name] += time.monotonic() - begun
    read = max(yardstick.ask("read", threads, cell.bytes())["rate"] for _ in range(5))
    result = {"cell": cell.name, "kind": cell.kind, "threads": threads, "operations": cell.operations(),
              "bytes": cell.bytes(), "read_rate": read, "samples_taken_again": again, "wrong": wrong, "measured": {}}
    for name, (_, answer) in ready.items():
        rates = [cell.operations() / t / peak for t, peak in zip(taken[name], peaks[name])]
        result["measured"][name] = {
            "median": statistics.median(taken[name]), "lowest": min(taken[name]), "highest": max(taken[name]),
            "samples": len(taken[name]), "share_of_peak": statistics.median(rates), "first_run": answer["first"],
            "error": answer["error"]}
    return result


def memory_of(servers, cell, threads, folder, names):
    """The bytes by which a run of each raises its process, its inputs not counted."""
    cell = give_inputs(servers, cell, folder)
    found = {}
    for server in servers:
        for name in [name for name in server.names if name in names]:
            try:
                answer = server.ask("memory", name, threads)
            except (Ended, json.JSONDecodeError):
                server.restart()
                server.ask("inputs", folder, cell.line)
                continue
            if "memory" in answer:
                found[name] = answer["memory"]
    return found
