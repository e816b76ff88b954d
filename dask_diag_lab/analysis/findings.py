"""Why a run was slow, and what to change: rules, as one table, over what was recorded of a window.

A rule says nothing of what was not measured, and nothing unless a ratio, the seconds of the run and
the number of samples are all large enough. ``docs/findings.md`` is written from the table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from pathlib import Path
from string import Formatter
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from dask_diag_lab.analysis.budget import BUSY, CATEGORIES
from dask_diag_lab.analysis.case import Case
from dask_diag_lab.analysis.estimates import critical_path
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store.arrays import Bools
from dask_diag_lab.store.sums import Window

MOST_SHOWN: Final = 5
LEAST_S: Final = 0.5
LEAST_SHARE: Final = 0.02
"""Of the run: what costs less than the larger of both is no finding."""
MOST_UNKNOWN: Final = 0.05
"""Of the thread time: where more was not recorded, there are no findings."""
MOST_WAITING: Final = 0.3
"""Of the thread time: where tasks waited more, or other runs had more, nobody can say how much
faster it could be."""
SPILLING: Final = 0.1
"""Of the thread time on disk: tasks and data come late, and are unbalanced, because of it."""
LEAST_SPILLS: Final = 5
"""Reads and writes: fewer are no finding of their own; `Rule.least_n` of `spill`."""
LONG_S: Final = 0.1
"""Tasks of this length cost next to nothing beside what they do."""
LARGE: Final = 1e5
"""Bytes that a task may carry: a task itself has some thousands."""
LEAST_BYTES_PER_S: Final = 5e7
"""From the client over the scheduler to a worker: half the bandwidth that `distributed` takes for
granted, as bytes go twice."""

Words = Mapping[str, Any]  # texts and numbers
Write = Callable[[str, float], str]
"""Takes a unit and a value, returns text; see `views.format.write`."""


class Evidence(NamedTuple):
    """What shows that a finding is right: a plot, what it is given, and a stretch of time."""

    plot: str
    arguments: Mapping[str, str]
    window: Window


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that made a run slow.

    Attributes
    ----------
    cause : str
        One of `RULES`.
    text, advice : str
        What was found, in numbers, and what to change.
    saved_s : float
        Seconds that the run would be shorter without it; NaN where there is no estimate.
    share : float
        Of the thread time that was offered.
    confidence : {'measured', 'likely'}
    evidence : Evidence
    where : str
        A prefix or a worker; '' for none.
    """

    cause: str
    text: str
    advice: str
    saved_s: float
    share: float
    confidence: Literal["measured", "likely"]
    evidence: Evidence
    where: str

    @property
    def hedge(self) -> str:
        """What stands behind a cause that was not measured, in brackets."""
        return "" if self.confidence == "measured" else f" ({self.confidence})"


class Found(NamedTuple):
    """What a rule found, before its gates.

    Attributes
    ----------
    ratio, n : float, int
        Compared with `Rule.ratio` and `Rule.least_n`.
    lost_s : float
        Thread seconds.
    of : frozenset of str
        Categories of the budget that these belong to: of two findings of one category the one
        that costs more is given.
    words : dict
        Fields of the wording.
    where : str
    saved_s : float
        Seconds of the run, where these are not what all threads together lost.
    window : Window or None
        What the evidence is of; None for the whole.
    arguments : dict of str to str
        Of the evidence.
    """

    ratio: float
    n: int
    lost_s: float
    of: frozenset[str]
    words: Words
    where: str = ""
    saved_s: float = nan
    window: Window | None = None
    arguments: Mapping[str, str] = {}


class Rule(NamedTuple):
    """One cause.

    Attributes
    ----------
    cause : str
    title, says : str
        What it is called, and what it means.
    when : str
        What its ratio is.
    ratio, least_n, samples : float, int, str
        Its gates: the least ratio, and how many of what there have to be.
    estimate : str
        What the seconds saved are worked out from; '' where there are none.
    verdict, advice : str
        Wording: ``{name:unit}`` is a field of `Found.words`, ``{name:+noun}`` so many of them.
    plot : str
        Shows the evidence.
    look : callable
        Returns what there is of it in a case; None for nothing.
    confidence : {'measured', 'likely'}
    is_lasting : bool
        Whether what it costs while the run goes on stays lost, whatever comes.
    """

    cause: str
    title: str
    says: str
    when: str
    ratio: float
    least_n: int
    samples: str
    verdict: str
    advice: str
    plot: str
    look: Callable[[Case], Found | None]
    estimate: str = ""
    confidence: Literal["measured", "likely"] = "measured"
    is_lasting: bool = True


