#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check.py GDB PRINTERS PROGRAM: what GDB prints of the variables in main.cpp.

Ends with 77 where GDB can't run here.
"""
import subprocess
import sys

EXPECTED = {
    "weights": "heed::tensor float [query 3, key 40] = {[0, 0] = 0.5, [0, 1] = 1.5, [0, 2] = 2.5, [0, 3] = 3.5, "
               "[1, 0] = 40.5, [1, 1] = 41.5, [1, 2] = 42.5, [1, 3] = 43.5, "
               "[2, 0] = 80.5, [2, 1] = 81.5, [2, 2] = 82.5, [2, 3] = 83.5, of = 120}",
    "fixed": "heed::tensor int [width<3> 3] = {[0] = 7, [1] = -8, [2] = 9}",
    "turned": "heed::view float [key 2, query 2] = {[0, 0] = 0.5, [0, 1] = 40.5, [1, 0] = 1.5, [1, 1] = 41.5}",
    "mask": "heed::tensor bool [hidden_tag 2] = {[0] = false, [1] = true}",
    "empty": "heed::tensor double [query 0], empty",
    "single": "heed::tensor float [] = {[] = 2.5}",
    "narrow": "heed::tensor bf16 [key 2] = {[0] = 1.5, [1] = -3}",
    "half": "0.375",
    "extent": "query{17}",
    "known": "width<3>{3}",
}


def main():
    gdb, printers, program = sys.argv[1:]
    commands = ["set confirm off", "set width 0", "set print pretty off", "set startup-with-shell off",
                f"source {printers}", "break here", "run", "up"]
    for name in EXPECTED:
        commands += [f"echo <{name}>", f"output {name}", "echo \\n"]
    line = [gdb, "--nx", "--batch", program]
    for command in commands:
        line += ["-ex", command]
    try:
        result = subprocess.run(line, capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        print("skipped: there is no GDB")
        return 77
    if "ptrace" in result.stderr or "Scripting in the \"Python\" language is not supported" in result.stderr:
        print("skipped: GDB may not run a program here, or knows no Python")
        return 77

    wrong = 0
    printed = dict(line[1:].split(">", 1) for line in result.stdout.splitlines() if line.startswith("<"))
    for name, expected in EXPECTED.items():
        if printed.get(name) != expected:
            print(f"{name}:\n  printed  {printed.get(name)}\n  expected {expected}")
            wrong += 1
    if wrong:
        print(result.stdout, result.stderr, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
