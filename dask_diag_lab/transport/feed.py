"""One scheduler that is followed: connect, pull, hand over, and come back after every kind of loss.

The collector is sent by value where it is missing. Must not look into batches, but at how many
workers are left. Beside it `QueryRunner` answers queries, a few at a time, apart from the pulls: it
keeps no answers, and ends every query with an answer or with text for the user.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import dask_diag_lab.collector
import dask_diag_lab.schema
from dask_diag_lab.collector import PULL, UNSUBSCRIBE, Collector
from dask_diag_lab.schema import Batch, FeedState, SchedulerInfo, State
from dask_diag_lab.schema.columns import WireError
from dask_diag_lab.schema.tables import EXTRA_NAMES, GRAPH
from dask_diag_lab.transport.answers import ANSWERS
from dask_diag_lab.transport.decode import Decoder
from dask_diag_lab.transport.link import (
    AnswerError,
    Arguments,
    Cluster,
    Link,
    LinkLostError,
    RefusedError,
    by_value,
)

logger = logging.getLogger(__name__)


RETRY_S: Final = 1.0
"""Pause after the first loss; it doubles with each further one, up to `LONGEST_RETRY_S`."""
LONGEST_RETRY_S: Final = 30.0
NO_COLLECTOR_RETRY_S: Final = 60.0
"""Each try leaves a line in the log of a scheduler that forbids plugins."""

CONNECT_TIMEOUT_S: Final = 10.0
ANSWER_S: Final = 30.0
"""Longest wait for one answer: a scheduler that takes in a large graph is silent for long."""
BRIEFLY_S: Final = 1.0
"""So long somebody waits at most for what is not known here yet."""

KEPT: Final = frozenset({"activities"})
"""Tables on demand whose checkpoints the history keeps: they are wanted while nobody looks, too."""
SCHEDULER_TABLES: Final = frozenset({"actions", "graphs", "keys", "strings"}) | EXTRA_NAMES
"""What the workers of a cluster that is being closed do not take along."""

AT_ONCE: Final = 3
"""Queries to many workers, and as many to one of them or to the scheduler alone: what somebody
wants to know of one worker does not wait for the answers of a thousand."""

MAX_WAITING: Final = 100
TIMEOUT_S: Final = 30.0
"""Longest wait for an answer of a usual kind, waiting for its turn not counted."""
LONGER_S: Final = {"hardware": 300.0}
"""Kinds that take their time: a benchmark waits for free threads on every worker."""

OnAnswer = Callable[[object], None]
OnFailure = Callable[[str], None]


class UnreadableError(Exception):
    """A scheduler gives no data, or nothing of use here; the text says why, for the user."""


class Feed:
    """Batches of one scheduler and answers to queries, from `start` until `close`.

    Parameters
    ----------
    address : str
        The scheduler's, as the client knows it.
    connection_args : mapping
        ``client.connection_args``: its security.
    on_batch : callable
        Takes each `Batch`. Where it raises, the error is logged, the state says so, and the same
        rows are pulled again after a while.
    on_state : callable
        Takes each new `FeedState`.
    is_ending : callable
        Returns whether the cluster is being closed. Once workers have left then, only what is
        `SCHEDULER_TABLES` is taken over: the last picture has to be that of before.
    interval_s, idle_interval_s : float
        Seconds between two pulls while somebody watches, and while nobody does: less than the
        collector's lease.

    Attributes
    ----------
    state : FeedState
    ask : callable
        Asks what no feed brings; see `QueryRunner.ask`.
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # what `distributed`'s comm wants
        *,
        on_batch: Callable[[Batch], None],
        on_state: Callable[[FeedState], None],
        is_ending: Callable[[], bool] = lambda: False,
        interval_s: float = 0.25,
        idle_interval_s: float = 2.0,
    ) -> None:
        self._address = address
        self._connection_args = connection_args
        self._on_batch = on_batch
        self._on_state = on_state
        self._is_ending = is_ending
        self._interval_s = interval_s
        self._idle_interval_s = idle_interval_s
        self._subscriber = uuid.uuid4().hex
        self._decoder = Decoder()
        self._queries = QueryRunner(address, connection_args)
        self.ask = self._queries.ask
        self._link: Link | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_watched = self._is_all_wanted = self._is_closing = False
        self._wanted: frozenset[str] = frozenset()
        self._scheduler: SchedulerInfo | None = None  # as it was taken over last
        self._wake = asyncio.Event()
        self._asked: list[asyncio.Future[None]] = []
        self._n_losses = 0  # since data last came
        self.state = FeedState("connecting", "", time.time())

    def start(self) -> None:
        """Begin to feed, on the running loop."""
        self._on_state(self.state)
        self._task = asyncio.create_task(self._run(), name="dask_diag_lab feed")

    async def close(self) -> None:
        """Tell the collector and hang up; harmless when done before."""
        self._is_closing = True
        self._wake.set()
        await self._queries.close()
        if self._task is not None:
            # Let a call that is under way end: a comm left in the middle of one is of no use.
            await asyncio.wait({self._task}, timeout=2.0)
            self._task.cancel()
            await asyncio.wait({self._task})
        self._fail_waiting("the feed is closed")
        await self._hang_up()
        self._set_state("closed", "")

    def watch(self, is_watched: bool, wanted: frozenset[str] = frozenset()) -> None:
        """Follow as closely as those need who look.

        Parameters
        ----------
        is_watched : bool
            Somebody looks: pull at the short interval.
        wanted : frozenset of str
            Names of `schema.tables.EXTRAS`, and `GRAPH`, that are to be brought as well.
        """
        if (is_watched and not self._is_watched) or not wanted <= self._wanted:
            self._wake.set()
        self._is_watched, self._wanted = is_watched, wanted

    async def pull(self) -> None:
        """Wait until all that the scheduler has recorded by now has been handed over.

        Raises
        ------
        LinkLostError
            The next try to reach the scheduler failed, or the feed was closed.
        """
        if self._is_closing:
            raise LinkLostError("the feed is closed")
        asked = asyncio.get_running_loop().create_future()
        self._asked.append(asked)
        self._wake.set()
        await asked

    async def pull_briefly(self) -> None:
        """Pull once, or do without where that takes long or nobody answers."""
        if self.state.state in {"live", "degraded"}:
            with contextlib.suppress(LinkLostError, TimeoutError):
                await asyncio.wait_for(self.pull(), BRIEFLY_S)

    async def pull_all(self) -> None:
        """Pull briefly what any plot needs: later perhaps nobody can be asked."""
        self._is_all_wanted = True
        await self.pull_briefly()
        self._is_all_wanted = False

    async def _run(self) -> None:
        while not self._is_closing:
            self._wake.clear()
            least_s = 0.0
            try:
                link = await self._connect()
                while not self._is_closing:
                    await self._step(link)
            except LinkLostError as error:
                self._set_state(
                    "lost", f"The scheduler at {self._address} cannot be reached: {error}."
                )
            except UnreadableError as error:
                self._set_state("degraded", f"{error} So the plots get no data.")
                least_s = NO_COLLECTOR_RETRY_S
            except Exception as error:  # whatever it is, plots may not stand still without a word
                logger.exception("The scheduler at %s could not be followed", self._address)
                text = f"Following the scheduler failed: {type(error).__name__}: {error}."
                self._set_state("degraded", f"{text} So the plots get no data.")
            if not self._is_closing:
                self._fail_waiting(self.state.reason)
                await self._hang_up(say_goodbye=False)
                # Many kernels that lost one scheduler do not all come back at the same moment.
                share = random.uniform(0.5, 1)  # noqa: S311 - no secret
                wait_s = min(RETRY_S * 2.0 ** min(self._n_losses, 30), LONGEST_RETRY_S)
                self._n_losses += 1
                await self._sleep(max(wait_s * share, least_s))

    async def _connect(self) -> Link:
        link = await Link.open(self._address, self._connection_args, timeout_s=CONNECT_TIMEOUT_S)
        self._link = link
        await self._register(link)
        return link

    async def _register(self, link: Link) -> None:
        """See to it that the collector is there."""
        if link.python and link.python != sys.version_info[:2]:
            theirs, ours = (".".join(map(str, v)) for v in (link.python, sys.version_info[:2]))
            raise UnreadableError(
                f"The scheduler runs Python {theirs} and this process {ours}: a collector cannot "
                "be sent between them."
            )
        try:
            await link.call(
                "register_scheduler_plugin",
                plugin=by_value(Collector(), dask_diag_lab.collector, dask_diag_lab.schema),
                idempotent=True,
                timeout_s=ANSWER_S,
            )
        except RefusedError as error:
            if "disallowed" in str(error):
                raise UnreadableError(
                    "The scheduler forbids plugins (distributed.scheduler.blocked-handlers)."
                ) from error
            raise UnreadableError(f"The collector did not start there: {error}.") from error

    async def _step(self, link: Link) -> None:
        """Pull once, hand over, and wait for the next time."""
        n_asked = len(self._asked)  # who asks during the pull may want more than it brings
        wanted = EXTRA_NAMES | {GRAPH} if self._is_all_wanted else self._wanted | KEPT
        self._wake.clear()  # now, not when the wait begins: a need that comes meanwhile counts
        try:
            answer = await link.call(
                PULL,
                subscriber=self._subscriber,
                epoch=self._decoder.epoch,
                cursors=self._decoder.cursors,
                wanted=sorted(wanted),
                timeout_s=ANSWER_S,
            )
            if answer is None:  # the collector's lease ended while this process was held up
                await self._register(link)
                await self._sleep(self._interval_s)
                return
            if isinstance(answer, dict) and answer.get("error"):
                raise UnreadableError(f"The collector gives no answer: {answer['error']}.")
            batch = self._decoder.decode(answer)
        except RefusedError as error:
            raise UnreadableError(f"The scheduler refused to answer: {error}.") from error
        except WireError as error:
            raise UnreadableError(f"What the scheduler sends cannot be read: {error}.") from error
        if (known := self._scheduler) is not None and self._is_held_back(batch, known):
            if batch.epoch == self._decoder.epoch:  # else the collector has been closed as well
                tables = {n: change for n, change in batch.tables.items() if n in SCHEDULER_TABLES}
                self._on_batch(replace(batch, tables=tables, graph=None, scheduler=known))
                self._decoder.accept(SCHEDULER_TABLES)
        else:
            self._on_batch(batch)
            self._decoder.accept()
            self._scheduler = batch.scheduler
        self._n_losses = 0
        self._set_state("live", "")
        if self._decoder.is_more:
            await asyncio.sleep(0)
        else:
            await self._end_pull(n_asked)

    def _is_held_back(self, batch: Batch, known: SchedulerInfo) -> bool:
        """Whether the cluster is being closed since `known` was taken over."""
        has_fewer = batch.scheduler.n_workers < known.n_workers
        is_same = batch.scheduler.id == known.id
        return self._is_closing or (has_fewer and is_same and self._is_ending())

    async def _end_pull(self, n_asked: int) -> None:
        """Tell the first that asked, and wait until the next pull is due."""
        answered, self._asked = self._asked[:n_asked], self._asked[n_asked:]
        for asked in answered:
            if not asked.done():
                asked.set_result(None)
        if not self._asked:
            await self._sleep(self._interval_s if self._is_watched else self._idle_interval_s)

    def _fail_waiting(self, reason: str) -> None:
        """Tell all that asked why they get nothing."""
        failed, self._asked = self._asked, []
        for asked in failed:
            if not asked.done():
                asked.set_exception(LinkLostError(reason))

    async def _sleep(self, seconds: float) -> None:
        """Wait, or less when somebody begins to watch or the feed is closed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    async def _hang_up(self, *, say_goodbye: bool = True) -> None:
        link, self._link = self._link, None
        if link is None:
            return
        if say_goodbye:
            with contextlib.suppress(RefusedError, LinkLostError):  # its lease ends by itself
                await link.call(UNSUBSCRIBE, subscriber=self._subscriber, timeout_s=2.0)
        await link.close()

    def _set_state(self, state: State, reason: str) -> None:
        if (state, reason) != (self.state.state, self.state.reason):
            self.state = FeedState(state, reason, time.time())
            self._on_state(self.state)


class QueryRunner:
    """Asks a cluster what views want to know; lives on the running loop.

    Parameters
    ----------
    address, connection_args
        As of `Feed`.
    """

    def __init__(
        self,
        address: str,
        connection_args: Mapping[str, Any],  # what `distributed`'s comm wants
    ) -> None:
        self._cluster = partial(Cluster, address, connection_args)
        self._turns = {is_wide: asyncio.Semaphore(AT_ONCE) for is_wide in (False, True)}
        self._asked: set[asyncio.Task[object]] = set()
        self._is_closing = False

    def ask(
        self, kind: str, arguments: Arguments, on_answer: OnAnswer, on_failure: OnFailure
    ) -> None:
        """Answer by calling one of the two on the loop, exactly once; text goes to the second."""
        if self._is_closing:
            on_failure("These diagnostics are closed.")
            return
        if len(self._asked) >= MAX_WAITING:
            on_failure("Too many questions wait for an answer already; try again later.")
            return
        task = asyncio.create_task(self._answer(kind, arguments), name=f"dask_diag_lab {kind}")
        self._asked.add(task)
        task.add_done_callback(partial(self._ended, on_answer, on_failure))

    async def close(self) -> None:
        """Fail what is asked; harmless when done before."""
        self._is_closing = True
        asked = list(self._asked)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    async def _answer(self, kind: str, arguments: Arguments) -> object:
        timeout_s = LONGER_S.get(kind, TIMEOUT_S)
        async with self._turns[kind == "hardware" or arguments.get("worker") == ""]:
            cluster = self._cluster()
            try:
                async with asyncio.timeout(timeout_s):
                    return await ANSWERS[kind](cluster, arguments)
            except TimeoutError as error:
                raise AnswerError(f"The cluster gave no answer within {timeout_s:g} s.") from error
            except WireError as error:
                raise AnswerError(f"The cluster's answer cannot be read: {error}.") from error
            finally:
                await cluster.close()

    def _ended(
        self, on_answer: OnAnswer, on_failure: OnFailure, task: asyncio.Task[object]
    ) -> None:
        self._asked.discard(task)
        if task.cancelled():
            on_failure("The connection to the cluster was closed before the answer came.")
            return
        error = task.exception()
        if error is None:
            on_answer(task.result())
        elif isinstance(error, AnswerError):
            on_failure(str(error))
        else:
            logger.error("A query could not be answered", exc_info=error)
            on_failure(f"The answer failed here: {type(error).__name__}: {error!s:.300}")
