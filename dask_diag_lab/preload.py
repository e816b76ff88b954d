"""What Dask runs for each client (``distributed.client.preload``): attaches in Jupyter kernels.

Must print nothing, and never make ``Client()`` or its ``close`` fail or wait for long.
"""

from __future__ import annotations

import logging
import multiprocessing
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger(__name__)


def dask_setup(client: Client) -> None:
    """Attach diagnostics to `client` if this is a Jupyter kernel and the user has not said no."""
    import dask

    try:
        if dask.config.get("diag-lab.auto-attach", True) and is_in_kernel():
            from dask_diag_lab.session import attach_quietly

            attach_quietly(client)
            _show_links()
    except Exception as error:  # whatever is wrong here, the user's client comes first
        logger.warning("Dask diagnostics were not attached: %s", error, exc_info=error)


async def dask_teardown(client: Client) -> None:
    """Bring the history that outlives `client` up to the moment before it closes."""
    session = sys.modules.get("dask_diag_lab.session")  # not there: nothing was ever attached
    if session is None:
        return
    try:
        await session.final_pull(client)
    except Exception as error:  # as above
        logger.warning("The history of a client may lack its end: %s", error, exc_info=error)


def _show_links() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    from dask_diag_lab.notebook import add_magic
    from dask_diag_lab.notebook.client_repr import add_formatters

    add_formatters(InteractiveShell.instance())
    add_magic(InteractiveShell.instance())


def is_in_kernel() -> bool:
    """Return whether this process is a Jupyter kernel, and not a worker forked from one."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None and multiprocessing.parent_process() is None
