"""The command ``dask-diag-lab``: diagnostics from a terminal, without a notebook.

Each command only calls what is there for Python too. What is heavy is imported by those that use
it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from distributed import Client, Security

    from dask_diag_lab.composition import Composition, Listen, Recording, Target
    from dask_diag_lab.proxy.messages import DashboardInfo

Option = Callable[[Any], Any]  # click's decorators return what they are given
logger = logging.getLogger(__name__)

DASHBOARD_PORT: Final = ":8787"
RETRY_S: Final = 1.0  # between two tries to reach a scheduler that is waited for

_PEM: Final = click.Path(exists=True, dir_okay=False, resolve_path=True)


def _with(*options: Option) -> Option:
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


# Which scheduler, and how it is reached: the flags of ``dask worker``.
SCHEDULER: Final = _with(
    click.argument("address"),
    click.option("--tls-ca-file", type=_PEM, help="Authorities of tls:// addresses, as PEM."),
    click.option("--tls-cert", "tls_client_cert", type=_PEM, help="Your certificate, as PEM."),
    click.option("--tls-key", "tls_client_key", type=_PEM, help="The key of it, as PEM."),
)
LISTEN: Final = _with(
    # The default is beside 8787, that of Dask's own dashboard.
    click.option("--port", type=click.IntRange(0, 65_535), default=8788, help="0 takes any."),
    click.option("--address", "host", default="127.0.0.1", help="Of this machine; to listen at."),
    click.option("--token", envvar="DASK_DIAG_LAB_TOKEN", default="", help="Else a random one."),
)


def _security(tls: Mapping[str, str | None]) -> Security:
    from distributed.security import Security

    return Security(**{name: path for name, path in tls.items() if path})


async def _target(address: str, tls: Mapping[str, str | None]) -> Target:
    """Return a scheduler that answers; a `Client` waits very long where something else does.

    Raises
    ------
    OSError, ValueError
        Nobody answers there, or no scheduler.
    """
    from dask_diag_lab.composition import Target, dashboard_link
    from dask_diag_lab.schema.columns import WireError
    from dask_diag_lab.transport.feed import CONNECT_TIMEOUT_S
    from dask_diag_lab.transport.link import Link, RefusedError

    arguments = _security(tls).get_connection_args("client")
    try:
        link = await Link.open(address, arguments, timeout_s=CONNECT_TIMEOUT_S)
    except OSError as error:
        if DASHBOARD_PORT in address:
            text = f"{address} is the usual port of Dask's own dashboard, that of schedulers 8786."
            raise ValueError(text) from error
        raise
    identity = None
    with suppress(RefusedError, WireError):  # a worker's answer, or that of something else
        identity = await link.call("identity", timeout_s=CONNECT_TIMEOUT_S, n_workers=0)
    await link.close()
    if identity is None:
        raise ValueError(f"{address} is no Dask scheduler; take the address that one prints.")
    return Target(
        str(identity["id"]), address, arguments, dashboard=dashboard_link(address, identity)
    )


async def _awaited(address: str, tls: Mapping[str, str | None]) -> Target:
    """Return a scheduler once it answers; what says for sure that none will is raised."""
    said = ""
    while True:
        try:
            return await _target(address, tls)
        except OSError as error:
            if not isinstance(error.__cause__, OSError):  # such as TLS without certificates
                raise
            if said != str(error):
                said = str(error)
                click.echo(f"Waiting for the scheduler at {address}: {said}", err=True)
        await asyncio.sleep(RETRY_S)


def _client(address: str, tls: Mapping[str, str | None]) -> Client:
    from distributed import Client

    asyncio.run(_target(address, tls))
    # The end of the cluster is how a capture may end; a client logs it with a traceback.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    return Client(address, security=_security(tls))


def checked_token(token: str) -> str:
    """Return a token that was given, or '' for none.

    Raises
    ------
    click.BadParameter
        It is none.
    """
    if token and not re.fullmatch(r"[A-Za-z0-9_-]{32,512}", token):
        raise click.BadParameter("A token is 32 to 512 of A-Z a-z 0-9 _ -: `openssl rand -hex 32`.")
    return token


async def serve_until(
    end: Callable[[Composition], Awaitable[object]],
    source: Target | Recording,
    listen: Listen,
    dashboard_id: str = "",
) -> None:
    """Serve diagnostics, print where, and stop serving when ``end(composition)`` is over.

    Raises
    ------
    OSError
        Nothing can listen there.
    """
    from dask_diag_lab.composition import Composition
    from dask_diag_lab.server.auth import in_url

    name = source.name or source.address
    composition = Composition(source, dashboard_id or secrets.token_hex(8), name, listen)
    try:
        await composition.start()
        host = listen.host
        if host in ("0.0.0.0", "::"):  # noqa: S104  # asked for
            from distributed.utils import get_ip

            # `::` is of IPv6 alone. What is reached is any host of the Internet; nothing is sent.
            host = get_ip("2001:4860:4860::8888" if host == "::" else "8.8.8.8")
        # One that was given is known to those who need it, and stays out of logs.
        token = "…" if listen.token else composition.token
        taken = f"Port {listen.port} is taken. " if composition.port != listen.port != 0 else ""
        url = f"http://{in_url(host)}:{composition.port}/status?token={token}"
        click.echo(f"{taken}Plots of {name}: {url}")
        await end(composition)
    finally:
        await composition.close()


class _Commands(click.Group):
    """Ends with a line, and not with a traceback, where a scheduler or a file cannot be had."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except (click.exceptions.Exit, click.Abort):  # they are RuntimeErrors
            raise
        except (OSError, ImportError, OverflowError, RuntimeError, ValueError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Commands, context_settings={"show_default": True})
