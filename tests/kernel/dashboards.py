"""The dashboard of a real cluster: where it is, what it answers; and a small cluster with one."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from distributed import Client, LocalCluster

import dask_diag_lab
from dask_diag_lab.session import Diagnostics
from tests.kernel.serving import wait_until

LIMIT_S = 60.0


class Address(NamedTuple):
    """Where a dashboard is, and what opens it."""

    url: str
    token: str


def address_of(diagnostics: Diagnostics) -> Address:
    """Return address and token of a dashboard, once it serves."""
    url, _, token = diagnostics.url.partition("/status?token=")
    return Address(url, token)


def answer_of(diagnostics: Diagnostics, path: str) -> Any:
    """Return the parsed answer of a dashboard.

    Raises
    ------
    urllib.error.HTTPError
        It has another status than 200.
    """
    return answer_at(*address_of(diagnostics), path)


def answer_at(url: str, token: str, path: str) -> Any:
    """Return the parsed answer of the dashboard at an address to somebody with a token."""
    request = urllib.request.Request(f"{url}{path}", headers={"Authorization": f"token {token}"})
    with urllib.request.urlopen(request, timeout=LIMIT_S) as reply:
        return json.load(reply)


@contextmanager
def attached_client(n_workers: int = 1) -> Iterator[Client]:
    """Yield a client with diagnostics, of workers in this process with a thread each."""
    options: dict[str, Any] = {"processes": False, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, threads_per_worker=1, **options) as cluster:
        with Client(cluster) as client:
            diagnostics = dask_diag_lab.attach(client)
            yield client
        wait_until(lambda: diagnostics.is_closed, "it outlives its client")