# --- what rules look for


def _of(*categories: str) -> frozenset[str]:
    return frozenset(categories)


def _large_graph(case: Case) -> Found | None:
    tasks, known = case.tasks, len(case.carried)
    nbytes = case.carried[np.where(tasks["graph"] < known, tasks["graph"], 0)]
    of, each = np.bincount(tasks["prefix"], nbytes), np.bincount(tasks["prefix"])
    of[of < LARGE * each] = 0
    if not of.any():
        return None
    prefix = int(of.argmax())
    n, total = int(each[prefix]), float(of[prefix])
    sending_s = total / LEAST_BYTES_PER_S * case.threads
    # Short tasks take long to start whatever they carry.
    lost_s = min(case.seconds("starting", "scheduler", "deserialize"), sending_s)
    name = case.names.get(prefix, "")
    words: Words = {"n": n, "total": total, "each": total / n, "prefix": name}
    return Found(total, n, lost_s, _of("starting", "scheduler", "deserialize"), words, name)


def _tiny_tasks(case: Case) -> Found | None:
    n = len(case.tasks["start"])
    median_s = float(np.median(case.tasks["seconds"])) if n else inf
    if median_s >= LONG_S or _is_spilling(case):
        return None
    lost_s = case.seconds("starting", "scheduler")
    work_s = case.seconds("computing", "waiting-in-tasks")
    saved_s = lost_s * (1 - min(work_s / LONG_S / n, 1)) / case.threads
    prefix, _ = case.most("starting")
    words: Words = {"n": n, "median": median_s, "lost": lost_s, "prefix": prefix, "work": work_s}
    ratio = lost_s / max(work_s, 1e-9)
    return Found(ratio, n, lost_s, _of("starting", "scheduler"), words, prefix, saved_s)


