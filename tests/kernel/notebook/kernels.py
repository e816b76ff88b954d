"""Real kernels, as a notebook has them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from jupyter_client.manager import KernelManager

import dask_diag_lab

ROOT = Path(__file__).resolve().parents[3]
CONFIG = Path(str(dask_diag_lab.__file__)).parent / "dask_diag_lab.yaml"
Message = dict[str, Any]  # of Jupyter's protocol


class Kernel:
    """A kernel and its client."""

    def __init__(self, manager: KernelManager) -> None:
        self.manager = manager
        self.client = manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def messages_until_idle(self, cell: str) -> list[Message]:
        """Return all messages up to the end of a cell, of whatever parent."""
        messages: list[Message] = []
        while True:
            found = self.client.get_iopub_msg(timeout=60)
            is_of_cell = found["parent_header"].get("msg_id") == cell
            if is_of_cell and found["content"].get("execution_state") == "idle":
                return messages
            messages.append(found)

    def outputs_until_idle(self, cell: str) -> list[Message]:
        """Return what a cell has put out; waits until it has ended."""
        return [
            found["content"]
            for found in self.messages_until_idle(cell)
            if found["parent_header"].get("msg_id") == cell
            and found["msg_type"] not in ("status", "execute_input")
        ]

    def run(self, code: str) -> list[Message]:
        return self.outputs_until_idle(self.client.execute(code))

    def value(self, code: str) -> str:
        """Return the repr of what the last line of a cell is."""
        (shown,) = self.run(code)
        return str(shown["data"]["text/plain"])

    def stop(self) -> None:
        """End it as Jupyter does; harmless twice."""
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel()


@contextmanager
def running_kernel(runtime_dir: Path) -> Iterator[Kernel]:
    """Start a kernel whose records are in a folder that is not there yet, and stop it."""
    manager = KernelManager(kernel_name="python3")
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv[0] = sys.executable
    runtime_dir.mkdir()
    manager.connection_file = str(runtime_dir / f"kernel-{uuid4()}.json")  # as Jupyter names it
    environment = {
        "PYTHONPATH": str(ROOT),
        "DASK_CONFIG": str(CONFIG),
        "DASK_LOGGING__DISTRIBUTED": "error",  # a busy machine has it warn in cells
        "JPY_SESSION_NAME": "/home/me/notes/analysis.ipynb",
        "JUPYTER_RUNTIME_DIR": str(runtime_dir),
    }
    manager.start_kernel(env={**os.environ, **environment})
    kernel = Kernel(manager)
    yield kernel
    kernel.stop()
    manager.cleanup_resources()
