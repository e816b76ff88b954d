"""A real cluster with something to see in every plot; ends when its input closes.

Prints one line of JSON: the address and token of its plots, and what pages of one thing show.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import dask
import dask.array as da
from distributed import Client, LocalCluster, span, wait

import dask_diag_lab

_SETTINGS = {
    "distributed.worker.memory.target": 0.5,
    "distributed.worker.memory.spill": 0.6,
    "distributed.diagnostics.computations.max-history": 100,
    "distributed.scheduler.allowed-failures": 0,
    "array.rechunk.method": "p2p",
}


def load(part: int) -> int:
    """Wait as for a file and then compute a little."""
    time.sleep(0.03)
    return sum(range(200_000)) + part


def clean(value: int) -> int:
    """Compute with Python alone, which holds the interpreter."""
    return sum(i * i for i in range(150_000)) + value


def parse(part: int) -> int:
    """Fail for some parts."""
    if part % 9 == 4:
        raise ValueError(f"Part {part} has no header")
    return part


def tiny(number: int) -> int:
    """Take less than what starting a task takes."""
    return number + 1


def larger(numbers: range) -> int:
    """Do in one task what hundreds of tiny ones do."""
    return sum(map(tiny, numbers)) + sum(range(2_000_000))


def die(_: int) -> None:
    """Kill the worker that runs this."""
    os.kill(os.getpid(), signal.SIGKILL)


def short_runs(client: Client) -> tuple[int, int]:
    """Compute the same in tiny pieces and in large ones; return the numbers of both runs."""
    with dask_diag_lab.run("a number a task") as first:
        wait(client.map(tiny, range(3000)))
    with dask_diag_lab.run("300 numbers a task") as second:
        wait(client.map(larger, [range(at, at + 300) for at in range(0, 3000, 300)]))
    return first.number, second.number


def work(client: Client) -> None:
    """Run rounds of everything until the process ends."""
    number = 0
    while client.status == "running":
        number += 1
        with contextlib.suppress(Exception), span("analysis", f"round {number}"):
            one_round(client, number)


def one_round(client: Client, number: int) -> None:
    """Load, clean, fail, shuffle and spill; in the second round a worker dies."""
    with span("load and clean"):
        loaded = client.map(load, range(number * 1000, number * 1000 + 120), retries=0)
        cleaned = client.map(clean, loaded)
        wait(cleaned)
    with span("arrays"):
        size = 6000
        x = da.random.random((size, size), chunks=(1000, size))
        y = x.rechunk((size, 1000)).persist()
        wait(y)
        total = (y + y.T).sum().persist()
        wait(total)
        del y
    failing = client.map(parse, range(number * 1000, number * 1000 + 30))
    wait(failing)
    if number == 2:
        wait(client.submit(die, number, retries=0))


def main() -> None:
    """Serve until standard input closes."""
    dask.config.set(_SETTINGS)
    with (
        LocalCluster(
            n_workers=4,
            threads_per_worker=2,
            memory_limit="640 MiB",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        diagnostics = dask_diag_lab.attach(client)
        parts = urlsplit(diagnostics.url)
        before, after = map(str, short_runs(client))
        example = client.submit(load, -1, pure=False)
        where: dict[str, Any] = {
            "url": f"{parts.scheme}://{parts.netloc}",
            "token": parse_qs(parts.query)["token"][0],
            "arguments": {
                "task": {"key": example.key},
                "findings": {"run": before},
                "compare": {"before": before, "after": after},
            },
        }
        print(json.dumps(where), flush=True)
        threading.Thread(target=work, args=(client,), daemon=True).start()
        sys.stdin.read()


if __name__ == "__main__":
    main()
