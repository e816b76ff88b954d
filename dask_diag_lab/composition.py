"""What serves one scheduler or recording: source, history, server and record on one event loop.

With `session`, which gives it a thread, the only code that knows all of these packages. It needs
no Jupyter kernel: any process and any running loop will do. A recording is served without
`distributed`, whose import takes a second. `RunFiles` saves runs as they end.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from dask_diag_lab.analysis.facts import cpu_report_s
from dask_diag_lab.jobs import JobRunner
from dask_diag_lab.server import Server, announce
from dask_diag_lab.server.auth import LOOPBACK, LOOPBACK_NAMES, in_url
from dask_diag_lab.server.channel import Channel
from dask_diag_lab.store import History, LiveSession, recording
from dask_diag_lab.store.queries import UNASKED, Query

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.schema import Batch, FeedState
    from dask_diag_lab.server.context import Snapshot
    from dask_diag_lab.store.runs import RunRecord
    from dask_diag_lab.transport import Feed

logger = logging.getLogger(__name__)
# The log of this package has no reader where there is no notebook; that of `distributed` has one.
unfound = logging.getLogger("distributed.dask_diag_lab")

T = TypeVar("T")
# Default, least and most of each setting; times in seconds. `dask_diag_lab.yaml` explains them.
LIMITS: Final[Mapping[str, tuple[str | int, float, float]]] = {
    "max-actions": (2_000_000, 1000, inf),
    # Half of `collector.LEASE_S`: it must not take a slow follower for one that has left.
    "interval": ("250ms", 0.05, 300),
    "idle-interval": ("2s", 0.05, 300),
    "port": (0, 0, 65_535),
}

MAX_NAME: Final = 60
# What `distributed` and gateways name a cluster that was given no name.
_NUMBER: Final = re.compile(r"([\w-]+\.)?[0-9a-f-]{8,}")

CLIENT_CLOSED: Final = "The client was closed."
NOT_ASKED: Final = "The client was closed; its cluster cannot be asked any more."
ANSWER_S: Final = 3.0
"""So long a recording waits for the profile of its run."""
MOST_ASKED: Final = 200
"""Workers that a recording asks for that: each costs the scheduler some 2 ms."""
KEPT: Final = "The history is kept until the kernel stops."
NO_OTHER: Final = "The cluster or recording of the earlier run is not open on this machine."
RECORDED: Final = "This is a recording; its cluster cannot be asked any more."

OWN: Final = "run ????-??-?? ??-??-?? *.daskrun"
"""Only files of such names are ever removed."""
OLD_S: Final = 3_600.0
"""What was not written to its end so long ago never will be."""


@dataclass(slots=True)
class Target:
    """The scheduler to follow and how to reach it, as its client does.

    Attributes
    ----------
    scheduler_id : str
    address : str
        The address that the client is connected to, which a gateway may have made up.
    connection_args : mapping
        ``Client.connection_args``: TLS context and the like.
    name : str
        What the user calls the cluster; '' where it has none but a number.
    dashboard : str
        Where Dask's own dashboard is; '' where that is not known.
    """

    scheduler_id: str
    address: str
    connection_args: Mapping[str, Any]
    name: str = ""
    dashboard: str = ""

    @classmethod
    def of(cls, client: Client) -> Target:
        """Return the scheduler of a connected client, without asking it anything.

        Raises
        ------
        RuntimeError
            The client is not connected.
        TypeError
            It is none.
        """
        if not hasattr(client, "connection_args"):
            raise TypeError(f"{client!r:.100} is no client: give one of `distributed.Client`.")
        # The public `scheduler_info()` makes a call; a busy scheduler would hold up the caller.
        identity = client._scheduler_identity
        scheduler_id = identity.get("id")
        if client.status != "running" or not scheduler_id or client.scheduler is None:
            raise RuntimeError(
                f"The client is {client.status}, so there is no scheduler to look at."
                " Connect it first; `await client` does that for an asynchronous one."
            )
        name = str(getattr(client.cluster, "name", None) or "")[:MAX_NAME]
        address = str(client.scheduler.addr)
        link = dashboard_link(address, identity)
        with suppress(Exception):  # of others' clusters; the link is not worth the plots
            # Such as a gateway's.
            link = link or str(getattr(client.cluster, "dashboard_link", "") or "")
        return cls(
            str(scheduler_id),
            address,
            dict(client.connection_args),
            "" if _NUMBER.fullmatch(name) else name,
            link,
        )

    @property
    def record(self) -> dict[str, Any]:  # JSON
        """What the runtime record says of it."""
        scheduler = {"id": self.scheduler_id, "address": self.address, "dashboard": self.dashboard}
        kernel = {"kernel_id": announce.kernel_id(), **announce.running_cell()}
        return {**kernel, "scheduler": scheduler}

    def session(self) -> LiveSession:
        """Return a session for what will come of it."""
        return LiveSession(History(int(setting("max-actions"))))

    def feed(
        self,
        on_batch: Callable[[Batch], None],
        on_state: Callable[[FeedState], None],
        is_ending: Callable[[], bool],
    ) -> Feed:
        """Return what fills a session; the arguments are those of `Feed`."""
        from dask_diag_lab.transport import Feed

        return Feed(
            self.address,
            self.connection_args,
            on_batch=on_batch,
            on_state=on_state,
            is_ending=is_ending,
            interval_s=setting("interval"),
            idle_interval_s=setting("idle-interval"),
        )


class Recording:
    """What a file says of a cluster, in the place of a `Target`.

    Raises ValueError and OSError as `recording.load`.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._live = recording.load(path)
        scheduler = self._live.history.scheduler
        self.address = "" if scheduler is None else scheduler.address
        # Not that of the cluster: what belongs to that one does not belong to its recording.
        self.scheduler_id = ""

    @property
    def record(self) -> dict[str, Any]:  # JSON
        """As of `Target`; of no kernel, whose new clusters take the places of those before."""
        scheduler = {"id": self.scheduler_id, "address": self.address, "dashboard": ""}
        return {"kernel_id": None, "scheduler": scheduler}

    def session(self) -> LiveSession:
        """Return what was recorded."""
        return self._live

    def feed(self, *_: object) -> NoFeed:
        """Return what adds nothing to it."""
        return NoFeed()


