"""The extension itself: makes its parts when Jupyter starts and closes them when it stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir
from jupyter_server.extension.application import ExtensionApp

from dask_diag_lab.proxy.handlers import (
    DashboardHandler,
    DashboardsHandler,
    EventsHandler,
    RecordingsHandler,
)
from dask_diag_lab.proxy.policy import Settings
from dask_diag_lab.proxy.records import RecordDiscovery
from dask_diag_lab.proxy.registry import DashboardRegistry
from dask_diag_lab.proxy.relay import FrameHandler, RelayHandler
from dask_diag_lab.proxy.stock import AddressStore

_ID: Final = r"([A-Za-z0-9_-]{1,100})"
_KEY: Final = r"([A-Za-z0-9_-]{1,400})"

# Every route below Jupyter's base URL; the first that matches answers.
ROUTES: Final = (
    (r"dask-diag-lab/api/dashboards", DashboardsHandler),
    (rf"dask-diag-lab/api/dashboards/{_ID}", DashboardHandler),
    (r"dask-diag-lab/api/recordings", RecordingsHandler),
    (r"dask-diag-lab/api/events", EventsHandler),
    (rf"dask-diag-lab/dashboards/{_ID}/(.*)", RelayHandler),
    (rf"dask-diag-lab/frames/{_KEY}/(.*)", FrameHandler),
)


class DaskDiagLab(Settings, ExtensionApp):
    """Live diagnostics for Dask: finds the user's clusters and relays their plots."""

    name = "dask_diag_lab"
    registry: DashboardRegistry

    def initialize_handlers(self) -> None:
        """Make the parts and add the routes."""
        records = RecordDiscovery(Path(jupyter_runtime_dir()), self.log)
        added = AddressStore(Path(jupyter_data_dir()) / "dask-diag-lab" / "dashboards.json")
        self.registry = DashboardRegistry(records, self, added, self._kernels)
        shared: dict[str, Any] = {"registry": self.registry}  # Any: jupyter_server's own type
        self.handlers.extend((pattern, handler, shared) for pattern, handler in ROUTES)

    async def stop_extension(self) -> None:
        """Close every relayed socket and end all looking."""
        await self.registry.close()

    def _kernels(self) -> dict[int, str]:
        """Return the ids of this server's kernels by the numbers of their processes."""
        kernels: dict[int, str] = {}
        manager = self.serverapp.kernel_manager if self.serverapp else None
        if manager is None:
            return kernels
        for kernel_id in manager.list_kernel_ids():
            # There is no number where the kernel runs on another machine.
            provisioner = getattr(manager.get_kernel(kernel_id), "provisioner", None)
            if pid := getattr(provisioner, "pid", None):
                kernels[int(pid)] = str(kernel_id)
        return kernels
