"""What the page of a task says in words; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.detail_page import Facts

NOTHING: Final = {
    "dependencies": "This task depends on no other, and none that the scheduler knows needs it.",
    "workers": "No worker runs this task or has its result.",
    "times": "No times are known: it has not run, or it ended before these diagnostics began.",
    "story": "The scheduler remembers no change of this task.",
}
"""What is said in the place of a section without rows."""
NOT_BEGUN: Final = (
    "No times are known yet: it is with a worker, and no heartbeat has told here that it runs."
)
FORGOTTEN: Final = "The scheduler has forgotten this task."
UNRECORDED: Final = (
    "No run of it is recorded here: it has not run, or it ended before these diagnostics began, or"
    " so long ago that it was given up."
)
NOTHING_LEFT: Final = {
    "dependencies": f"{FORGOTTEN} What it needed and what needed it is not recorded.",
    "workers": UNRECORDED,
    "times": UNRECORDED,
    "story": f"{FORGOTTEN} Its changes of state are not recorded.",
}
"""The same, of a task that the scheduler has forgotten."""
ERROR_NONE: Final = "This task has not failed."
ERROR_GONE: Final = "This task failed, and its error has been forgotten with it."
ERROR_KILLED: Final = (
    "The worker died while this task ran, the last time that it did. No error of it is kept."
)


def task_facts(task: Mapping[str, Any], name: Callable[[str], str], now: Facts = ()) -> Facts:
    """Return what is known of a task.

    Parameters
    ----------
    task : mapping
        Answers the question ``task``.
    name : callable
        Returns what a worker is called, by its address.
    now : sequence of (name, words)
        Of `TaskRuns.facts`.
    """
    counts = task.get("counts", {})
    nbytes = task.get("nbytes", -1)
    return [
        ("Task", str(task["key"])),
        ("State", str(task["state"])),
        ("Prefix", str(task["prefix"])),
        ("Group", str(task["group"])),
        ("Runs on", name(str(task["worker"])) if task["worker"] else ""),
        *now,
        ("Failed on", ", ".join(name(str(address)) for address in task.get("erred_on", ()))),
        ("In memory on", fmt.plural(counts["who_has"], "worker") if counts.get("who_has") else ""),
        ("Size", fmt.binary(nbytes) if nbytes >= 0 else ""),
        ("Type", str(task["type"])),
        ("Took", times_words(task.get("actions", ()))),
        ("Depends on", _of(counts, "dependencies")),
        ("Waits for", _of(counts, "waiting_on")),
        ("Needed by", _of(counts, "dependents")),
        ("Waited for by", _of(counts, "waiters")),
        ("Priority", str(task["priority"])),
        ("Retries left", str(task["retries"]) if task.get("retries") else ""),
        ("Workers lost with it", str(task["suspicious"]) if task.get("suspicious") else ""),
        ("Failed because of", str(task.get("blame", ""))),
        ("Restrictions", str(task["restrictions"])),
        ("Annotations", str(task["annotations"])),
    ]


_LASTING: Final = frozenset(
    {
        *("Group", "Type", "Depends on", "Needed by", "Priority", "Restrictions", "Annotations"),
        *("Failed because of", "Workers lost with it"),
    }
)
"""What stays true of a task that is forgotten."""
_OF_A_RUN: Final = frozenset({"Ran on", "Started at", "Ended at"})


def joined_facts(told: Facts, recorded: Facts, *, is_forgotten: bool) -> Facts:
    """Return what the scheduler told of a task, with what was recorded when it ran.

    Parameters
    ----------
    told, recorded : sequence of (name, words)
        Of `task_facts` and of `TaskTraces.facts`.
    is_forgotten : bool
        Of what the scheduler told only that counts which cannot have changed.
    """
    if is_forgotten and recorded:
        return [*recorded, *(fact for fact in told if fact[0] in _LASTING)]
    return [*told, *(fact for fact in recorded if fact[0] in _OF_A_RUN)]


def rest_words(known_at: str, *, is_recorded: bool) -> str:
    """Return what there still is of a task that the scheduler does not tell of.

    ``known_at`` is when the scheduler did, as a clock; '' if it never has.
    """
    if not known_at:
        return "This is what was recorded of it."
    if not is_recorded:
        return f"This is what it knew at {known_at}. {UNRECORDED}"
    return f"This is what was recorded of it, and what the scheduler knew of it at {known_at}."


def error_text(task: Mapping[str, Any]) -> str:
    """Return exception and traceback as text; '' of a task that did not fail."""
    blame = str(task.get("blame", ""))
    parts = [
        f"The error is that of {blame}, which this task needs." if blame else "",
        str(task.get("exception", "")),
        str(task.get("traceback", "")),
    ]
    return "\n\n".join(part for part in parts if part)


def neighbours(task: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return relation, key and state of each task that this one needs or is needed by."""
    return [
        {"relation": words, "key": str(other["key"]), "state": str(other["state"])}
        for name, words in (("dependencies", "depends on"), ("dependents", "is needed by"))
        for other in task.get(name, ())
    ]


def _of(counts: Mapping[str, int], name: str) -> str:
    return fmt.plural(counts[name], "task") if counts.get(name) else ""


def times_words(actions: Iterable[Mapping[str, Any]]) -> str:
    """Return how long each kind of action took, all of a kind together."""
    sums: defaultdict[str, float] = defaultdict(float)
    for action in actions:
        sums[str(action["action"])] += action["stop"] - action["start"]
    return ", ".join(f"{fmt.duration(seconds)} {action}" for action, seconds in sums.items())
