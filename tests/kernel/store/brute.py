"""The level-of-detail query as its definition says, one action at a time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import Kind
from dask_diag_lab.store import History, LevelOfDetail

Group = tuple[int, int, int, int]
Columns = dict[str, npt.NDArray[Any]]  # columns differ in dtype


def family(kind: int) -> int:
    """Return 0 for tasks, 2 for transfers, 1 for all else."""
    return {int(Kind.COMPUTE): 0, int(Kind.TRANSFER): 2}.get(kind, 1)


def inside(history: History, t0: float, t1: float, slots: npt.NDArray[np.int64] | None) -> Columns:
    """Return the actions of some slots that are in a window at least partly."""
    _, rows = history.actions.since(0)
    is_in = (rows["start"] <= t1) & ((rows["stop"] > t0) | (rows["start"] >= t0))
    if slots is not None:
        is_in &= np.isin(rows["slot"], slots)
    return {name: column[is_in] for name, column in rows.items()}


def groups(rows: Columns, resolution_s: float) -> dict[Group, list[int]]:
    """Return the rows that share outcome, family, slot and bucket of time."""
    found: dict[Group, list[int]] = defaultdict(list)
    for i in range(len(rows["start"])):
        place = (int(rows["outcome"][i]), family(int(rows["kind"][i])), int(rows["slot"][i]))
        found[(*place, int(rows["start"][i] // resolution_s))].append(i)
    return found


def check(history: History, answer: LevelOfDetail, t0: float, t1: float, slots: Any = None) -> None:
    """Assert that an answer is what the definition says."""
    rows = inside(history, t0, t1, slots)
    assert len(rows["start"]) == answer.count.sum()
    if answer.resolution_s == 0:
        assert (answer.count == 1).all()
        assert sorted(answer.start.tolist()) == sorted(rows["start"].tolist())
        assert sorted(answer.stop.tolist()) == sorted(rows["stop"].tolist())
        return
    expected = groups(rows, answer.resolution_s)
    seen = set()
    for i in range(len(answer.start)):
        place = (int(answer.outcome[i]), family(int(answer.kind[i])), int(answer.slot[i]))
        # A merged rect starts with its first action, in the bucket that it stands for.
        group = (*place, int(answer.start[i] // answer.resolution_s))
        members = expected[group]
        assert group not in seen
        seen.add(group)
        assert answer.count[i] == len(members)
        assert answer.start[i] == rows["start"][members].min()
        assert answer.stop[i] == rows["stop"][members].max()
        durations = rows["stop"][members] - rows["start"][members]
        np.testing.assert_allclose(answer.busy_s[i], durations.sum(), rtol=1e-6)
        np.testing.assert_allclose(answer.longest_s[i], durations.max(), rtol=1e-6)
        task = rows["task"][members].tolist().index(answer.task[i])
        assert rows["prefix"][members[task]] == answer.prefix[i]
    assert seen == expected.keys()


def same(one: LevelOfDetail, other: LevelOfDetail) -> None:
    """Assert that two answers are equal."""
    for column in fields(LevelOfDetail):
        got, wanted = getattr(one, column.name), getattr(other, column.name)
        if column.name == "busy_s":  # a sum, perhaps added up in another order
            np.testing.assert_allclose(got, wanted, rtol=1e-6)
        else:
            np.testing.assert_array_equal(got, wanted)
