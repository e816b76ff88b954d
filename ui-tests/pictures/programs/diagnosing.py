"""Runs the code of docs/diagnosing.md up to one of its blocks, on a real cluster.

Takes the number of the block; prints one line of JSON when its work is done: the address and token
of the plots, and the seconds that the block took. Ends when its input closes.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster

import dask_diag_lab

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "diagnosing.md"
_ONLY_DEFINED = "means = "
"""Of blocks before the last one this line is left out: only the last one's work is to be seen."""


def main(number: int) -> None:
    """Run the last of ``number`` blocks with what the ones before it define."""
    blocks = [part.split("```")[0] for part in _PAGE.read_text("utf-8").split("```python\n")[1:]]
    *before, last = blocks[:number]
    cluster = LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        url, _, token = dask_diag_lab.attach(client).url.partition("/status?token=")
        names: dict[str, Any] = {"client": client}  # whatever the blocks define
        for block in before:
            exec(block.split("cleaned = ")[0].split(_ONLY_DEFINED)[0], names)  # noqa: S102
        client.submit(int).result()
        began = time.perf_counter()
        exec(last, names)  # noqa: S102
        seconds = round(time.perf_counter() - began, 1)
        print(json.dumps({"url": url, "token": token, "seconds": seconds}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]))
