"""What a profile plot asks the cluster, and when it asks again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from dask_diag_lab.views.asked import can_ask, refresh_s

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.store.inquiries import Inquiry

REFRESH_S: Final = 5.0
"""An answer costs every worker some milliseconds, so the next one is not asked for sooner."""

SOON_S: Final = 1.0
"""While there are no samples: workers hand on new ones about once a second."""

OLD_TIMES: Final = 2.0
"""So many times the usual age answers are called old at once when newer ones are under way."""

TASKS: Final = "tasks"
SCHEDULER: Final = "scheduler-loop"

# What a thread did besides computing is named after the task it did it for.
_ACTION: Final = re.compile(r"^(?:transfer|disk-read|disk-write|deserialize)-(?=.)")


def task_prefix(arguments: Mapping[str, str]) -> str:
    """Return the prefix that arguments of a plot name, without the action it was clicked at."""
    return _ACTION.sub("", arguments.get("prefix") or arguments.get("key") or "")


class Sampling:
    """The questions of one page.

    Parameters
    ----------
    store : Store
    source : str
        ``tasks``, ``worker-loops`` or ``scheduler-loop``.

    Attributes
    ----------
    prefix, worker : str
        What is asked for; '' for all.
    start, stop : float
        Period on the scheduler's clock; 0 for open.
    parts : tuple of str
        Tasks that are asked for one by one.
    has_rest : bool
        Whether there are other tasks; if not, the whole is not asked for again beside `parts`.
    """

    def __init__(self, store: Store, source: str = TASKS) -> None:
        self.source = source
        self.prefix = self.worker = ""
        self.start = self.stop = 0.0
        self.parts: tuple[str, ...] = ()
        self.has_rest = False
        self._store = store
        self._asked: tuple[tuple[Inquiry, ...], float, object] | None = None

    @property
    def subject(self) -> tuple[str, str, str]:
        """Whose time it is that is asked for, whatever the period."""
        return self.source, self.prefix, self.worker

    @property
    def can_ask(self) -> bool:
        """Whether there may be an answer to what is asked from now on."""
        return can_ask(self._store)

    @property
    def has_period(self) -> bool:
        return self.stop > self.start

    @property
    def profile(self) -> Inquiry:
        """The profile of what is chosen; asked for if it never was."""
        return self._profile_of(self.prefix)

    @property
    def part_profiles(self) -> list[Inquiry]:
        """The profile of each of `parts`; asked for if it never was."""
        return [self._profile_of(name) for name in self.parts]

    @property
    def _profiles(self) -> list[Inquiry]:
        """What is asked for again: `part_profiles`, and the whole where they are not all of it."""
        parts = self.part_profiles
        return [*parts, self.profile] if self.has_rest or not parts else parts

    def _profile_of(self, prefix: str) -> Inquiry:
        return self._store.inquiries.ask(
            "profile",
            source=self.source,
            prefix=prefix,
            worker=self.worker,
            start=self.start,
            stop=self.stop,
        )

    @property
    def activity(self) -> Inquiry:
        """Samples over time of all tasks."""
        return self._store.inquiries.ask("activity", source=self.source, worker=self.worker)

    @property
    def late_s(self) -> float:
        """Since when a newer answer has been waited for, in seconds; 0 while none is."""
        inquiry = self.profile
        if inquiry.state != "asked" or inquiry.answer is None or self._asked is None:
            return 0.0
        return max(self._store.time - self._asked[1], 0.0)

    def is_outdated(self, answered_at: float) -> bool:
        """Tell whether answers of that time are old, as nobody looked, and newer ones are coming.

        A period that is over does not change, nor does a profile without work.
        """
        is_coming = any(q.state == "asked" or q.answered_at > answered_at for q in self._profiles)
        is_old = self._store.time - answered_at >= OLD_TIMES * max(self.refresh_s, REFRESH_S)
        return is_coming and is_old and not self.has_period

    @property
    def refresh_s(self) -> float:
        """Age at which the answers are asked for again: more where many workers give them."""
        if self.source == SCHEDULER:
            return REFRESH_S
        usual_s = SOON_S if self._is_empty() else REFRESH_S
        n_workers = 1 if self.worker else len(self._store.workers)
        return refresh_s(usual_s, n_workers * (1 + len(self._profiles)))

    def _is_empty(self) -> bool:
        """Tell whether nothing has been sampled yet, of any task."""
        answer = self.profile.answer
        is_all = self.source == TASKS and not self.prefix
        return is_all and answer is not None and not answer["tree"]["count"]

    def refresh(self) -> None:
        """Ask for newer answers."""
        self._asked = None
        for inquiry in (self.activity, *self._profiles):
            self._store.inquiries.ask_again(inquiry)

    def follow(self) -> None:
        """Ask again what is old, if it may have changed; a period that is over never does."""
        profiles = [] if self.has_period else self._profiles
        asked = (self.activity, *profiles)
        now, work = self._store.time, self._work()
        if self._asked is None or self._asked[0] != asked:
            self._asked = asked, now, None
            for inquiry in asked:  # others may have asked, long ago
                if inquiry.state == "answered" and now - inquiry.answered_at >= self.refresh_s:
                    self._store.inquiries.ask_again(inquiry)
            return
        _, asked_at, known = self._asked
        if now - asked_at >= self.refresh_s and (work is None or work != known):
            self._asked = asked, now, work
            for inquiry in asked:
                self._store.inquiries.ask_again(inquiry)

    def _work(self) -> object:
        """Return what moves with the work that is sampled; None where it always does."""
        if self.source != TASKS or self._store.running.count:
            return None
        return self._store.actions.count
