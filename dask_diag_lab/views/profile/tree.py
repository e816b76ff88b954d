"""A statistical profile as flat arrays: frames, with samples put where they belong, and functions.

Pure: takes the trees of answers (see `transport.answers`); knows neither the history nor Bokeh.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np

from dask_diag_lab.store.arrays import Bools, Ints
from dask_diag_lab.views.view import Table

Tree = Mapping[str, Any]  # nested plain data: count, identifier, description, children

UNCLEAR: Final = "unclear"
"""Begin of the identifier of a frame whose samples may be of any of the functions in its name."""


_LIBRARY: Final = re.compile(
    r".*/(?:(?:site|dist)-packages|python\d+/lib|lib(?:64)?/(?:python|pypy)[\d.]+t?)/(?P<path>.+)",
    re.IGNORECASE,
)
_CELL: Final = re.compile(r".*/ipykernel_\d+/(?P<path>\d+)\.py")
_BUILT_IN: Final = ("<frozen", "<built-in", "<low-level", "<__array")
_SHORT_PARTS: Final = 3
"""Folders and name of a file of the user's own that are shown."""


class File(NamedTuple):
    """A file of source code.

    Attributes
    ----------
    name : str
        How it is called: inside its library, or by its last folders, or as a cell.
    is_own : bool
        Whether it is the user's: of no installed package and not of Python itself.
    number : int
        For its colour, the same in every process. All files of one library have the same; each
        file of the user's own has one of its own.
    """

    name: str
    is_own: bool
    number: int


@lru_cache(maxsize=8192)
def file_of(filename: str) -> File:
    """Return the file with this path."""
    path = filename.replace("\\", "/")
    library, cell = _LIBRARY.fullmatch(path), _CELL.fullmatch(path)
    if library is not None or path.startswith(_BUILT_IN):
        name = path if library is None else library["path"]
        return File(name, is_own=False, number=_number(name.split("/")[0]))
    name = f"notebook cell {cell['path']}" if cell else "/".join(path.split("/")[-_SHORT_PARTS:])
    return File(name, is_own=bool(path), number=_number(path))


def _number(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))


class Location(NamedTuple):
    """A function and where it was sampled.

    Attributes
    ----------
    name, filename : str
    line_number : int
        Line that ran when the frame was first sampled; 0 when unknown.
    line : str
        That line's source; '' when unknown.
    """

    name: str
    filename: str
    line_number: int
    line: str

    @property
    def file(self) -> File:
        return file_of(self.filename)

    @property
    def place(self) -> str:
        """File and line, short; '' where the file is not known."""
        line = f":{self.line_number}" if self.line_number else ""
        return self.file.name + line if self.filename else ""


