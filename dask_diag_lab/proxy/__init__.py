"""The Jupyter server extension: finds the user's dashboards and relays them to the browser.

Must not import any other part of dask_diag_lab, nor bokeh, distributed or numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.extension.application import ExtensionApp


def _jupyter_server_extension_points() -> list[dict[str, str | type[ExtensionApp]]]:
    """Tell Jupyter where the extension is; the application is imported only when asked for."""
    from dask_diag_lab.proxy.extension import DaskDiagLab

    return [{"module": "dask_diag_lab.proxy", "app": DaskDiagLab}]
