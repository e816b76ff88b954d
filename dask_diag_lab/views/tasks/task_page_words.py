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
ERROR_NONE: Final = "This task has not failed."
ERROR_GONE: Final = "This task failed, and its error has been forgotten with it."


def task_facts(task: Mapping[str, Any], name: Callable[[str], str]) -> Facts:
    """Return what is known of a task.

    Parameters
    ----------
    task : mapping
        Answers the question ``task``.
    name : callable
        Returns what a worker is called, by its address.
    """
    counts = task.get("counts", {})
    nbytes = task.get("nbytes", -1)
    return [
        ("Task", str(task["key"])),
        ("State", str(task["state"])),
        ("Prefix", str(task["prefix"])),
        ("Group", str(task["group"])),
        ("Runs on", name(str(task["worker"])) if task["worker"] else ""),
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


def error_text(task: Mapping[str, Any]) -> str:
    """Return exception and traceback as text; '' of a task that did not fail."""
    blame = str(task.get("blame", ""))
    parts = [
        f"The error is that of {blame}, which this task needs." if blame else "",
        str(task.get("exception", "")),
        str(task.get("traceback", "")),
    ]
    return "\n\n".join(part for part in parts if part)


def _of(counts: Mapping[str, int], name: str) -> str:
    return fmt.plural(counts[name], "task") if counts.get(name) else ""


def times_words(actions: Iterable[Mapping[str, Any]]) -> str:
    """Return how long each kind of action took, all of a kind together."""
    sums: defaultdict[str, float] = defaultdict(float)
    for action in actions:
        sums[str(action["action"])] += action["stop"] - action["start"]
    return ", ".join(f"{fmt.duration(seconds)} {action}" for action, seconds in sums.items())
