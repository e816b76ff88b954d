"""What a scheduler answers about a task, and a page that is answered so."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.details.task import TaskPage
from tests.kernel.views.asked_pages import Answering, Shown
from tests.kernel.views.situations import batch, worker

W1, W2 = "tcp://10.0.0.1:4000", "tcp://10.0.0.2:4000"
HTML = "<b>key</b>"

KNOWN: dict[str, Any] = {
    "key": HTML,
    "prefix": "<b>",
    "group": "<b>-g",
    "state": "memory",
    "priority": "(0, 1)",
    "nbytes": 2048,
    "type": "int",
    "worker": "",
    "who_has": [W1],
    "dependencies": [{"key": "('a', 0)", "state": "memory"}],
    "dependents": [{"key": "b", "state": "waiting"}],
    "counts": {"dependencies": 1, "dependents": 7, "who_has": 1},
    "retries": 0,
    "suspicious": 0,
    "annotations": "",
    "exception": "",
    "traceback": "",
    "blame": "",
    "erred_on": [],
    "story": [
        {"time": 989.0, "start": "released", "finish": "waiting", "stimulus": HTML},
        {"time": 996.0, "start": "processing", "finish": "memory", "stimulus": "s2"},
    ],
}
ERRED = {
    **KNOWN,
    "state": "erred",
    "exception": f"ValueError('{HTML}')",
    "traceback": "  File x\n",
    "erred_on": [W2],
    "who_has": [],
    "nbytes": -1,
}
RUNNING = {**KNOWN, "state": "processing", "worker": W2, "who_has": [], "nbytes": -1}
WITHOUT_ROWS = {
    **KNOWN,
    **{name: [] for name in ("dependencies", "dependents", "who_has", "story")},
    "counts": {},
}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def shown(answer: Any = KNOWN, **arguments: str) -> tuple[Shown, Clock]:
    """Return a page about a task that the scheduler answers with ``answer``."""
    clock = Clock()
    live = LiveSession(clock=clock)
    live.apply(batch(workers=[worker(1), worker(2)]))
    stacks = {"stacks": [{"key": HTML, "frames": ["  File f\n"]}]}
    cluster = Answering(live, {"task": lambda _: answer, "call-stacks": lambda _: stacks})
    return Shown(TaskPage(live, arguments={"key": HTML, **arguments}), cluster), clock