@click.version_option(package_name="dask_diag_lab")
def main() -> None:
    """Live diagnostics of Dask clusters, without a notebook.

    Begin with: dask-diag-lab serve tcp://127.0.0.1:8786
    """
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's `command &` ignores it
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


def _writable(_context: click.Context, _parameter: click.Parameter, output: str) -> str:
    """Return where to write, if that can be written, which is to be said before an hour is over."""
    from dask_diag_lab.capture.block import check_writable

    output = "/dev/stdout" if output == "-" else output
    try:
        check_writable(output)
    except OSError as error:
        raise click.BadParameter(str(error)) from error
    return output


def _recorded(context: click.Context, parameter: click.Parameter, path: str | None) -> Path | None:
    return Path(_writable(context, parameter, str(Path(path).absolute()))) if path else None


@main.command(epilog="Example: dask-diag-lab serve tcp://10.0.0.5:8786 --port 9000")
@SCHEDULER
@LISTEN
@click.option("--record", callback=_recorded, help="A .daskrun to write at the end, see `open`.")
def serve(
    address: str,
    host: str,
    port: int,
    token: str,
    record: Path | None,
    **tls: str | None,
) -> None:
    """Serve live plots of a scheduler, without a notebook.

    ADDRESS is that of the scheduler, such as tcp://10.0.0.5:8786. Serves until Ctrl-C. Prints the
    address that opens them in a browser on this machine; where the port is taken, it is the next
    free one. For a browser elsewhere, forward the port: ssh -L 8788:localhost:8788 this-machine.
    Or serve with another --address than 127.0.0.1, such as 0.0.0.0: everybody who reaches it and
    has the token sees the plots, which travel unencrypted.

    The token is a random one unless you give one, of 32 letters or more. Other users of this
    machine can read command lines: set it by the environment variable DASK_DIAG_LAB_TOKEN.

    A scheduler that is not there yet is waited for. One that is gone later is waited for as well,
    and its last picture stays.
    """
    from dask_diag_lab.composition import Listen

    async def end(composition: Composition) -> None:
        try:
            await asyncio.Event().wait()
        finally:  # Ctrl-C
            if record is not None:
                write = await composition.snapshot({})
                await asyncio.to_thread(write, record)
                click.echo(f"Recorded in {record}.", err=True)

    listen = Listen(host, port, checked_token(token))
    with suppress(KeyboardInterrupt):  # asyncio ends what it runs before that is raised
        target = asyncio.run(_awaited(address, tls))
        asyncio.run(serve_until(end, target, listen))