class NoFeed:
    """The `Feed` of a recording: nothing comes, and nobody can be asked."""

    def start(self) -> None:
        """Do nothing."""

    def watch(self, is_watched: bool, wanted: frozenset[str] = frozenset()) -> None:
        """Do nothing."""

    async def pull(self) -> None:
        """Return at once: all that is known is there."""

    close = pull_briefly = pull_all = pull

    def ask(self, *given: Any) -> None:  # the arguments of `QueryRunner.ask`
        """Answer that there is no answer."""
        fail: Callable[[str], None] = given[-1]
        fail(RECORDED)


def read_other(dashboard_id: str, run: int) -> tuple[str, LiveSession]:
    """Return the name of another dashboard and what that knows; see `LiveSession.read_other`."""
    from dask_diag_lab.server.export import fetch

    try:
        record = announce.read_record(dashboard_id)
        url = f"{record['url']}/status?token={record['token']}"
        with TemporaryDirectory(prefix="dask-diag-lab-") as folder:
            path = Path(folder) / "other.daskrun"
            with (
                fetch(url, "recording.daskrun", {"run": str(run)}) as reply,
                path.open("wb") as file,
            ):
                shutil.copyfileobj(reply, file)
            return str(record["name"]), recording.load(path)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        logger.info("The runs of %s cannot be read: %s", dashboard_id, error)
        raise ValueError(NO_OTHER) from error


def dashboard_link(address: str, identity: Mapping[str, Any]) -> str:  # as msgpack has it
    """Return where Dask's own dashboard of a scheduler is, '' where its identity does not tell.

    Without the user's `distributed.dashboard.link`, which on a hub leads through a proxy: the
    Jupyter server finds the process by its port.
    """
    import dask

    port, parts = identity.get("services", {}).get("dashboard"), urlsplit(address)
    if not port or not parts.hostname or parts.scheme == "gateway":
        return ""
    is_tls = dask.config.get("distributed.scheduler.dashboard.tls.cert")
    return f"http{'s' if is_tls else ''}://{in_url(parts.hostname)}:{port}/status"


class Listen(NamedTuple):
    """Where to serve, and what opens it.

    Attributes
    ----------
    host : str
        Name or address to listen at. With another than a loopback address, other machines can ask.
    port : int
        The first of the ports to try; 0 takes any that is free.
    token : str
        At least 32 of the characters A-Z a-z 0-9 _ -; '' for a random one.
    """

    host: str
    port: int
    token: str = ""


