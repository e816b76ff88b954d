"""Programs in processes of their own, so that what they cost is not mixed up with the measuring.

``python -m benchmarks.program stock.status_page 1000 6``: a function of this package that is an
asynchronous context manager and gives what its process prints first, and an answer to each line.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

Served = AsyncIterator[tuple[object, Callable[[], object]]]
"""What a program gives: JSON values that tell where it is, and the answer to a line."""


class Program:
    """A program that runs.

    Attributes
    ----------
    info : Any
        What it printed when it was ready; its shape is the program's.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.info = self._answer()

    def ask(self) -> Any:
        """Return its answer to a line."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            msg = f"{self._process.args!r:.200} ended; its error is above"
            raise RuntimeError(msg)
        return json.loads(line)


@contextmanager
def running(name: str, *arguments: object) -> Iterator[Program]:
    """Run a program of this package until the context ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.program", name, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Program(process)
    finally:
        process.communicate(timeout=60)


async def _serve(name: str, *arguments: str) -> None:
    module, _, function = name.partition(".")
    program = getattr(import_module(f"benchmarks.{module}"), function)
    async with program(*arguments) as (info, answer):
        print(json.dumps(info), flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(answer()), flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