def _skew(case: Case) -> Found | None:
    best, tasks = None, case.tasks
    for of in case.prefixes:
        n, median_s, longest_s = len(of.rows), of.median_s, float(of.seconds.max())
        is_slow = of.seconds > 3 * median_s
        if not 0 < is_slow.sum() <= max(n // 5, 1) or longest_s - median_s < 0.05 * case.wall_s:
            continue
        # Those that were submitted later did not wait for a thread.
        graph = tasks["graph"][of.rows]
        is_like = graph == graph[of.seconds.argmax()]
        slow, others = (of.rows[is_like & is_it] for is_it in (is_slow, ~is_slow))
        stop = float(tasks["stop"][slow].max())
        others_end = float(tasks["stop"][others].max(initial=-inf))
        start = max(others_end, float(tasks["start"][slow].min()) + median_s)
        if start >= stop:
            continue
        moments, n_unfinished = case.n_unfinished
        could = np.fmin(tasks["ready"], tasks["start"])[slow].min()
        first, last = np.searchsorted(moments, (could, stop))
        # Where there were too few tasks from then on, they are not why.
        if n_unfinished[first:last].max() < round(case.threads):
            continue
        prefix, idle_s = case.names.get(of.prefix, ""), case.idle_in(start, stop)
        words: Words = {"n": len(slow), "of": n, "prefix": prefix, "longest": longest_s}
        words = {**words, "times": longest_s / median_s}
        found = Found(
            *(longest_s / median_s, n, idle_s, _of("dependencies"), words, prefix),
            window=Window(float(tasks["start"][slow].min()), stop),
            arguments={"show": "critical-path"},
        )
        best = max(best or found, found, key=lambda one: one.lost_s)
    return best


def _slow_worker(case: Case) -> Found | None:
    worker, n_workers = case.tasks["worker"], len(case.addresses)
    ratios, n_of = np.full(n_workers, inf), np.bincount(worker, minlength=n_workers)
    n_prefixes = np.zeros(n_workers)
    for of in case.prefixes[:10]:
        its, most_s = worker[of.rows], float(of.seconds.max()) + 1
        each = np.bincount(its, minlength=n_workers)
        one, middle = np.flatnonzero(each >= 5), np.cumsum(each) - each + each // 2
        # One key sorts faster than two: those of each worker are together, and ascend.
        middle_s = np.sort(its * most_s + of.seconds)[middle[one]] - one * most_s
        medians = np.sort(middle_s)
        if len(one) > 1:  # with two, the other one
            ratios[one] = np.minimum(ratios[one], middle_s / medians[(len(one) - 1) // 2])
            n_prefixes[one] += 1
    ratios[(n_of < 20) | (n_prefixes < 2)] = 0.0  # one function may just have more to do there
    if not ratios.any():
        return None
    slow = int(ratios.argmax())
    ratio, busy_s = float(ratios[slow]), float(case.tasks["seconds"][worker == slow].sum())
    address, n, lost_s = case.addresses[slow], int(n_of[slow]), busy_s * (1 - 1 / ratio)
    words: Words = {"worker": case.worker_names[slow], "times": ratio}
    which = {"worker": address}
    return Found(ratio, n, lost_s, _of("slow"), words, address, arguments=which)


def _few_tasks(case: Case) -> Found | None:
    if not case.prefixes:
        return None
    threads, rows, how = round(case.threads), case.prefixes[0].rows, ""
    is_many = len(rows) >= 2 * threads
    n_graphs = np.count_nonzero(np.bincount(case.tasks["graph"][rows]))
    if is_many and n_graphs <= len(rows) / max(threads, 2):
        return None
    moments, n = case.n_unfinished
    lasts_s = np.diff(moments, append=moments[-1:])
    few_s = float(lasts_s[(n > 0) & (n < threads)].sum())
    if is_many:  # few at once, as the client waits before it submits more
        enough_s = float(lasts_s[n >= threads].sum())
        at_once = round(float((n * lasts_s).sum()) / max(few_s + enough_s, 1e-9))
        if enough_s > 0.05 * case.wall_s or at_once > threads / 2:
            return None
        how = f", {at_once or 1} at once,"
    path = critical_path(case)
    if not path.steps:  # it is not known why there were few
        return None
    if path.n_chain > 2 and float(case.tasks["seconds"].sum()) < 1.5 * path.chain_s:
        return None
    prefix = case.names.get(case.prefixes[0].prefix, "")
    words: Words = {"n": len(rows), "threads": threads, "prefix": prefix, "few": few_s, "how": how}
    lost_s = case.seconds("dependencies")
    return Found(few_s / case.wall_s, 1, lost_s, _of("dependencies"), words, prefix)


def _critical_path(case: Case) -> Found | None:
    if case.share("dependencies") < 0.2:
        return None
    path = critical_path(case)
    names = list(dict.fromkeys(step.prefix for step in path.steps))
    words: Words = {"chain": path.chain_s, "wall": case.wall_s, "n": path.n_chain}
    words = {**words, "names": " → ".join(names[-4:])}
    lost_s, of = case.seconds("dependencies"), _of("dependencies")
    ratio = path.chain_s / max(case.wall_s, 1e-9)
    last, drawn = names[-1] if names else "", {"show": "critical-path"}
    return Found(ratio, path.n_chain, lost_s, of, words, last, arguments=drawn)


def _unbalanced(case: Case) -> Found | None:
    busy_s = np.bincount(case.tasks["worker"], case.tasks["seconds"], len(case.addresses))
    if not case.is_there.any() or _is_spilling(case):
        return None
    most = int(busy_s.argmax())
    others = np.delete(busy_s, most)[np.delete(case.is_there, most)]
    words: Words = {"worker": case.worker_names[most], "busy": float(busy_s[most])}
    words = {**words, "median": float(np.median(others)) if len(others) else 0.0}
    lost_s = case.seconds("unbalanced")
    n, of = len(case.tasks["start"]), _of("unbalanced")
    return Found(case.share("unbalanced"), n, lost_s, of, words, case.addresses[most])


def _transfer(case: Case) -> Found | None:
    memory_s = case.seconds("disk", "paused")
    if _is_spilling(case) and case.seconds("transfer") < 2 * memory_s:  # it is read first
        return None
    is_moved = (case.actions["kind"] == Kind.TRANSFER) & (case.actions["task"] >= 0)
    prefix, its_s = case.most("transfer")
    lost_s = case.seconds("transfer")
    words: Words = {"lost": lost_s, "share": 100 * case.share("transfer"), "prefix": prefix}
    words = {**words, "its": 100 * its_s / max(lost_s, 1e-9)}
    n = int(is_moved.sum())
    return Found(case.share("transfer"), n, lost_s, _of("transfer"), words, prefix)


def _is_spilling(case: Case) -> bool:
    """Whether memory is what to mend first: tasks wait at a worker that writes to its disk."""
    return case.share("disk", "paused") >= SPILLING


def _on_disk(case: Case) -> Found:
    kind = case.actions["kind"]
    n = int(((kind == Kind.DISK_READ) | (kind == Kind.DISK_WRITE)).sum())
    written = (
        gained
        for (_, _, activity, unit), gained in case.activities.items()
        if (activity, unit) == ("disk-write", "bytes")
    )
    nbytes = np.bincount(case.tasks["prefix"], case.tasks["nbytes"].clip(0))
    prefixes = (of.prefix for of in case.prefixes)
    prefix = case.names.get(max(prefixes, key=nbytes.__getitem__, default=-1), "")
    # While its event loop writes, no thread of a worker is given a task.
    writing_s = sum(
        gained
        for (context, _, _, unit), gained in case.activities.items()
        if (context, unit) == ("memory-monitor", "seconds")
    )
    n_workers = max(int(case.is_there.sum()), 1)
    starting_s = min(case.seconds("starting"), writing_s * case.threads / n_workers)
    lost_s = case.seconds("disk", "paused") + starting_s
    words: Words = {"written": sum(written), "prefix": prefix, "lost": lost_s}
    words = {**words, "share": 100 * case.share("disk")}
    return Found(case.share("disk", "paused"), n, lost_s, _of("disk", "paused"), words, prefix)


def _paused(case: Case) -> Found:
    found, pauses, window = _on_disk(case), case.facts.pauses, case.facts.window
    is_in = (pauses["stop"] > window.start) & (pauses["start"] < window.stop)
    n = len(np.unique(pauses["worker"][is_in]))
    paused_s = case.seconds("paused")
    is_main = paused_s > case.seconds("disk") or found.n < LEAST_SPILLS
    words = {**found.words, "n": n, "workers": int(case.is_there.sum()), "lost": paused_s}
    return found._replace(ratio=case.share("paused") * is_main, n=n, words=words)


def _bad_chunks(case: Case) -> Found | None:
    found = _on_disk(case)
    sizes = [(float(np.median(case.tasks["nbytes"][of.rows])), of) for of in case.prefixes]
    if not sizes:
        return None
    nbytes, of = max(sizes, key=lambda size: size[0])
    prefix = case.names.get(of.prefix, "")
    words = {**found.words, "prefix": prefix, "nbytes": nbytes, "limit": case.memory_limit}
    n = len(of.rows)
    return found._replace(ratio=2 * nbytes / case.memory_limit, n=n, words=words, where=prefix)


def _leak(case: Case) -> Found | None:
    unmanaged, memory = case.series["unmanaged"], case.series["memory"]
    if not isfinite(case.memory_limit):
        return None
    n = len(unmanaged.times)
    done = np.searchsorted(np.sort(case.tasks["stop"]), unmanaged.times)
    total = unmanaged.total
    if n < 3 or not (np.ptp(done) and np.ptp(total)):
        return None
    columns, half = (total, done, unmanaged.times), n // 2
    grown, n_tasks, took_s = (float(np.median(c[-3:]) - np.median(c[:3])) for c in columns)
    is_steady = np.corrcoef(done, total)[0, 1] > 0.9 and total[-1] - total[half] > grown / 4
    n_workers = max(float(unmanaged.n[-1]), 1.0)
    left = case.memory_limit * n_workers * (case.thresholds.get("pause") or 1.0) - memory.total[-1]
    until_s = max(left, 0.0) / grown * took_s if grown > 0 else inf
    words: Words = {"grown": grown, "n": round(n_tasks), "until": until_s}
    ratio = grown / (case.memory_limit * n_workers) * bool(is_steady)
    return Found(ratio, n, 0.0, _of("leak"), words)


def _waiting(case: Case) -> tuple[float, str, float]:
    """Return thread seconds in which tasks waited, most of whose, and its share of waiting."""
    prefix, waited_s = case.most("waiting-in-tasks")
    of = {case.names.get(one, ""): s for one, s in case.facts.waiting_share.items()}
    return waited_s, prefix, of.get(prefix, 0.0)


def _gil(case: Case) -> Found | None:
    contention, (_, prefix, share) = case.series["gil_contention"], _waiting(case)
    if not np.isfinite(contention.mean).any():
        return None
    ratio, lost_s = float(np.nanmean(contention.mean)), case.seconds("waiting-in-tasks")
    words: Words = {"share": 100 * share, "prefix": prefix, "gil": 100 * ratio}
    return Found(ratio, len(contention.mean), lost_s, _of("waiting-in-tasks"), words, prefix)


def _waiting_io(case: Case) -> Found | None:
    waited_s, prefix, share = _waiting(case)
    rows = next((o.rows for o in case.prefixes if case.names.get(o.prefix) == prefix), None)
    # One of some threads that take turns at the interpreter waits for all but its own part.
    per_worker = float(np.max(case.facts.workers["threads"], initial=1))
    # Where processors are busy, threads and processes of their own do what tasks wait for.
    if rows is None or share < max(0.95, 1 - 0.25 / per_worker) or _cpu(case) > 0.5:
        return None
    tasks, n = case.tasks, len(rows)
    in_line_s = float(np.nansum((tasks["start"] - tasks["ready"])[rows]))
    if in_line_s < tasks["seconds"][rows].sum():  # there were threads for them
        return None
    words: Words = {"lost": waited_s, "share": 100 * share, "prefix": prefix}
    ratio = waited_s / max(case.budget.offered_s, 1e-9)
    # No number of threads makes it shorter than its longest chain, of a straggler for example.
    path = critical_path(case)
    if not path.steps:
        return None
    saved_s = min(waited_s / 2 / case.threads, case.wall_s - path.at_best_s)
    return Found(ratio, n, waited_s / 2, _of("waiting-in-tasks"), words, prefix, saved_s)


def _oversubscription(case: Case) -> Found | None:
    cpu, threads = case.series["cpu"], case.series["nthreads"]
    if not len(cpu.times):
        return None
    words: Words = {"cpu": 100 * _cpu(case), "threads": float(threads.total[-1])}
    return Found(_cpu(case), len(cpu.times), 0.0, _of("cpu"), words)


def _cpu(case: Case) -> float:
    """Return how many processors were in use for each thread; NaN where nobody told."""
    cpu, threads = case.series["cpu"].total, case.series["nthreads"].total
    return float(np.mean(cpu / np.maximum(threads, 1))) / 100 if len(cpu) else nan


def _compute(case: Case, *outcomes: Outcome) -> Bools:
    actions = case.actions
    is_it: Bools = (actions["kind"] == Kind.COMPUTE) & np.isin(actions["outcome"], outcomes)
    return is_it


def _failed_attempts(case: Case) -> Found:
    is_it = _compute(case, Outcome.ERRED, Outcome.RETRIED)
    n, (prefix, _) = int(is_it.sum()), case.most("failed")
    # No more than the budget has, which counts what ran on workers that died as well.
    lost_s = min(case.taken(is_it), case.seconds("failed"))
    words: Words = {"n": n, "lost": lost_s, "prefix": prefix}
    return Found(lost_s / max(case.budget.offered_s, 1e-9), n, lost_s, _of("failed"), words, prefix)


def _lost_work(case: Case) -> Found | None:
    deaths = [detail for _, kind, detail in case.events if kind == "worker-killed"]
    if not deaths:
        return None
    killed, again = _compute(case, Outcome.KILLED), case.is_again & case.is_after_loss
    lost_s = case.taken(killed) + float(case.tasks["seconds"][again].sum())
    n = int(killed.sum()) + int(again.sum())
    words: Words = {"n": n, "lost": lost_s, "why": str(deaths[-1].get("cause", ""))}
    ratio = lost_s / max(case.budget.offered_s, 1e-9)
    return Found(ratio, n, lost_s, _of("failed", "again"), words)


def _computed_again(case: Case) -> Found:
    rows = case.is_again & ~case.is_after_loss
    lost_s = float(case.tasks["seconds"][rows].sum())
    of = np.bincount(case.tasks["prefix"][rows], case.tasks["seconds"][rows], 1)
    prefix = case.names.get(int(of.argmax()), "")
    words: Words = {"n": int(rows.sum()), "lost": lost_s, "prefix": prefix}
    ratio = lost_s / max(case.budget.offered_s, 1e-9)
    return Found(ratio, words["n"], lost_s, _of("again"), words, prefix)


def _client(case: Case) -> Found | None:
    if not case.is_run or case.wall("client") < LEAST_S:
        return None  # nobody waits for the code between two cells, or for another cluster's
    moments, n = case.n_unfinished
    edges = np.concatenate([case.facts.window[:1], moments, case.facts.window[1:]])
    gaps = np.diff(edges)[np.append(0, n) == 0]
    n_gaps = int((gaps > 0).sum())
    lost_s = case.seconds("client")
    words: Words = {"lost": case.wall("client"), "share": 100 * case.share("client")}
    return Found(case.share("client"), n_gaps, lost_s, _of("client"), words)


def _scheduler(case: Case) -> Found | None:
    if case.n_stuck or case.wall("scheduler") < LEAST_S:
        return None
    n, lost_s = len(case.tasks["start"]), case.seconds("scheduler")
    words: Words = {"lost": lost_s, "share": 100 * case.share("scheduler")}
    return Found(case.share("scheduler"), n, lost_s, _of("scheduler"), words)


def _no_worker(case: Case) -> Found:
    n, how, lacked_s = case.n_stuck, "may run", case.without_workers_s
    has_died = any(kind == "worker-killed" for _, kind, _ in case.events)  # others come in time
    if not n and lacked_s > max(LEAST_S, (0.3 if has_died else 0.05) * case.wall_s):
        n, how = len(case.tasks["start"]), f"was there for {lacked_s:.1f} s, to run"
    return Found(1.0, n, 0.0, _of("stuck"), {"n": n, "how": how})


def _uneven_memory(case: Case) -> Found | None:
    managed = case.series["managed"]
    if not len(managed.times) or not isfinite(case.memory_limit):
        return None
    at = int(np.argmax(np.nan_to_num(managed.total)))
    high, total, n = (float(part[at]) for part in (managed.high, managed.total, managed.n))
    high = min(high, total)  # the largest of half a second, of which the total is the mean
    ratio = high / max(total, 1.0) * (high > 0.3 * case.memory_limit)
    return Found(ratio, round(n), 0.0, _of("memory"), {"high": high, "total": total, "n": n})


# --- the table

_LOOK: Final[Mapping[str, Callable[[Case], Found | None]]] = {
    "no-worker": _no_worker,
    "failed-attempts": _failed_attempts,
    "lost-work": _lost_work,
    "bad-chunks": _bad_chunks,
    "paused": _paused,
    "spill": _on_disk,
    "leak": _leak,
    "uneven-memory": _uneven_memory,
    "skew": _skew,
    "slow-worker": _slow_worker,
    "unbalanced": _unbalanced,
    "transfer": _transfer,
    "large-graph": _large_graph,
    "tiny-tasks": _tiny_tasks,
    "scheduler": _scheduler,
    "few-tasks": _few_tasks,
    "critical-path": _critical_path,
    "computed-again": _computed_again,
    "gil": _gil,
    "waiting-io": _waiting_io,
    "oversubscription": _oversubscription,
    "client": _client,
}
RULES: Final = tuple(
    Rule(cause, look=_LOOK[cause], **words)
    for cause, words in tomllib.loads(
        Path(__file__).with_name("rules.toml").read_text(encoding="utf-8")
    ).items()
)
"""All causes, in the order of explanation: of two that cost the same the first is given."""
TITLES: Final[Mapping[str, str]] = {rule.cause: rule.title for rule in RULES}


def findings_of(case: Case, write: Write) -> list[Finding]:
    """Return what made a run slow, most saving first; nothing where too much was not recorded."""
    if case.share("unknown") > MOST_UNKNOWN:
        return []
    # Where there were no workers, there is but one thing to say.
    rules = RULES if case.budget.offered_s else [rule for rule in RULES if rule.look is _no_worker]
    looked = ((rule, rule.look(case)) for rule in rules if case.is_over or rule.is_lasting)
    passed = [(rule, one) for rule, one in looked if one and _passes(rule, one, case)]
    # Without workers all else is nothing.
    passed.sort(
        key=lambda pair: (pair[0].look is not _no_worker, -_saved_s(pair[0], pair[1], case))
    )
    explained: set[str] = set()
    found: list[Finding] = []
    skew_s = max((_saved_s(*pair, case) for pair in passed if pair[0].cause == "skew"), default=0.0)
    for rule, one in passed:
        # A chain that ends late because of a straggler.
        is_of_skew = rule.cause == "critical-path" and _saved_s(rule, one, case) < 2 * skew_s
        if not (is_of_skew or explained & one.of):
            explained |= one.of
            found.append(_finding(rule, one, case, write))
    return found[:MOST_SHOWN]


def verdict(case: Case, found: Sequence[Finding], write: Write) -> str:
    """Return one line: the first finding, or that there is none, and how well it ran."""
    if found:
        return found[0].text + found[0].hedge
    if case.share("unknown") > MOST_UNKNOWN:
        share = write("percent", 100 * case.share("unknown"))
        return f"{share} of the thread time was not recorded: nothing can be said"
    if not case.wall("computing", "waiting-in-tasks"):
        did = "no task has ended well" if case.wall(*BUSY) else "no task has run"
        return f"Nothing to report: {did if case.is_over else 'no task has ended yet'}"
    share, waits = (
        write("percent", 100 * case.share(of)) for of in ("computing", "waiting-in-tasks")
    )
    so_far = "" if case.is_over else " so far"
    if case.share("other-runs") > max(MOST_WAITING, case.share("waiting-in-tasks")):
        others = write("percent", 100 * case.share("other-runs"))
        return f"Other runs had {others} of the thread time{so_far}: {share} computing"
    if case.share("waiting-in-tasks") > MOST_WAITING:
        waiting = f"{waits} waiting in tasks, for files, locks, the interpreter or a busy CPU"
        most = max(case.budget.seconds, key=case.share)
        rest = f"{write('percent', 100 * case.share(most))} {CATEGORIES[most].label.lower()}, "
        rest = "" if most in ("computing", "waiting-in-tasks") else rest
        return f"No single cause stands out{so_far}: {rest}{share} computing, {waiting}"
    best_s = max(case.wall_s - case.wall("computing", "waiting-in-tasks", "other-runs"), 0.0)
    is_well = best_s <= max(case.wall_s / 4, LEAST_S)
    says = "Nothing to report" if is_well else "No single cause stands out"
    return f"{says}{so_far}: {share} computing; at best {write('seconds', best_s)} faster"


def _saved_s(rule: Rule, one: Found, case: Case) -> float:
    if not rule.estimate:
        return 0.0
    return one.lost_s / case.threads if np.isnan(one.saved_s) else one.saved_s


def _passes(rule: Rule, one: Found, case: Case) -> bool:
    least_s = max(LEAST_S, LEAST_SHARE * case.wall_s) if rule.estimate else 0.0
    is_enough = one.ratio >= rule.ratio and one.n >= rule.least_n
    return bool(is_enough and _saved_s(rule, one, case) >= least_s)


def _finding(rule: Rule, one: Found, case: Case, write: Write) -> Finding:
    class Text(Formatter):
        def format_field(self, value: Any, format_spec: str) -> str:  # text or a number
            if format_spec.startswith("+"):  # a noun
                return f"{write('count', value)} {format_spec[1:]}{'' if value == 1 else 's'}"
            return write(format_spec, value) if format_spec else str(value)

    say = Text().vformat
    return Finding(
        rule.cause,
        say(rule.verdict, (), one.words),
        say(rule.advice, (), one.words),
        _saved_s(rule, one, case) if rule.estimate else nan,
        one.lost_s / max(case.budget.offered_s, 1e-9),
        rule.confidence,
        Evidence(rule.plot, one.arguments, one.window or case.facts.window),
        one.where,
    )
