# SPDX-License-Identifier: BSL-1.0
"""Runs a program under many settings of OpenMP and compares what it prints.

    check.py PROGRAM

Every line is "FORMULA | CALLER | BITS". Each formula must have the same bits in every line of every process.
"""
import os
import subprocess
import sys

SETTINGS = [
    {},
    {"OMP_NUM_THREADS": "1"},
    {"OMP_NUM_THREADS": "3"},
    {"OMP_NUM_THREADS": "64"},
    {"OMP_DYNAMIC": "true"},
    {"OMP_DYNAMIC": "true", "OMP_NUM_THREADS": "7"},
    {"OMP_THREAD_LIMIT": "1"},
    {"OMP_THREAD_LIMIT": "3", "OMP_NUM_THREADS": "8"},
    {"OMP_NUM_THREADS": "2,3", "OMP_MAX_ACTIVE_LEVELS": "2"},
    {"OMP_SCHEDULE": "static", "OMP_WAIT_POLICY": "passive", "OMP_PROC_BIND": "true"},
]
LINES = 4 * (5 + 16 + 2 * 5)


def main():
    program = sys.argv[1]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_"))}
    keep = {name: value for name, value in os.environ.items() if name == "OMP_TOOL_LIBRARIES"}
    want, failures = {}, 0
    for setting in SETTINGS:
        name = " ".join(f"{k}={v}" for k, v in setting.items()) or "no settings"
        run = subprocess.run([program], env={**plain, **keep, **setting}, capture_output=True, text=True, check=False,
                             timeout=300)
        lines = run.stdout.splitlines()
        if run.returncode != 0 or len(lines) != LINES:
            print(f"{name}: exit code {run.returncode}, {len(lines)} lines where {LINES} are right\n{run.stderr}")
            failures += 1
            continue
        wrong = 0
        for line in lines:
            formula, caller, bits = line.split(" | ")
            if want.setdefault(formula, bits) != bits:
                print(f"{name}: {formula}, {caller} has bits {bits}, where {want[formula]} came first")
                wrong += 1
        failures += wrong > 0
        print(f"{name}: {len(lines) - wrong} of {len(lines)} lines as in the plain run")
    return 1 if failures or not want else 0


if __name__ == "__main__":
    sys.exit(main())
