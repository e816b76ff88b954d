"""What relayed requests share: which dashboard is asked for, may it be, where on it.

Must not contact a dashboard; HTTP and websockets do.
"""

from __future__ import annotations

from jupyter_server.utils import url_path_join
from tornado import web

from dask_diag_lab.proxy.asking import AskingHandler
from dask_diag_lab.proxy.dashboard import Dashboard
from dask_diag_lab.proxy.frames import Frame
from dask_diag_lab.proxy.registry import UnknownDashboardError
from dask_diag_lab.proxy.relay_policy import RefusedError


class RelayedHandler(AskingHandler):
    """A request below ``dashboards/<id>/``."""

    place = "dask-diag-lab/dashboards"

    async def dashboard(self, dashboard_id: str) -> Dashboard:
        """Return the dashboard that is asked for, checked just now.

        Raises
        ------
        RefusedError
            When relaying is switched off or there is none.
        """
        if not self.state.settings.relay:
            raise RefusedError(403, "Showing plots is switched off on this Jupyter server.")
        try:
            return await self.state.dashboards.contactable(dashboard_id)
        except UnknownDashboardError as error:
            raise RefusedError(404, str(error)) from None

    @property
    def root(self) -> str:
        """Path of the dashboard's root here, as the browser wrote it, ending with a slash."""
        return self._parts()[0]

    @property
    def rest(self) -> str:
        """Path on the dashboard, still percent-encoded, without its first slash."""
        return self._parts()[1]

    def _parts(self) -> tuple[str, str]:
        place = f"{url_path_join(self.base_url, self.place)}/"
        path = self.request.path
        if not path.startswith(place):
            raise web.HTTPError(404)
        name, slash, rest = path.removeprefix(place).partition("/")
        return f"{place}{name}{slash}", rest


class FramedHandler(RelayedHandler):
    """A request below ``frames/<key>/``, of a sandboxed page: its key stands for its login."""

    place = "dask-diag-lab/frames"
    frame: Frame

    async def prepare(self, **options: object) -> None:  # noqa: ARG002  # Jupyter's own
        """Let the key speak for the user that it was made for; cookies are not looked at."""
        frame = self.state.frames.find(self.path_args[0]) if self.check_host() else None
        if frame is None:
            self.current_user = self._jupyter_current_user = None
            raise web.HTTPError(403, "This page is no longer open. Open it again from the sidebar.")
        self.frame = frame
        self.current_user = self._jupyter_current_user = frame.user

    def _log(self) -> None:
        """Keep the key, which is in the path, out of the access log."""
