"""A plot's data as columns or as a file, read from the address at which any program may read it.

Must not touch the history: what is served is made off the loop, and sent in parts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Final, cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

import fsspec

from dask_diag_lab.capture.task_rows import TIMEOUT_S
from dask_diag_lab.views.view import Table

if TYPE_CHECKING:
    from dask_diag_lab.session import Diagnostics

_KIND: Final = re.compile(r"\.((?:(?:trace|speedscope)\.)?json|\w+)(?:\.(?:gz|bz2|xz|zip|zst))?$")


def table(diagnostics: Diagnostics, plot: str, arguments: Mapping[str, str]) -> Table:
    """Read the columns of a plot; see `Diagnostics.table`."""
    with _fetch(diagnostics, plot, "json", arguments) as reply:
        answer = json.load(reply)
    return Table(answer["columns"], answer["units"], answer["note"])


def export(
    diagnostics: Diagnostics, plot: str, path: str | os.PathLike[str], arguments: Mapping[str, str]
) -> None:
    """Write the file of a plot as it comes; see `Diagnostics.export`."""
    kind = "".join(_KIND.findall(os.fspath(path)))
    with (
        _fetch(diagnostics, plot, kind, arguments) as reply,
        fsspec.open(path, "wb", compression="infer", auto_mkdir=False) as file,
    ):
        shutil.copyfileobj(reply, file)


def _fetch(
    diagnostics: Diagnostics, plot: str, kind: str, arguments: Mapping[str, str]
) -> HTTPResponse:
    """Return the answer of the server; its reasons are errors here."""
    root, _, token = diagnostics.url.partition("/status?token=")
    address = f"{root}/plots/{quote(plot, safe='')}.{kind}?{urlencode(arguments)}"
    request = Request(address, headers={"Authorization": f"token {token}"})  # noqa: S310  # http
    opener = build_opener(ProxyHandler({}))  # a proxy for the network is none for this machine
    try:
        return cast("HTTPResponse", opener.open(request, timeout=TIMEOUT_S))  # it is HTTP
    except HTTPError as error:
        kinds = ValueError if error.code < 500 else RuntimeError
        raise kinds(error.read().decode().strip()) from None
    except URLError as error:
        raise RuntimeError(f"These Dask diagnostics do not answer: {error.reason}.") from error
