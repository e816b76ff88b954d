"""Answers about single tasks: what the scheduler knows of them, and what they do now."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from dask.utils import key_split

from dask_diag_lab.collector import TASK
from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.collector.task_story import LITERALS
from dask_diag_lab.transport import wire
from dask_diag_lab.transport.cluster import AnswerError, Cluster, ForbiddenError

Arguments = Mapping[str, str | float]

MAX_FRAMES: Final = 250
MAX_FRAME: Final = 500
"""Characters; a frame is a file, a line number and a line of source."""

SCHEDULER_ONLY: Final = (
    "Without the collector on the scheduler only the state, where the result is and the story are"
    " known."
)


async def task(cluster: Cluster, arguments: Arguments) -> Mapping[str, Any] | None:
    """Answer ``task``: from the collector, or from the engine's own calls where there is none."""
    text = str(arguments["key"])
    try:
        answer = await cluster.call(TASK, key=text)
    except ForbiddenError:
        answer = None
    if answer is None:
        return await _from_engine(cluster, text)
    answer = wire.mapping(answer, "task")
    if answer.get("error"):
        raise AnswerError(f"The scheduler could not tell of this task: {answer['error']!s:.300}")
    found = wire.member(answer, "task")
    return None if found is None else wire.mapping(found, "task")


async def _from_engine(cluster: Cluster, text: str) -> Mapping[str, Any] | None:
    for key in _candidates(text):
        states = wire.mapping(await cluster.call("get_task_status", keys=[key]), "states")
        state = states.get(key)
        if state not in (None, "lost"):
            break
    else:
        return None
    who_has = wire.mapping(await cluster.call("who_has", keys=[key]), "who_has")
    story = wire.items(await cluster.call("get_story", keys_or_stimuli=[key]) or (), "story")
    names = ("dependencies", "dependents", "waiting_on", "waiters")
    return {
        "key": key_text(key),
        "prefix": key_text(key_split(key)),
        "group": "",
        "state": str(state),
        "priority": "",
        "nbytes": -1,
        "type": "",
        "worker": "",
        "who_has": [str(address) for address in who_has.get(key, ())],
        **{name: [] for name in names},
        "counts": {},
        "retries": 0,
        "suspicious": 0,
        "annotations": "",
        "restrictions": "",
        "exception": "",
        "traceback": "",
        "actions": [],
        "story": [_entry(entry) for entry in story if wire.items(entry, "story", 6)[0] == key],
        "missing": SCHEDULER_ONLY,
    }


def _entry(entry: Any) -> dict[str, Any]:  # a `distributed.scheduler.Transition`
    _, start, finish, _, stimulus, at = entry
    return {
        "time": wire.number(at, "story.time"),
        "start": str(start),
        "finish": str(finish),
        "stimulus": str(stimulus)[:200],
        "worker": "",
    }


def _candidates(text: str) -> list[Any]:
    """Return the keys that are written so: the text itself, or the tuple, number or bytes."""
    found: list[Any] = [text]
    if text[:1] in LITERALS:
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            value = ast.literal_eval(text)
            hash(value)
            found.append(value)
    return found


async def call_stacks(cluster: Cluster, arguments: Arguments) -> dict[str, Any]:
    """Answer ``call-stacks``: what runs now, of one task, one worker or all."""
    key = str(arguments["key"])
    address = str(arguments["worker"])
    if key and not address:
        address = await _runs_on(cluster, key)
    workers = await cluster.workers(address)
    stacks: list[dict[str, Any]] = []

    def take(worker: str, answer: Any) -> None:  # what a worker sent
        for name, frames in wire.mapping(answer, "call_stack").items():
            if key and key_text(name) != key:
                continue
            lines = [wire.text(frame, "frames") for frame in wire.items(frames, "frames")]
            stacks.append(
                {
                    "worker": worker,
                    "key": key_text(name),
                    "frames": [line[:MAX_FRAME] for line in lines[-MAX_FRAMES:]],
                }
            )

    missing = await cluster.ask_workers(workers, take, op="call_stack", keys=None)
    if address and missing:
        raise AnswerError(f"Worker {address} did not answer: {missing[address]}.")
    stacks.sort(key=lambda stack: (stack["worker"], stack["key"]))
    return {"stacks": stacks, "missing": missing}


async def _runs_on(cluster: Cluster, key: str) -> str:
    """Return the worker that runs a task; '' where only asking all of them would tell."""
    known = await task(cluster, {"key": key})
    if known is None:
        raise AnswerError("The scheduler does not know this task.")
    if known["state"] != "processing":
        raise AnswerError(f"This task does not run now; it is in the state {known['state']}.")
    return str(known["worker"])
