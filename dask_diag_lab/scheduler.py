"""``dask scheduler --preload dask_diag_lab.scheduler``: serves diagnostics beside the scheduler.

Prints what ``dask-diag-lab serve`` prints, for a browser on the scheduler's machine; the settings
``diag-lab.host`` and ``diag-lab.port`` say where, the environment variable ``DASK_DIAG_LAB_TOKEN``
what opens it. In a thread with its own event loop, which follows the scheduler over a comm as from
another process: nothing of it runs on the scheduler's loop, and a fault here never ends it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dask_diag_lab.cli import checked_token, serve_until

if TYPE_CHECKING:
    from distributed import Scheduler

    from dask_diag_lab.composition import Composition

# In the scheduler's own log: that of this package has no reader where there is no notebook.
logger = logging.getLogger("distributed.dask_diag_lab")

CLOSE_TIMEOUT_S: Final = 5.0
END_CHECK_S: Final = 0.2

# By the id of their scheduler.
_running: Final[dict[str, tuple[threading.Thread, threading.Event]]] = {}


def dask_setup(scheduler: Scheduler) -> None:
    """Serve live plots beside the scheduler, and print the address that opens them."""
    target, stop = (scheduler.identity(0), scheduler.connection_args), threading.Event()
    thread = threading.Thread(target=_run, args=(target, stop), name="dask-diag-lab", daemon=True)
    _running[scheduler.id] = thread, stop
    thread.start()


async def dask_teardown(scheduler: Scheduler) -> None:
    """End what `dask_setup` began, before the scheduler closes its comms."""
    from dask_diag_lab.server.context import until

    if scheduler.id in _running:
        thread, stop = _running.pop(scheduler.id)
        stop.set()
        # Not in a thread: none can be had any more where Python is ending.
        await until(lambda: not thread.is_alive(), CLOSE_TIMEOUT_S)


def _run(given: tuple[Mapping[str, Any], Any], stop: threading.Event) -> None:
    # Takes longer than the scheduler's loop may wait.
    from dask_diag_lab.composition import Target, dashboard_link, own_listen

    async def end(_: Composition) -> None:
        # Not in a thread of a pool: Python waits for those before it ends.
        while not stop.is_set():  # noqa: ASYNC110  # it is set from another thread
            await asyncio.sleep(END_CHECK_S)

    try:
        token = checked_token(os.environ.get("DASK_DIAG_LAB_TOKEN", ""))
        listen = own_listen()._replace(token=token)
        identity, arguments = given
        address = identity["address"]
        link = dashboard_link(address, identity)
        target = Target(identity["id"], address, arguments, dashboard=link)
        asyncio.run(serve_until(end, target, listen))
    except Exception as error:  # whatever is wrong here, the scheduler comes first
        logger.warning("The diagnostics beside the scheduler ended: %s", error, exc_info=error)