def setting(name: str) -> float:
    """Return a setting of now; a value out of its limits is replaced, and the log says so."""
    import dask
    from dask.utils import parse_timedelta

    default, least, most = LIMITS[name]
    given = dask.config.get(f"diag-lab.{name}", default)
    value = float(parse_timedelta(given))  # takes numbers as they are
    kept = min(max(value, least), most)
    if kept != value:
        logger.warning("diag-lab.%s is %s; it has been set to %g", name, given, kept)
    return kept


def own_listen() -> Listen:
    """Return where the settings have a kernel's server listen: never where others reach it."""
    import dask

    host = str(dask.config.get("diag-lab.host", LOOPBACK))
    if in_url(host) not in LOOPBACK_NAMES:
        logger.warning("diag-lab.host is %s, no loopback address; it is %s now", host, LOOPBACK)
        host = LOOPBACK
    return Listen(host, int(setting("port")))


def run_files(live: LiveSession, snapshot: Snapshot) -> RunFiles | None:
    """Return what saves runs, where the settings of now name a folder."""
    import dask
    from dask.utils import parse_bytes

    folder = dask.config.get("diag-lab.record-runs", None)
    if not folder or live.recorded is not None:
        return None
    most = int(dask.config.get("diag-lab.recorded-runs", 20))
    nbytes = parse_bytes(dask.config.get("diag-lab.recorded-size", "1 GB"))
    return RunFiles(live, snapshot, Path(folder).expanduser(), most, nbytes)


