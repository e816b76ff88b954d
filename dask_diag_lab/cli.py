"""The command ``dask-diag-lab``: diagnostics of any scheduler from a terminal, without a notebook.

Each command only calls what is there for Python too. What is heavy is imported by those that use
it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import reduce
from math import inf
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.composition import Listen, Target
    from dask_diag_lab.proxy.dashboard import DiagnosticsDashboard

Option = Callable[[Any], Any]  # click's decorators return what they are given
logger = logging.getLogger(__name__)

PORT: Final = 8788
"""Beside 8787, that of Dask's own dashboard."""
EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  # only where a user asks for it
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32,512}")
_PEM: Final = click.Path(exists=True, dir_okay=False, resolve_path=True)


def _with(*options: Option) -> Option:
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def _checked_token(_context: click.Context, _option: click.Parameter, token: str | None) -> str:
    if token and not _TOKEN.fullmatch(token):
        raise click.BadParameter("it needs 32 to 512 of A-Z a-z 0-9 _ -; `openssl rand -hex 32`")
    return token or ""


SCHEDULER: Final = _with(
    click.argument("address"),
    click.option("--tls-ca-file", type=_PEM, help="Authorities of tls:// addresses, as PEM."),
    click.option("--tls-cert", "tls_client_cert", type=_PEM, help="Your certificate, as PEM."),
    click.option("--tls-key", "tls_client_key", type=_PEM, help="The key of it, as PEM."),
)
"""Which scheduler, and how it is reached: the flags of ``dask worker``."""


def _client(address: str, tls: Mapping[str, str | None]) -> Client:
    from distributed import Client
    from distributed.security import Security

    from dask_diag_lab.transport.feed import CONNECT_TIMEOUT_S

    security = Security(**{name: path for name, path in tls.items() if path})
    return Client(address, security=security, timeout=CONNECT_TIMEOUT_S)


async def serve_until(end: Callable[[], Awaitable[object]], target: Target, listen: Listen) -> None:
    """Serve diagnostics of a scheduler, print where, and stop serving when ``end()`` is over.

    Raises
    ------
    OSError
        Nothing can listen there.
    """
    from distributed.utils import get_ip

    from dask_diag_lab.composition import Composition
    from dask_diag_lab.server.auth import in_url

    composition = Composition(target, secrets.token_hex(8), target.address, listen)
    try:
        await composition.start()
        if composition.port != listen.port != 0:
            click.echo(f"Port {listen.port} is taken; it is {composition.port}.")
        host = in_url(get_ip() if listen.host in EVERYWHERE else listen.host)
        # One that was given is known to those who need it, and stays out of logs.
        query = f"token={'…' if listen.token else composition.token}"
        click.echo(f"Plots of {target.address}: http://{host}:{composition.port}/status?{query}")
        await end()
    finally:
        await composition.close()


class _Commands(click.Group):
    """Ends with a line, and not with a traceback, where a scheduler or a file cannot be had."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except (click.exceptions.Exit, click.Abort):  # they are RuntimeErrors
            raise
        except (OSError, RuntimeError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Commands, context_settings={"show_default": True})
@click.version_option(package_name="dask_diag_lab")
def main() -> None:
    """Live diagnostics of Dask clusters, without a notebook.

    Begin with: dask-diag-lab serve tcp://127.0.0.1:8786
    """
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


@main.command(epilog="Example: dask-diag-lab serve tcp://10.0.0.5:8786 --port 9000")
@SCHEDULER
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, help="0 takes any.")
@click.option("--address", "host", default="127.0.0.1", help="Of this machine; where to listen.")
@click.option("--token", envvar="DASK_DIAG_LAB_TOKEN", callback=_checked_token, help="See above.")
def serve(address: str, host: str, port: int, token: str, **tls: str | None) -> None:
    """Serve live plots of a scheduler, without a notebook.

    ADDRESS is that of the scheduler, such as tcp://10.0.0.5:8786. Serves until Ctrl-C. Prints the
    address that opens them in a browser on this machine; where the port is taken, it is the next
    free one. For a browser elsewhere, forward the port: ssh -L 8788:localhost:8788 this-machine.
    Or serve with another --address than 127.0.0.1, such as 0.0.0.0: everybody who reaches it and
    has the token sees the plots, which travel unencrypted.

    The token is a random one unless you give one, of 32 letters or more. Other users of this
    machine can read command lines: set it by the environment variable DASK_DIAG_LAB_TOKEN.

    A scheduler that is gone is waited for, and its last picture stays.
    """
    from dask_diag_lab.composition import Listen, Target

    with _client(address, tls) as client:
        target = Target.of(client)
    with suppress(KeyboardInterrupt):  # asyncio ends what it runs before that is raised
        asyncio.run(serve_until(asyncio.Event().wait, target, Listen(host, port, token)))


@main.command("list", epilog="Example: dask-diag-lab list")
def list_dashboards() -> None:
    """List what runs on this machine.

    These are the diagnostics of your notebooks, of scripts and of `serve`. With each comes the
    address that opens its plots in a browser on this machine. It has the token in it: it is not
    for sharing.
    """
    dashboards = asyncio.run(_examined())
    if not dashboards:
        click.echo("Nothing runs here. Make a Client() in a notebook, or see `serve --help`.")
    for one in dashboards:
        info, record = one.info, one.record
        size = info["summary"] and f"{info['summary']['workers']} workers"
        facts = (info["name"], info["state"], size, info["scheduler"]["address"], info["reason"])
        click.echo(" · ".join(filter(None, facts)))
        click.echo(f"    {record['url']}/status?token={record['token']}")


async def _examined() -> list[DiagnosticsDashboard]:
    """Return what announced itself, found and verified as the Jupyter server does it."""
    from dask_diag_lab.proxy.dashboard import DiagnosticsDashboard
    from dask_diag_lab.proxy.discovery import Discovery
    from dask_diag_lab.server.announce import runtime_dir

    found = [DiagnosticsDashboard(one) for one in Discovery(runtime_dir(), logger).scan()]
    await asyncio.gather(*(one.examine() for one in found))
    return found


def _capture(output: str) -> Option:
    """Return the options of what observes a scheduler for a while and writes a page."""
    file = click.Path(dir_okay=False, writable=True)
    return _with(
        SCHEDULER,
        click.option("--duration", type=click.FloatRange(0), help="Seconds; else until Ctrl-C."),
        click.option("--output", type=file, default=output, help="The page to write."),
    )


def _wait(client: Client, duration_s: float | None, output: str) -> None:
    """Wait until the time is over, Ctrl-C, or until the cluster has ended."""
    ends = time.monotonic() + (inf if duration_s is None else duration_s)
    click.echo(f"Watching until Ctrl-C, then writing {output}.", err=True)
    with suppress(KeyboardInterrupt):
        while client.status == "running" and time.monotonic() < ends:
            time.sleep(0.1)


@main.command("task-stream", epilog="Example: dask-diag-lab task-stream tcp://10.0.0.5:8786")
@_capture("task-stream.html")
def task_stream(address: str, duration: float | None, output: str, **tls: str | None) -> None:
    """Write what workers do from now on to a page.

    It begins now and ends with Ctrl-C, after --duration seconds, or with the cluster of the
    scheduler at ADDRESS. The page opens without a network.
    """
    from dask_diag_lab.capture.task_stream import get_task_stream

    with _client(address, tls) as client, get_task_stream(client, "save", output):
        _wait(client, duration, output)
