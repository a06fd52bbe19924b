"""Readers that do to a worker what hostile files do to a parser; the first word of a file says which."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from retrieval.types import Block, Document, Grid


def document(text: str) -> Document:
    return Document(text, "text", (Block(text, line=1),), (Grid("t", ("a",), (("1",), (None,))),), metadata={"k": "v"})


def read(path: Path) -> Iterator[Document]:
    word, _, rest = path.read_text().partition(" ")
    match word:
        case "yield":
            for n in range(int(rest)):
                yield document(f"{path.name} {n}")
        case "many":
            for n in range(int(rest)):
                (path.parent / "progress").write_text(str(n))
                yield Document(str(n), "text", (Block("x" * 100_000),))
        case "segfault":
            ctypes.string_at(0)
        case "segfault-after":
            yield document("before")
            ctypes.string_at(0)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(7)
        case "sys-exit":
            sys.exit(3)
        case "loop":
            while True:
                pass
        case "loop-in-c":
            re.fullmatch(r"(a+)+b", "a" * 60)  # holds the interpreter's lock: no other thread could end it
        case "memory":
            yield Document("x" * (1 << 33), "text")
        case "memory-bit-by-bit":
            held = []
            while True:
                held.append(bytearray(1 << 20))
        case "recursion":
            next(read(path))
        case "fault":
            raise KeyError("part")
        case "sleep":
            time.sleep(float(rest))
            yield document("slept")
        case "child":
            child = subprocess.Popen(["sleep", "600"])
            (path.parent / "child").write_text(str(child.pid))
            time.sleep(600)
        case "harm":
            globals()["harmed"] = True
            yield document("harm")
        case "brittle":
            if globals().get("harmed"):
                ctypes.string_at(0)
            yield document("brittle")
        case "grow":
            held = [bytearray(1 << 20) for _ in range(int(rest))]
            yield document(str(len(held)))
        case "pid":
            yield document(f"{os.getpid()} {sorted(os.environ)}")
