# SPDX-License-Identifier: BSL-1.0
"""The processes that compute cells: one that answers lines, and all that this machine has.

Next to read: measuring.py, what they are asked.
"""
import importlib.util
import json
import os
import pathlib
import select
import signal
import subprocess
import sys

PEERS = pathlib.Path(__file__).resolve().parent
PATIENCE = 150  # seconds for one answer


class Ended(RuntimeError):
    """A process that died, or did not answer in time."""


class Server:
    """A process that answers lines; stopped while it is not asked."""

    def __init__(self, command, environment, cores):
        self.start = lambda: subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=PEERS,
            stderr=subprocess.DEVNULL, preexec_fn=lambda: hasattr(os, "sched_setaffinity") and os.sched_setaffinity(0, cores))
        self.process = self.start()
        about = self.ask("names")
        self.names, self.versions = about["names"], about["versions"]

    def ask(self, *words):
        line = ""
        try:
            self.process.send_signal(signal.SIGCONT)
            self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], PATIENCE)[0]:
                line = self.process.stdout.readline()
            self.process.send_signal(signal.SIGSTOP)
        except OSError:
            pass
        if not line:
            raise Ended("ended, or did not answer in time")
        return json.loads(line)

    def restart(self):
        self.close()
        self.process = self.start()

    def close(self):
        self.process.kill()
        self.process.wait()


def cores_of(threads):
    """The cores that so many threads are bound to."""
    if not hasattr(os, "sched_getaffinity"):
        return set()
    return set(sorted(os.sched_getaffinity(0))[:threads])


def environment(threads):
    """Threads bound to cores, so that none moves between samples. Choices of kernels that were set for other programs
    (OPENBLAS_*) are dropped: every library finds the processor itself."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    return {**kept, "OMP_PROC_BIND": "true", "OMP_PLACES": "cores", "OMP_NUM_THREADS": str(threads)}


def with_openblas_core(around):
    """OpenBLAS 0.3.21 takes newer processors for a Pentium 4: it is told which kernels fit."""
    flags = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    core = "SKYLAKEX" if "avx512f" in flags else "HASWELL" if "avx2" in flags else ""
    return {**around, "OPENBLAS_CORETYPE": core} if core else around


def start_servers(program, threads, python=True, more=None):
    """bench_server first, then the Python peers whose modules are installed."""
    around = {**environment(threads), **(more or {})}
    cores = cores_of(threads)
    servers = [Server([str(program)], with_openblas_core(around), cores)]
    for script, modules in (("torch_peer.py", ["torch"]), ("onnx_peer.py", ["onnx", "onnxruntime"])):
        missing = [module for module in modules if importlib.util.find_spec(module) is None]
        if not python or missing:
            print(f"{script} is left out" + (f": this python3 has no {', '.join(missing)}" if missing else ""), file=sys.stderr)
            continue
        try:
            servers.append(Server([sys.executable, script], around, cores))
        except (Ended, json.JSONDecodeError, KeyError) as error:
            print(f"{script} is left out: {error}", file=sys.stderr)
    return servers
