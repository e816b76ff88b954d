"""A statistical profile as flat arrays: frames, with samples put where they belong, and functions.

Pure: takes the trees of answers (see `QUESTIONS`); knows neither the history nor Bokeh.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from zlib import crc32

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.view import Table

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Tree = Mapping[str, Any]  # nested plain data: count, identifier, description, children

UNCLEAR: Final = "unclear"
"""Key of a node whose samples may be of any of the functions in its name."""


@dataclass(frozen=True, slots=True)
class Location:
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
        nodes, parents = _flatten(_settled_root(tree))
        self.parent = np.array(parents, dtype=np.int64)
        self.total = np.array([node["count"] for node in nodes], dtype=np.int64)
        below = np.bincount(self.parent[1:], weights=self.total[1:], minlength=len(parents))
        self.own = self.total - below.astype(np.int64)
        self.is_unclear = np.array([UNCLEAR in node for node in nodes], dtype=np.bool_)
        numbers: dict[str, int] = {}
        ids = [numbers.setdefault(node["identifier"], len(numbers)) for node in nodes]
        self.function = np.array(ids, dtype=np.int64)
        self.functions = list(numbers)
        # Not the nodes: the loop would take 6 ms to let go of 20,000 when the next profile comes.
        self._described = [node.get("description") or {} for node in nodes]

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
        return np.array(found, dtype=np.bool_)[self.function]

    def samples_in(self, frames: Bools) -> int:
        """Return the samples whose stack has one of these frames, each sample once."""
        above, covered = self.parent, np.zeros(len(self), dtype=np.bool_)
        while above.any():
            covered |= frames[above]
            above = self.parent[above]
        return int(self.total[frames & ~covered].sum())

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
        order = np.argsort(-self.total, kind="stable")[:most]
        return np.sort(order[self.total[order] > 0])


def _flatten(tree: Tree) -> tuple[list[Tree], list[int]]:
    """Return all nodes level by level and the index of each one's parent.

    Most samples first, then by name: equal siblings do not change places with a new answer.
    """
    nodes: list[Tree] = [tree]
    parents = [0]
    for index, node in enumerate(nodes):  # grows while it is walked
        children = node["children"].values()
        if len(children) > 1:
            children = sorted(children, key=lambda one: (-one["count"], one["identifier"]))
        nodes.extend(children)
        parents.extend([index] * len(children))
    return nodes, parents


def _settled_root(tree: Tree) -> Tree:
    """Return a tree whose samples are where they belong, without frames that have none."""
    called = list(tree["children"].values())
    for node in called:  # grows while it is walked
        if not node["count"]:
            return _settled(tree, 0, is_displaced=True)
        called.extend(node["children"].values())
    return _settled(tree, 0, is_displaced=False)


def _settled(node: Tree, given: int, *, is_displaced: bool) -> dict[str, Any]:
    """Return a frame that is given samples of its caller; see `Frames`."""
    children = list(node["children"].values())
    if not children:
        return {**node, "count": node["count"] + given}
    below = sum(child["count"] for child in children)
    rest = max(node["count"] - below, 0) * is_displaced
    passed = rest if len(children) == 1 else 0
    called = [_settled(child, passed, is_displaced=is_displaced) for child in children]
    if rest and len(children) > 1:
        names = sorted({str(child["description"].get("name") or "?") for child in children})
        what = {"identifier": f"{UNCLEAR};{';'.join(names)}", UNCLEAR: True, "children": {}}
        called.append({**what, "count": rest, "description": {"name": f"in {', '.join(names)}"}})
    by_name = {child["identifier"]: child for child in called if child["count"]}
    return {**node, "count": max(node["count"], below) + given, "children": by_name}


def functions_table(frames: Frames, interval_s: float, which: Bools | None = None) -> Table:
    """Return one row a function with samples, most samples of its own first, then most in all.

    ``share`` is of all samples; ``samples`` and ``total_s`` count a recursive call once.

    Parameters
    ----------
    frames : Frames
    interval_s : float
        Seconds that one sample stands for.
    which : ndarray of bool, optional
        Frames whose functions are listed; default all.
    """
    has_samples = frames.total > 0 if which is None else (frames.total > 0) & which
    seen = np.flatnonzero(has_samples[1:]) + 1
    functions, first = np.unique(frames.function[seen], return_index=True)
    n, outer = len(frames.functions), np.where(frames.within_itself(), 0, frames.total)
    own = np.bincount(frames.function, weights=frames.own, minlength=n)[functions]
    total = np.bincount(frames.function, weights=outer, minlength=n)[functions]
    order = np.lexsort((functions, -total, -own))
    own, total = own[order], total[order]
    places = [frames.location(index) for index in seen[first[order]].tolist()]
    return Table(
        columns={
            "function": [place.name for place in places],
            "own_s": (own * interval_s).tolist(),
            "total_s": (total * interval_s).tolist(),
            "share": (total / max(frames.samples, 1)).tolist(),
            "samples": total.astype(np.int64).tolist(),
            "place": [short_place(place) for place in places],
            "filename": [place.filename for place in places],
            "line_number": [place.line_number for place in places],
        },
        units={"own_s": "s", "total_s": "s"},
        stacks=(frames, interval_s),
    )


_LIBRARY: Final = re.compile(
    r".*/(?:(?:site|dist)-packages|python\d+/lib|lib(?:64)?/(?:python|pypy)[\d.]+t?)/(?P<path>.+)",
    re.IGNORECASE,
)
_CELL: Final = re.compile(r".*/ipykernel_\d+/(?P<path>\d+)\.py")
_BUILT_IN: Final = ("<frozen", "<built-in", "<low-level", "<__array")
_SHORT_PARTS: Final = 3
"""Folders and name of a file of the user's own that are shown."""


@lru_cache(maxsize=4096)
def _library_path(filename: str) -> str:
    """Return the path inside the library that a file belongs to; '' for other files."""
    path = filename.replace("\\", "/")
    found = _LIBRARY.fullmatch(path)
    if found is not None:
        return found["path"]
    return path if path.startswith(_BUILT_IN) else ""


def is_own(filename: str) -> bool:
    """Return whether a file is the user's: of no installed package and not of Python itself."""
    return bool(filename) and not _library_path(filename)


def short_file(filename: str) -> str:
    """Return how a file is called: inside its library, or by its last folders, or as a cell."""
    path = filename.replace("\\", "/")
    cell = _CELL.fullmatch(path)
    if cell is not None:
        return f"notebook cell {cell['path']}"
    return _library_path(filename) or "/".join(path.split("/")[-_SHORT_PARTS:])


def short_place(place: Location) -> str:
    """Return file and line of a frame, short; '' where the file is not known."""
    line = f":{place.line_number}" if place.line_number else ""
    return short_file(place.filename) + line if place.filename else ""


def file_index(filename: str) -> int:
    """Return a number for the colour of a file, the same in every process.

    All files of one library have the same; each file of the user's own has one of its own.
    """
    inside = _library_path(filename)
    name = inside.split("/")[0] if inside else filename.replace("\\", "/")
    return crc32(name.encode("utf-8", "replace"))
