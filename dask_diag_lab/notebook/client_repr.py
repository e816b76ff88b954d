"""What a notebook shows of a client and of a cluster: their facts, and links that work there.

IPython's formatters show it in the place of Dask's own, so that the classes stay as they are.
``get_ipython().display_formatter.formatters["text/html"].pop(Client)`` brings Dask's own back.
Must not carry a token or an address of ours: notebooks are saved and shared. The buttons name a
dashboard by its id, and the Lab extension knows how it is reached from where the user sits.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from distributed import Client, Scheduler
from distributed.deploy.cluster import Cluster
from distributed.utils import format_dashboard_link
from tornado.template import Loader

from dask_diag_lab.session import diagnostics_of
from dask_diag_lab.views.format import binary

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

logger = logging.getLogger(__name__)

MAX_WORKERS: Final = 20
ANSWER_TIMEOUT_S: Final = 2.0

_TEMPLATES: Final = Loader(str(Path(__file__).parent / "templates"))


@cache
def add_formatters(shell: InteractiveShell) -> None:
    """Make ``shell`` show clients and clusters our way, once: who removes it is heeded."""
    if shell.display_formatter is not None:
        shell.display_formatter.formatters["text/html"].for_type(Client, client_html)
        shell.display_formatter.ipython_display_formatter.for_type(Cluster, show_cluster)


def client_html(client: Client) -> str:
    """Return what is shown of a client; Dask's own repr of one that is not connected.

    A subclass with a repr of its own keeps it.
    """
    if client.status == "running" and type(client)._repr_html_ is Client._repr_html_:
        try:
            info: Mapping[str, Any] = client._scheduler_identity  # an earlier answer
            scheduler: Any = client.scheduler
            own = getattr(client.cluster, "scheduler", None)
            if not client.asynchronous:
                asked = {"n_workers": MAX_WORKERS, "callback_timeout": ANSWER_TIMEOUT_S}
                with suppress(OSError, TimeoutError):
                    info = client.sync(scheduler.identity, **asked)
            elif isinstance(own, Scheduler):  # on this loop, which cannot be waited for
                info = own.identity(MAX_WORKERS)
            return _html(client, info)
        except Exception as error:  # whatever is wrong here, a cell shows no traceback of ours
            logger.warning("A client is shown as Dask does: %s", error, exc_info=error)
    return str(client._repr_html_())


def show_cluster(cluster: Cluster) -> None:
    """Show facts and links of a cluster, then Dask's own widget, which scales it."""
    from IPython.display import HTML, display

    try:
        if cluster.status.name == "running":
            display(HTML(_html(cluster, cluster.scheduler_info)))
    except Exception as error:  # as above
        logger.warning("A cluster is shown as Dask does: %s", error, exc_info=error)
    cluster._ipython_display_()


def reach(link: str, *, is_on_hub: bool) -> str:
    """Return from where a browser can open a link of Dask's own, in words; '' for anywhere."""
    host, port = urlsplit(link).hostname, urlsplit(link).port
    if host is None or port is None:  # through a proxy that the settings of Dask name
        return ""
    if host != "localhost" and not host.startswith("127."):
        return f"Opens only where your browser reaches port {port} of {host}."
    if is_on_hub:
        return "Your browser cannot reach this port of the kernel's computer: use the buttons."
    return "Opens only on the computer where the kernel runs."


def limit(nbytes: float | None) -> str:
    """Return a memory limit, of which Dask has none as 0 or None."""
    return binary(nbytes) if nbytes else "no limit"


def _html(owner: Client | Cluster, info: Mapping[str, Any]) -> str:
    """Return the HTML of what is known of a scheduler."""
    link = ""
    with suppress(KeyError, OSError):  # it is switched off, or its settings name what is not set
        link = owner.dashboard_link or ""
        if "//[:" in link:  # what `distributed` makes of an address of IPv6
            host = info["address"].partition("://")[2].rpartition(":")[0]
            link = format_dashboard_link(host, info["services"]["dashboard"])
    facts = {"owner": owner, "info": info, "link": link, "binary": binary, "limit": limit}
    # A JupyterHub sets it, and then the browser is on another computer.
    facts["reach"] = reach(link, is_on_hub="JUPYTERHUB_SERVICE_PREFIX" in os.environ)
    found = diagnostics_of(str(info.get("id")))
    facts["arguments"] = json.dumps({"dashboard": getattr(found, "id", None)})
    html: bytes = _TEMPLATES.load("cluster.html").generate(**facts)
    return html.decode()
