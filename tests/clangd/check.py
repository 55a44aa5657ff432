#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check.py CLANGD SOURCE FLAG...: what clangd shows when the pointer rests on the names in main.cpp.

Ends with 77 where there is no clangd.
"""
import json
import pathlib
import re
import subprocess
import sys

# An expression is shown by its kind and what it goes over, what has elements by its axes.
SHOWN = {
    "scores": r"where_node<",
    "weights": r"reduction<heed::detail::kinds::softmax, axes<key>",
    "context": r"contraction<axes<key>",
    "result": r"^(heed::)?tensor<float, batch, query, d_head>",
    "mean_over_queries": r"\btensor<float, batch, d_head>",
    "part": r"leaf<float, axes<batch, query, d_head>>",
    "shown": r"\bview<const float, batch, query, d_head>",
}


class Server:
    """clangd over a pipe: requests with answers, notifications without."""

    def __init__(self, clangd):
        self.process = subprocess.Popen([clangd, "--log=error", "--background-index=false"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0

    def send(self, method, parameters, **number):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters, **number}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def ask(self, method, parameters):
        self.number += 1
        self.send(method, parameters, id=self.number)
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                sys.exit("clangd ended")
            message = json.loads(self.process.stdout.read(length))
            if message.get("id") == self.number and "method" not in message:
                return message.get("result")


def main():
    clangd, source, *flags = sys.argv[1:]
    try:
        server = Server(clangd)
    except FileNotFoundError:
        print("skipped: there is no clangd")
        return 77
    path = pathlib.Path(source).resolve()
    text = path.read_text(encoding="utf-8")
    server.ask("initialize", {"processId": None, "rootUri": path.parent.as_uri(),
                              "initializationOptions": {"fallbackFlags": flags},
                              "capabilities": {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}}})
    server.send("initialized", {})
    server.send("textDocument/didOpen", {"textDocument": {"uri": path.as_uri(), "languageId": "cpp", "version": 1,
                                                          "text": text}})
    wrong = 0
    for name, wanted in SHOWN.items():
        at = re.search(rf"\b{name} = ", text).start()
        hover = server.ask("textDocument/hover", {
            "textDocument": {"uri": path.as_uri()},
            "position": {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}})
        shown = re.search(r"^Type: (.*)$", hover["contents"]["value"], re.MULTILINE)[1] if hover else "nothing"
        print(f"{name}: {shown}")
        if not re.search(wanted, shown) or len(shown) > 120:
            print(f"  expected, in 120 letters at most: {wanted}")
            wrong += 1
    server.ask("shutdown", None)
    server.send("exit", None)
    server.process.wait(10)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