class Frames:
    """All frames of one profile, the root first, level by level, siblings by samples.

    A worker of Dask counts a sample at the *callers* of the function that ran, not at that
    function (``Worker.trigger_profile`` calls ``profile.process(frame, True, …)``, which leaves
    the innermost frame out). Where a caller has called one function only, its samples are put
    there. Where it has called several, they stay together in a frame of their own, `is_unclear`:
    a sample is never given to a function by guess.

    Parameters
    ----------
    tree : mapping
        ``{count, identifier, description, children: {identifier: tree}}``.

    Attributes
    ----------
    parent : ndarray of int64
        Index of the caller; 0 for the root, which is its own.
    total, own : ndarray of int64
        Samples in a frame or in what it called, and in the frame itself.
    is_unclear : ndarray of bool
        Samples of some of the functions that the parent called, it is not known of which.
    function : ndarray of int64
        Index in `functions` of each frame's.
    functions : list of str
        What is the same for all frames of one function, each once.
    """

    def __init__(self, tree: Tree) -> None:
        nodes, parents = [tree], [0]
        counts, names, described = list[int](), list[str](), list[Mapping[str, Any]]()
        for index, node in enumerate(nodes):  # grows while it is walked; once: memory is slow
            counts.append(node["count"])
            names.append(node["identifier"])
            described.append(node.get("description") or {})
            if counts[-1] or not index:  # below others there are no samples
                called = _in_order(node["children"].values())
                nodes.extend(called)
                parents.extend([index] * len(called))
        parent, count = np.array(parents), np.array(counts)
        below, n_called = _sums(parent, count), _sums(parent, np.ones_like(count))
        is_displaced = not count[1:].all()  # else the innermost frames have samples
        rest = np.maximum(count - below, 0) * (is_displaced & (n_called > 0))
        total = np.maximum(count, below)
        total[1:] += (rest * (n_called == 1))[parent[1:]]
        callers = np.flatnonzero(rest * (n_called > 1))
        for caller in callers.tolist():
            called = nodes[caller]["children"].values()
            may_be = sorted({str(one["description"].get("name") or "?") for one in called})
            names.append(f"{UNCLEAR};{';'.join(may_be)}")
            described.append({"name": f"in {', '.join(may_be)}"})
        parent, total = np.append(parent, callers), np.append(total, rest[callers])
        kept = np.append(0, np.flatnonzero(total[1:]) + 1)
        self.parent = np.searchsorted(kept, parent[kept])
        self.total = total[kept]
        self.own = self.total - _sums(self.parent, self.total)
        self.is_unclear = kept >= len(parents)
        # Not the nodes: the loop would take 6 ms to let go of 20,000 when the next profile comes.
        self._described = [described[row] for row in kept.tolist()]
        numbers: dict[str, int] = {}
        ids = [numbers.setdefault(names[row], len(numbers)) for row in kept.tolist()]
        self.function = np.array(ids)
        self.functions = list(numbers)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def samples(self) -> int:
        """All samples of the profile."""
        return int(self.total[0])

    def location(self, index: int) -> Location:
        """Return function, file and line of one frame; of an unclear one what it may be."""
        described = self._described[index]
        number = described.get("line_number")
        return Location(
            str(described.get("name") or "?") if index else "all",
            str(described.get("filename") or ""),
            number if isinstance(number, int) and number > 0 else 0,
            str(described.get("line") or "").strip(),
        )

    def path(self, index: int) -> tuple[str, ...]:
        """Return the identifiers from below the root down to this frame: it in another profile."""
        return tuple(self.functions[function] for function in self.stack(index))

    def stack(self, index: int) -> list[int]:
        """Return the functions, as in `function`, from below the root down to this frame."""
        functions: list[int] = []
        while index:
            functions.append(int(self.function[index]))
            index = int(self.parent[index])
        return functions[::-1]

    def find(self, path: Sequence[str]) -> int:
        """Return the frame with this `path`, or the innermost of its callers that there is."""
        index = 0
        for name in path:
            called = np.flatnonzero(self.parent == index).tolist()
            found = [at for at in called if at and self.functions[self.function[at]] == name]
            if not found:
                return index
            index = found[0]
        return index

    def counted_in(self, other: Frames) -> Ints:
        """Return the samples that each frame has in another profile; 0 where it is not in that."""
        calls = zip(other.parent.tolist(), other.function.tolist(), strict=True)
        row_of = {(above, other.functions[f]): row for row, (above, f) in enumerate(calls) if row}
        at = [0] * len(self)  # rows of the other; -1: not there
        for row, (above, f) in enumerate(
            zip(self.parent.tolist(), self.function.tolist(), strict=True)
        ):
            if row:
                at[row] = row_of.get((at[above], self.functions[f]), -1)
        return np.append(other.total, 0)[at]

    def matches(self, text: str) -> Bools:
        """Return which frames have `text`, in small letters, in their function's name or file.

        Of unclear frames those do that may be such a function.
        """
        found = [text in name.lower().removeprefix(f"{UNCLEAR};") for name in self.functions]
        found[self.function[0]] = False
        which: Bools = np.array(found)[self.function]
        return which

    def within_itself(self) -> Bools:
        """Return which frames were called, however indirectly, by their own function."""
        above, found = self.parent, np.zeros(len(self), dtype=np.bool_)
        while above.any():
            found |= (self.function[above] == self.function) & (above > 0)
            above = self.parent[above]
        return found

    def heaviest(self, most: int) -> Ints:
        """Return the frames with most samples, at most so many, parents before their children.

        A frame never has more samples than its caller, so callers are among them.
        """
        return np.sort(np.argsort(-self.total, kind="stable")[:most])


def _in_order(siblings: Collection[Tree]) -> Collection[Tree]:
    """Return most samples first, then by name: equal ones stay in place with a new answer."""
    if len(siblings) < 2:
        return siblings
    return sorted(siblings, key=lambda one: (-one["count"], one["identifier"]))


def _sums(parent: Ints, of: Ints) -> Ints:
    """Return the sum over what each frame called."""
    return np.bincount(parent[1:], weights=of[1:], minlength=len(parent)).astype(np.int64)


def functions_table(frames: Frames, interval_s: float, count: int = 0) -> Table:
    """Return one row a function with samples, most samples of its own first, then most in all.

    ``share`` is of all samples; ``samples`` and ``total_s`` count a recursive call once.

    Parameters
    ----------
    frames : Frames
    interval_s : float
        Seconds that one sample stands for.
    count : int
        Only the first so many; 0 for all.
    """
    outer = np.where(frames.within_itself(), 0, frames.total)
    own, total = (np.bincount(frames.function, weights=of)[1:] for of in (frames.own, outer))
    order = np.lexsort((-total, -own))[: count or None]
    own, total = own[order], total[order]
    first = np.unique(frames.function, return_index=True)[1][1:]  # without the root
    places = [frames.location(index) for index in first[order].tolist()]
    return Table(
        columns={
            "function": [place.name for place in places],
            "own_s": (own * interval_s).tolist(),
            "total_s": (total * interval_s).tolist(),
            "share": (total / max(frames.samples, 1)).tolist(),
            "samples": total.astype(np.int64).tolist(),
            "place": [place.place for place in places],
            "filename": [place.filename for place in places],
            "line_number": [place.line_number for place in places],
        },
        units={"own_s": "s", "total_s": "s"},
        note=f"{len(order)} of {len(first)} functions" if len(order) < len(first) else None,
        stacks=(frames, interval_s),
    )
