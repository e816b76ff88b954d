"""Suites side by side: each lane runs its own one after the other.

One thread looks after all of them, so that whatever interrupts it ends every suite's processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from suite import Outcome, Run, Suite

_LOOK_EVERY_S = 0.2

Lane = Sequence[Suite]


def run(
    lanes: Sequence[Lane],
    env: Mapping[str, str],
    logs: Path,
    on_begin: Callable[[str], None],
) -> dict[str, Outcome]:
    """Run the suites of all lanes; return what came of each, by name.

    The first lane writes on the screen; what the others write is in ``logs`` until they have ended,
    and is printed then. ``on_begin`` is told the name of each suite that begins.
    """
    waiting = [list(lane) for lane in lanes]
    running: dict[int, Run] = {}
    outcomes: dict[str, Outcome] = {}
    try:
        while running or any(waiting):
            for number, lane in enumerate(waiting):
                if number not in running and lane:
                    one = lane.pop(0)
                    on_begin(one.name)
                    running[number] = Run(one, env, logs / f"{one.name}.log" if number else None)
            time.sleep(_LOOK_EVERY_S)
            for number, current in list(running.items()):
                outcome = current.poll()
                if outcome is not None:
                    outcomes[current.suite.name] = outcome
                    del running[number]
                    _show(current)
    finally:
        for current in running.values():
            current.end()
    return outcomes


def _show(ended: Run) -> None:
    if ended.output is not None:
        text = ended.output.read_text(errors="replace").rstrip()
        print(f"\n── {ended.suite.name} {'─' * 60}\n{text}\n{'─' * 72}", flush=True)