@main.command("open", epilog="Example: dask-diag-lab open etl.daskrun")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@LISTEN
@click.option("--for-jupyter", "dashboard_id", default="", hidden=True)
@click.option("--unused-s", type=float, default=600.0, hidden=True)
def open_recording(
    path: Path, host: str, port: int, token: str, dashboard_id: str, unused_s: float
) -> None:
    """Serve the plots of a recording; no cluster is needed.

    PATH is a file that `serve --record`, or Python, has written. Serves as `serve` does, until
    Ctrl-C, and prints the address that opens the plots in a browser on this machine.
    """
    from dask_diag_lab.composition import Listen, Recording
    from dask_diag_lab.server.application import load

    async def end(composition: Composition) -> None:
        # For Jupyter, which has no terminal: until that, or whoever looks, is gone.
        await (_while_used(composition, unused_s) if dashboard_id else asyncio.Event().wait())

    listen = Listen(host, port, checked_token(token))
    # Beside the file, which takes as long.
    threading.Thread(target=load, daemon=True).start()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_until(end, Recording(path), listen, dashboard_id))


async def _while_used(composition: Composition, unused_s: float) -> None:
    """Wait until standard input has ended, or nobody has looked for so long."""
    loop, has_ended = asyncio.get_running_loop(), asyncio.Event()

    def wait() -> None:
        os.read(sys.stdin.fileno(), 1)  # `sys.stdin.read` would hold a lock when Python ends
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(has_ended.set)

    threading.Thread(target=wait, daemon=True).start()
    used_s = time.monotonic()
    while not has_ended.is_set() and time.monotonic() - used_s < unused_s:
        with suppress(TimeoutError):
            await asyncio.wait_for(has_ended.wait(), min(unused_s, 1.0))
        if composition.server.is_used:
            used_s = time.monotonic()


@main.command(epilog="Example: dask-diag-lab doctor")
def doctor() -> None:
    """Say why nothing shows up in JupyterLab, and what mends it.

    Run it in the environment of your kernels and in that of JupyterLab. The exit code is 1 when
    something is wrong.
    """
    from dask_diag_lab.doctor import findings

    is_wrong = False
    for text, remedy in findings():
        click.echo(f"{'✗' if remedy else '✓'} {text}.")
        if remedy:
            click.echo(f"    To mend it: {remedy}")
            is_wrong = True
    raise click.exceptions.Exit(int(is_wrong))


@main.command(epilog="Example: dask-diag-lab enable")
def enable() -> None:
    """Have Dask show your clients in JupyterLab, by a file in your Dask configuration.

    Needed after `pip install --user` or `--target`, where Dask finds no configuration.
    """
    from dask_diag_lab.doctor import enable as enabled

    click.echo(enabled())


@main.command("list", epilog="Example: dask-diag-lab list")
def list_dashboards() -> None:
    """List what runs on this machine.

    These are the diagnostics of your notebooks, of scripts and of `serve`, and Dask's own
    dashboards, as JupyterLab's sidebar has them. With each comes the address that opens its plots
    in a browser on this machine. It may have a token in it: it is not for sharing.
    """
    from dask_diag_lab.doctor import runtime_folders
    from dask_diag_lab.views.format import plural

    folders = runtime_folders()
    dashboards = asyncio.run(_examined(folders))
    if not dashboards:
        places = ", ".join(map(str, folders))
        click.echo(f"Nothing runs here, says {places}. See `serve --help` and `doctor`.")
    for info, link in dashboards:
        size = info["summary"] and plural(info["summary"]["workers"], "worker")
        kind = "Dask's own dashboard" if info["kind"] == "stock" else ""
        address = info["scheduler"]["address"]
        state = info["reason"] or info["state"]
        click.echo(" · ".join(filter(None, (info["name"], size, address, kind, state))))
        click.echo(f"    {link}")