class RunFiles:
    """Saves each run that is over, and removes the oldest files.

    Parameters
    ----------
    live : LiveSession
    snapshot : callable
        Takes a `LiveSession.selection`, returns what writes a recording to a file in any thread.
    folder : Path
    most, most_bytes : int
        How many files are kept, and how large these may be together; the newest always is.
    """

    def __init__(
        self, live: LiveSession, snapshot: Snapshot, folder: Path, most: int, most_bytes: int
    ) -> None:
        self._live, self._snapshot, self._folder = live, snapshot, folder
        self._most, self._most_bytes = most, most_bytes
        self._seen: set[int] = set()
        self._is_end = False
        self._saving: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Begin to save the runs that are over; on the loop."""
        if (self._saving is None or self._saving.done()) and self._due is not None:
            self._saving = asyncio.create_task(self._save_due())

    def end(self) -> None:
        """Begin to save the others as well: nothing more comes of them."""
        self._is_end = True
        self._live.history.runs.end(self._live.history.until)
        self.look()

    async def close(self) -> None:
        """Wait until all are saved."""
        self.end()
        if self._saving is not None:
            await asyncio.wait([self._saving])

    @property
    def _due(self) -> RunRecord | None:
        """The next one to save: once workers have told all of it, or will not any more."""
        until = inf if self._is_end else self._live.time - cpu_report_s(self._live.history)
        runs = list(self._live.history.runs)[-self._most :]  # of more no file would stay
        return next((o for o in runs if o.stop < until and o.number not in self._seen), None)

    async def _save_due(self) -> None:
        while (record := self._due) is not None:
            self._seen.add(record.number)
            await self._save(record)

    async def _save(self, record: RunRecord) -> None:
        # In one second, two clusters of a cell may begin, or two short blocks.
        began = f"{datetime.fromtimestamp(record.start).astimezone():%Y-%m-%d %H-%M-%S %f}"
        name = re.sub(r"[^\w.()=, -]+", "_", record.name(self._live.history.strings))[:60]
        path = self._folder / f"run {began} {name.strip()}.daskrun"
        try:
            write = await self._snapshot({"run": str(record.number)})
            try:
                writing = asyncio.get_running_loop().run_in_executor(None, self._write, write, path)
            except RuntimeError:  # the interpreter exits, and begins no more threads
                self._write(write, path)
            else:
                await writing
        except (OSError, RuntimeError, ValueError) as error:
            logger.warning("A run could not be saved as %s: %s", path, error)

    def _write(self, write: Callable[[Path], None], path: Path) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for file in self._folder.glob(f".{OWN}.part"):  # of a process that was killed
            if time.time() - file.stat().st_mtime > OLD_S:
                file.unlink(missing_ok=True)
        write(path)
        files = {file: file.stat() for file in self._folder.glob(OWN)}
        total = 0
        for at, file in enumerate(sorted(files, key=lambda file: -files[file].st_mtime_ns)):
            total += files[file].st_size
            if at and (at >= self._most or total > self._most_bytes):
                file.unlink(missing_ok=True)


def _circumstances() -> dict[str, Any]:  # JSON
    """Return versions, and those settings of Dask that hold no secret, for a recording."""
    import dask

    from dask_diag_lab.server.pages import shown_configuration

    settings = dict(shown_configuration(dask.config.config))
    return {"versions": announce.versions(), "settings": settings}


class Composition:
    """What serves a source, with history, server and record, all on the running loop.

    Parameters
    ----------
    source : Target or Recording
    dashboard_id, name : str
        Id of this dashboard, and what people call it.
    listen : Listen
    is_ending : callable
        As of `Feed`.

    Attributes
    ----------
    url, token : str
        Where it is on this machine, once it serves, and what opens it.
    port : int
        That of ``listen.host``, once it serves.
    feed : Feed or NoFeed
        What fills the history.
    server : Server
        What draws it.
    """

    def __init__(
        self,
        source: Target | Recording,
        dashboard_id: str,
        name: str,
        listen: Listen,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self.url, self.port = "", listen.port
        self.token = listen.token or secrets.token_urlsafe(32)
        self._record: dict[str, Any] = {}  # JSON
        self._file: Path | None = None
        self._info: dict[str, Any] = {"id": dashboard_id, "name": name, **source.record}  # JSON
        self._has_left = False
        self._to_close = AsyncExitStack()
        self._live = source.session()
        self._live.versions = self._live.versions or announce.versions()
        self._live.queries.on_ask = self._ask_cluster
        self._live.read_other = read_other
        self.feed = source.feed(self._take, self._state_changed, is_ending)
        self.server = Server(
            self._live,
            info=lambda: self._info,
            token=self.token,
            on_watch=self.feed.watch,
            catch_up=self.feed.pull_briefly,
            snapshot=self.snapshot,
            host=listen.host,
            port=listen.port,
        )
        self._live.on_change = self.server.tick
        self._run_files = run_files(self._live, self.snapshot)

    @property
    def has_data(self) -> bool:
        """Whether the scheduler has ever answered."""
        return self._live.history.scheduler is not None

    @property
    def saves_runs(self) -> bool:
        """Whether the end of the history matters though nobody looks."""
        return self._run_files is not None

    async def start(self) -> None:
        """Serve, announce, and begin to feed; returns before the first data."""
        opened = self._to_close  # last first, each also where another one fails
        if self._run_files is not None:
            opened.push_async_callback(self._run_files.close)
        opened.push_async_callback(self.detach)
        opened.callback(JobRunner(self._live.jobs, self._live.job_done).close)
        opened.push_async_callback(self.server.stop)
        self.url = await self.server.start()
        self.port = self.server.port
        self._record = {
            "schema": announce.SCHEMA,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "start_ticks": announce.start_ticks(),
            "url": self.url,
            "token": self.token,
            "started": time.time(),
            "versions": announce.versions(),
        }
        self._announce()
        opened.callback(self._withdraw)
        if (kernel := announce.own_kernel()) is not None:
            channel = Channel(kernel, self.url, self.token, self._info, self.server)
            opened.push_async_callback(channel.close)
        self.feed.start()

    def _announce(self) -> None:
        """Write the record, also in the place of the one before."""
        try:
            self._file = announce.write_record(self._record | self._info)
        except OSError as error:  # a folder of somebody else, a full disk
            # A kernel's messages bring its plots to JupyterLab without a record.
            log = logger if announce.own_kernel() else unfound
            log.warning("JupyterLab cannot find this process and its Dask plots: %s", error)

    def _withdraw(self) -> None:
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _take(self, batch: Batch) -> None:
        """Take over a batch, perhaps of a scheduler that was started anew at its address."""
        self._live.apply(batch)
        if self._run_files is not None:
            self._run_files.look()
        if batch.scheduler.id != self._info["scheduler"]["id"]:
            anew = {"id": batch.scheduler.id, "dashboard": ""}  # perhaps at another port
            self._info["scheduler"] = self._info["scheduler"] | anew
            self._announce()

    async def detach(self) -> None:
        """Let go of the scheduler, for good: nothing more is taken over. Harmless twice."""
        self._has_left = True
        await self.feed.close()

    def mark_closed(self, *, is_cluster_closed: bool) -> None:
        """Set the state ``closed`` after `detach`; the history is still served.

        Parameters
        ----------
        is_cluster_closed : bool
            Whether that is all there is to say. It may have been lost, or still run.
        """
        last = self._live.feed_state
        is_lost = last.state == "lost"
        why = "" if is_cluster_closed else last.reason if is_lost else CLIENT_CLOSED
        reason = f"{why} {KEPT}" if why else ""  # without one, the browser has words of its own
        self._live.set_feed_state("closed", reason, last.since if is_lost else time.time())
        if self._run_files is not None:
            self._run_files.end()

    async def close(self) -> None:
        """Take everything down in reverse order; harmless twice."""
        if self.saves_runs:
            await self.feed.pull_all()
        await self._to_close.aclose()

    async def ask(self, function: Callable[[LiveSession], T], *, is_fresh: bool) -> T:
        """Return ``function(live)``, after a pull of its own where it has to be fresh.

        Raises
        ------
        LinkLostError
            The scheduler could not be reached.
        """
        if is_fresh:
            await self.feed.pull()
        return function(self._live)

    async def snapshot(self, selection: Mapping[str, str]) -> Callable[[Path], None]:
        """Return what writes all that is known by now to a file, in any thread.

        Its plots show a `LiveSession.selection`.

        What plots would ask the scheduler for is fetched before, where that is there.
        """
        with suppress(ConnectionError):  # what is known is worth a file
            await self.feed.pull()
            await self.feed.pull_all()
        answered = await self._profiled(selection)
        recorded = self._live.recorded or _circumstances()
        return recording.snapshot(self._live.history, recorded, selection, answered)

    async def _profiled(self, selection: Mapping[str, str]) -> list[Query]:
        """Return what the profile of a selection is made of, where the workers tell it."""
        record = self._live.history.runs.of_number(int(selection.get("run", 0)))
        tasks, period = {"source": "tasks", "worker": ""}, {"start": 0.0, "stop": 0.0}
        if record is not None:
            period = {"start": record.start, "stop": record.stop if record.is_over else 0.0}
        asked = [Query("profile", {**tasks, "prefix": "", **period}), Query("activity", tasks)]
        if len(self._live.history.workers) <= MOST_ASKED:
            await asyncio.gather(*map(self._answer, asked))
        for query in asked:
            known = self._live.queries.known(query.kind, **query.arguments)
            if query.answer is None and known is not None:
                query.answer, query.answered_at = known.answer, known.answered_at
        return [query for query in asked if query.answer is not None]

    async def query(self, kind: str, arguments: Mapping[str, str | float]) -> Any:  # plain data
        """Return the cluster's answer of now to one of `schema.tables.QUERIES`.

        Raises
        ------
        LinkLostError
            The scheduler could not be reached, or has no collector.
        RuntimeError
            There is no answer; the text says why.
        """
        await self.feed.pull()  # brings the collector, which passes questions on to workers
        answer = asyncio.get_running_loop().create_future()

        def take(value: object) -> None:
            if not answer.done():  # nobody waits for it any more
                answer.set_result(value)

        def fail(text: str) -> None:
            if not answer.done():
                answer.set_exception(RuntimeError(text))

        self.feed.ask(kind, arguments, take, fail)
        return await answer

    async def _answer(self, query: Query) -> None:
        """Have a question answered, unless the workers are too busy for it."""
        with suppress(ConnectionError, RuntimeError, TimeoutError):
            async with asyncio.timeout(ANSWER_S):
                query.answer = await self.query(query.kind, query.arguments)
                query.answered_at = self._live.time

    def _state_changed(self, state: FeedState) -> None:
        if not self._has_left:  # else `mark_closed` says when it closed, and why
            self._live.set_feed_state(state.state, state.reason, state.since)

    def _ask_cluster(self, query: Query) -> None:
        """Pass a view's question on."""
        answer, fail = (partial(note, query) for note in (self._live.answer, self._live.fail))
        if self._has_left:
            fail(NOT_ASKED if query.n_answers else UNASKED)
        else:
            self.feed.ask(query.kind, query.arguments, answer, fail)
