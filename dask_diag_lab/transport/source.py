"""The collector on a scheduler: sent by value where it is missing, and pulled over a link.

Must not decide when to pull.
"""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any, Final

import cloudpickle

import dask_diag_lab.collector
import dask_diag_lab.schema
from dask_diag_lab.collector import LEAVE, PULL, Collector
from dask_diag_lab.schema import Batch
from dask_diag_lab.schema.columns import WireError
from dask_diag_lab.transport.decode import Decoder
from dask_diag_lab.transport.link import Link, LinkLostError, RefusedError

Pulled = tuple[Batch, Callable[[], None]]
"""A batch, and what to call once it has been taken over."""

_REGISTRY: Final = threading.Lock()
"""cloudpickle's registry of packages sent by value is shared by all threads."""


def by_value(thing: object, *modules: ModuleType) -> bytes:
    """Return a pickle that a process without these modules or packages can load.

    Its Python has to be the same: functions are sent as bytecode.
    """
    with _REGISTRY:
        known = cloudpickle.list_registry_pickle_by_value()
        new = [module for module in modules if module.__name__ not in known]
        for module in new:
            cloudpickle.register_pickle_by_value(module)
        try:
            return bytes(cloudpickle.dumps(thing))
        finally:
            for module in new:
                cloudpickle.unregister_pickle_by_value(module)


class NoCollectorError(Exception):
    """A scheduler cannot have a collector; the text says why, in words for the user."""


class CollectorSource:
    """The collector on the scheduler, put there when it is missing.

    Parameters
    ----------
    make : callable
        Returns the collector to send.
    """

    def __init__(self, make: Callable[[], Collector], *, timeout_s: float) -> None:
        self._make = make
        self._timeout_s = timeout_s
        self._subscriber = uuid.uuid4().hex
        self._decoder = Decoder()
        self._link: Link | None = None

    @property
    def is_more(self) -> bool:
        return self._decoder.is_more

    async def register(self, link: Link) -> None:
        """Use ``link`` from now on, and see to it that the collector is there.

        Raises
        ------
        NoCollectorError
            The scheduler runs another Python, forbids plugins, or failed to start this one.
        """
        self._link = link
        if link.python and link.python != sys.version_info[:2]:
            theirs, ours = (".".join(map(str, v)) for v in (link.python, sys.version_info[:2]))
            raise NoCollectorError(
                f"The scheduler runs Python {theirs} and this process {ours}: a collector cannot "
                "be sent between them."
            )
        try:
            await link.call(
                "register_scheduler_plugin",
                plugin=by_value(self._make(), dask_diag_lab.collector, dask_diag_lab.schema),
                idempotent=True,
                timeout_s=self._timeout_s,
            )
        except RefusedError as error:
            if "disallowed" in str(error):
                raise NoCollectorError(
                    "The scheduler forbids plugins (distributed.scheduler.blocked-handlers)."
                ) from error
            raise NoCollectorError(f"The collector did not start there: {error}") from error

    async def pull(self, wanted: Collection[str] = ()) -> Pulled:
        """Return what is new, and of extras and the task graph what is ``wanted``.

        Raises
        ------
        NoCollectorError
            The collector switched itself off, is forbidden, or cannot be understood.
        LinkLostError
            The connection is of no use any more.
        """
        try:
            answer = await self._call(wanted)
            if answer is None:  # its lease ended while this process was held up, or it was removed
                await self.register(self._need_link())
                answer = await self._call(wanted)
        except RefusedError as error:
            raise NoCollectorError(f"The scheduler refused to answer: {error}") from error
        if isinstance(answer, dict) and answer.get("error"):
            raise NoCollectorError(
                f"The collector switched itself off after an error of its own: {answer['error']}"
            )
        if answer is None:
            raise NoCollectorError("The scheduler lets no collector stay.")
        try:
            return self._decoder.decode(answer)
        except WireError as error:
            raise NoCollectorError(f"The collector's answer cannot be read: {error}.") from error

    async def leave(self) -> None:
        try:
            link = self._need_link()
            await link.call(LEAVE, subscriber=self._subscriber, timeout_s=min(2, self._timeout_s))
        except (RefusedError, LinkLostError):
            return  # its lease ends by itself

    async def _call(self, wanted: Collection[str]) -> Any:  # what a peer sent
        return await self._need_link().call(
            PULL,
            subscriber=self._subscriber,
            epoch=self._decoder.epoch,
            cursors=self._decoder.cursors,
            wanted=sorted(wanted),
            timeout_s=self._timeout_s,
        )

    def _need_link(self) -> Link:
        if self._link is None:
            raise LinkLostError("not connected")
        return self._link