async def _examined(folders: Sequence[Path]) -> list[tuple[DashboardInfo, str]]:
    """Return what the Jupyter server shows, found and verified as it does it, and their links."""
    from jupyter_core.paths import jupyter_data_dir

    from dask_diag_lab.proxy.dashboard import DiagnosticsDashboard
    from dask_diag_lab.proxy.policy import Settings
    from dask_diag_lab.proxy.records import RecordDiscovery
    from dask_diag_lab.proxy.registry import DashboardRegistry
    from dask_diag_lab.proxy.stock import AddressStore

    added = AddressStore(Path(jupyter_data_dir()) / "dask-diag-lab" / "dashboards.json")
    registry = DashboardRegistry(
        RecordDiscovery(folders[0], logger, *folders[1:]), Settings(), added, dict
    )
    await registry.refresh_all()
    found = []
    for info in registry.listing.values():
        if "shown_with" not in info:
            one = registry.dashboard(info["id"])
            token = ""
            if isinstance(one, DiagnosticsDashboard):
                token = f"?token={one.record['token']}"
            found.append((info, f"{one.address.url}/status{token}"))
    await registry.close()
    return found


def _capture(output: str) -> Option:
    """Return the options of what observes a scheduler for a while and writes a page."""
    return _with(
        SCHEDULER,
        click.option("--duration", type=click.FloatRange(0), help="Seconds; else until Ctrl-C."),
        click.option("--output", default=output, callback=_writable, help="A path or URL; or -."),
    )


def _wait(client: Client, duration_s: float | None, output: str) -> None:
    """Wait until the time is over, Ctrl-C, or until the cluster has ended."""
    ends = time.monotonic() + (inf if duration_s is None else duration_s)
    from dask_diag_lab.session import attach

    until = "Ctrl-C" if duration_s is None else f"Ctrl-C or for {duration_s:g} s"
    click.echo(f"Watching until {until}, then writing {output}.", err=True)
    logging.getLogger("dask_diag_lab.server.saved").setLevel(logging.INFO)
    with suppress(KeyboardInterrupt):
        while client.status == "running" and time.monotonic() < ends:
            with suppress(RuntimeError):  # it closes meanwhile
                # Little is missing of a sudden end.
                attach(client).submit(lambda _: None, is_fresh=True)
            time.sleep(0.25)


@main.command("task-stream", epilog="Example: dask-diag-lab task-stream tcp://10.0.0.5:8786")
@_capture("task-stream.html")
def task_stream(address: str, duration: float | None, output: str, **tls: str | None) -> None:
    """Write what workers do from now on to a page.

    It begins now and ends with Ctrl-C, after --duration seconds, or with the cluster of the
    scheduler at ADDRESS. The page opens without a network.
    """
    from dask_diag_lab.capture.block import IncompleteError
    from dask_diag_lab.capture.task_stream import get_task_stream

    with _client(address, tls) as client:
        try:
            with get_task_stream(client, "save", output):
                _wait(client, duration, output)
        except IncompleteError as error:  # the page is written
            click.echo(str(error), err=True)


@main.command(epilog="Example: dask-diag-lab report tcp://10.0.0.5:8786 --duration 60")
@_capture("dask-report.html")
def report(address: str, duration: float | None, output: str, **tls: str | None) -> None:
    """Write a report of what the cluster does from now on to a page.

    Task stream, profiles, memory, transfers and more, as dask_diag_lab.performance_report has
    them. It begins now and ends with Ctrl-C, after --duration seconds, or with the cluster of the
    scheduler at ADDRESS. The page opens without a network.
    """
    from dask_diag_lab.capture.performance_report import performance_report

    with _client(address, tls) as client, performance_report(output):
        _wait(client, duration, output)


@main.command(epilog="Example: dask-diag-lab profile tcp://10.0.0.5:8786 --duration 60")
@_capture("dask-profile.html")
def profile(address: str, duration: float | None, output: str, **tls: str | None) -> None:
    """Write where the threads of the workers spend their time from now on to a page.

    It begins now and ends with Ctrl-C or after --duration seconds. ADDRESS is that of the
    scheduler. The page opens without a network.
    """
    from dask_diag_lab.capture import profile as captured

    with _client(address, tls) as client:
        start_s = time.time()
        _wait(client, duration, output)
        captured.profile(start=start_s, filename=output, client=client)
