"""``transfers``: what workers sent to each other, as they remember it, as a pandas frame."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

from dask_diag_lab.capture import import_pandas
from dask_diag_lab.capture.task_rows import TIMEOUT_S
from dask_diag_lab.transport.link import LinkLostError

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.session import Diagnostics


def transfers(client: Client | None = None) -> Any:  # a DataFrame, or a coroutine that returns one
    """Return the transfers between workers as a `pandas.DataFrame`, in the order of their ends.

    They come from the logs that the workers keep of the last ones they received and sent:
    ``distributed.admin.low-level-log-length`` of each, less of each where there are many workers.
    A transfer between two workers is in the logs of both, and so in two rows. What P2P shuffles
    move is in no log.

    Parameters
    ----------
    client : distributed.Client, optional
        Default: the current client. An asynchronous one gets a coroutine.

    Returns
    -------
    pandas.DataFrame
        ``worker`` and ``peer`` (addresses; '' for a client), ``direction`` ("received" by
        ``worker`` or "sent" by it), ``start`` and ``stop`` (UTC without a time zone, as
        `MemorySampler.to_pandas` has it; on the scheduler's clock, whatever the worker's says),
        ``duration`` (seconds), ``nbytes``,
        ``compressed`` (bytes on the wire; NaN where unknown, as for all that was received),
        ``bandwidth`` (bytes a second), ``keys`` (how many) and ``key`` (the largest one as text).

    Warns
    -----
    RuntimeWarning
        Workers did not answer, or logs are longer than what was fetched.

    Raises
    ------
    ImportError
        pandas is not installed.
    ValueError
        There is no client.
    RuntimeError
        The client is not connected, or its cluster does not answer.
    """
    from distributed import default_client

    from dask_diag_lab.session import attach

    client = default_client() if client is None else client
    diagnostics = attach(client)
    return asyncio.to_thread(_frame, diagnostics) if client.asynchronous else _frame(diagnostics)


def _frame(diagnostics: Diagnostics) -> Any:  # a DataFrame
    from dask_diag_lab.views.stream.transfers import read_log

    pd = import_pandas("transfers")
    try:
        answer = diagnostics.query("transfers", worker="").result(TIMEOUT_S)
    except (LinkLostError, TimeoutError) as error:
        why = str(error) or f"no answer in {TIMEOUT_S:g} s"
        raise RuntimeError(f"The transfers cannot be read: {why}") from error
    notes = [f"{worker} did not answer: {why}" for worker, why in answer["missing"].items()]
    if sum(answer["totals"].values()) > len(answer["rows"]):
        notes.append(f"the newest {answer['limit']} of each worker and direction are here, not all")
    if notes:
        warnings.warn(f"Transfers are missing: {'; '.join(notes):.2000}", RuntimeWarning, 3)
    log = read_log(answer)
    log |= {name: pd.to_datetime(log[name], unit="s") for name in ("start", "stop")}
    frame = pd.DataFrame(log).drop(columns=["is_incoming", "ratio"])
    frame = frame.rename(columns={"seconds": "duration", "rate": "bandwidth"})
    return frame.astype({"nbytes": "int64", "keys": "int64"})
