"""A query runner whose answers can be awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from dask_diag_lab.transport import QueryRunner
from tests.kernel.transport.live_cluster import feeding


class RefusalError(Exception):
    """What a query runner said instead of an answer."""


class Asker:
    """Asks and waits; raises `RefusalError` with the words of a failure."""

    def __init__(self, runner: QueryRunner) -> None:
        self.runner = runner

    async def __call__(self, kind: str, **arguments: str | float) -> Any:  # by kind
        came: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.runner.ask(
            kind,
            arguments,
            came.set_result,
            lambda words: came.set_exception(RefusalError(words)),
        )
        return await came

    async def refused(self, kind: str, **arguments: str | float) -> str:
        """Return the words of the failure that has to come."""
        try:
            answer = await self(kind, **arguments)
        except RefusalError as error:
            return str(error)
        raise AssertionError(f"answered: {answer!r:.300}")


@asynccontextmanager
async def asking(
    address: str, connection_args: Any = None, *, has_collector: bool = True
) -> AsyncIterator[Asker]:
    """Ask a scheduler, which a feed has given a collector, and close after."""
    async with AsyncExitStack() as stack:
        if has_collector:
            given = {"connection_args": connection_args or {}}
            await stack.enter_async_context(feeding(address, **given))
        runner = QueryRunner(address, connection_args or {})
        try:
            yield Asker(runner)
        finally:
            await runner.close()


def profile_of(source: str = "tasks", **arguments: Any) -> dict[str, Any]:
    """Return the arguments of a question for a profile, all but ``source`` open."""
    return {
        "source": source,
        "prefix": "",
        "worker": "",
        "start": 0.0,
        "stop": 0.0,
        **arguments,
    }


EVERY_KIND: Mapping[str, Mapping[str, str | float]] = {
    "profile": profile_of(),
    "activity": {"source": "tasks", "worker": ""},
    "transfers": {"worker": ""},
    "logs": {"worker": ""},
    "task": {"key": "x"},
}
"""Arguments of the kinds that need no worker of their own, of all workers."""
