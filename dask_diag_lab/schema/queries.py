"""What a view may ask the cluster once, and what comes back.

Tables arrive by themselves; a query costs the cluster something, so it is asked for a picture
that somebody looks at, and not again before its answer is old.
"""

from __future__ import annotations

from typing import Final, NamedTuple

OTHER_PREFIXES: Final = "(other)"
"""In place of a prefix, in an answer to ``activity``."""


class QueryKind(NamedTuple):
    """One kind of query.

    Attributes
    ----------
    kind : str
        Its name.
    arguments : tuple of str
        Names of its arguments; all are text or numbers, and all have to be given.
    doc : str
        What they mean and what the answer holds; plain data, times on the scheduler's clock.
    """

    kind: str
    arguments: tuple[str, ...]
    doc: str


QUERIES: Final[tuple[QueryKind, ...]] = (
    QueryKind(
        "profile",
        ("source", "prefix", "worker", "start", "stop"),
        "Statistical profile. source: tasks, worker-loops or scheduler-loop; prefix, worker: '' "
        "for all; start, stop: seconds, 0 for open. Answer: {tree: {count, identifier, "
        "description: {filename, name, line_number, line}, children: {identifier: tree}}, "
        "interval_s: seconds that one count stands for, missing: {worker: reason}, pruned: nodes "
        "left out of a large tree, n_workers: asked}. A task's innermost frames have no count: "
        "`distributed` leaves it with their caller",
    ),
    QueryKind(
        "activity",
        ("source", "worker"),
        "Samples over time. Answer: {times: [s], counts: [n], prefixes: {prefix: [n]} as long as "
        "times, those beyond a hundred added up as OTHER_PREFIXES, missing: {worker: reason}}",
    ),
    QueryKind(
        "worker",
        ("worker",),
        "What one worker holds and does. Answer: {counts: {state: n}, tasks: [{key, prefix, "
        "state, seconds, nbytes, priority}] at most 200 of each state of the worker's own: "
        "executing, ready, constrained, waiting, flight, fetch, memory, …; seconds: so far where "
        "it runs, else what it took, None unknown; connections: n, versions: text, uptime_s, "
        "executed: tasks run so far, missing: '' or what is not known and why}",
    ),
    QueryKind(
        "transfers",
        ("worker",),
        "The workers' transfer logs; worker: '' for all. Answer: {rows: [{worker, peer, "
        "direction: in or out, start, stop, nbytes, compressed (None where not known), rate, "
        "keys: n, key: text of the largest}] newest last, at most 1000 of each worker and "
        "direction, missing: {worker: reason}, limit: rows of a worker and direction at most, "
        "totals: {in: n, out: n} that the workers keep}",
    ),
    QueryKind(
        "call-stacks",
        ("worker", "key"),
        "What threads do now; worker '' for all, key '' for all. Answer: {stacks: [{worker, key, "
        "frames: [text] outermost first}], missing: {worker: reason}}",
    ),
    QueryKind(
        "logs",
        ("worker",),
        "Log lines; worker '' for the scheduler's. Answer: {lines: [{level, message}] newest "
        "last, at most 1000}",
    ),
    QueryKind(
        "task",
        ("key",),
        "All the scheduler knows of a task. Answer: None when it is not known, else {key, prefix, "
        "group, state, priority: text, nbytes, type, worker (that runs it), who_has: [address], "
        "dependencies, dependents, waiting_on, waiters: [{key, state}] at most 500 each, counts: "
        "{dependencies: n, …}, retries, suspicious, annotations: text, restrictions: text, "
        "exception, traceback, actions: [{action, start, stop}] when known, story: [{time, "
        "start, finish, stimulus, worker}] oldest first, of what the scheduler remembers: the last "
        "1000 or so transitions of all tasks together, blame: key of the task whose error it is, "
        "erred_on: [address], missing: '' or what is not known and why}",
    ),
    QueryKind(
        "hardware",
        (),
        "Runs a benchmark on every worker: ask on an explicit wish only. Answer: {memory, disk, "
        "network: [{size: text, rate: B/s}]}",
    ),
)

KINDS: Final = {query.kind: query for query in QUERIES}
"""The queries by kind."""
