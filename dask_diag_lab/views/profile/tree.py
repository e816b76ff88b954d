"""A statistical profile as flat arrays: frames, with samples put where they belong, and functions.

Pure: takes the trees of answers (see `QUESTIONS`); knows neither the store nor Bokeh.
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
"""Key of a node, in a tree made by `merge`, whose samples may be of any of the names there."""

MAX_CANDIDATES: Final = 6
"""Functions that are named where samples may belong to any of several."""


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
        self._nodes, parents = _flatten(tree)
        count = np.array([node["count"] for node in self._nodes], dtype=np.int64)
        parent = np.array(parents, dtype=np.int64)
        below = _sums(parent, count)
        rest = np.maximum(count - below, 0)
        if (count[1:] == 0).any():  # the samples are at the callers
            calls = np.bincount(parent[1:], minlength=len(parent))
            given = np.where(calls[parent] == 1, rest[parent], 0)
            given[0] = 0
            # What was cut off below a frame left it its samples.
            own, total = given + rest * (calls == 0), count + given
            unclear = np.flatnonzero((calls > 1) & (rest > 0))
        else:
            own, total = rest, np.maximum(count, below)
            unclear = np.zeros(0, dtype=np.int64)
        self.parent = np.concatenate((parent, unclear))
        self.total = np.concatenate((total, rest[unclear]))
        self.own = np.concatenate((own, rest[unclear]))
        known = np.array([UNCLEAR in node for node in self._nodes], dtype=np.bool_)
        self.is_unclear = np.concatenate((known, np.ones(len(unclear), dtype=np.bool_)))
        numbers: dict[str, int] = {}
        ids = (self._function_id(index) for index in range(len(self.parent)))
        self.function = np.array(
            [numbers.setdefault(one, len(numbers)) for one in ids], dtype=np.int64
        )
        self.functions = list(numbers)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def samples(self) -> int:
        """All samples of the profile."""
        return int(self.total[0])

    def location(self, index: int) -> Location:
        """Return function, file and line of one frame; of an unclear one what it may be."""
        if self.is_unclear[index]:
            names = self.candidates(index)
            more = f" and {len(names) - MAX_CANDIDATES} more" * (len(names) > MAX_CANDIDATES)
            return Location(f"in {', '.join(names[:MAX_CANDIDATES])}{more}", "", 0, "")
        if index == 0:
            return Location("all", "", 0, "")
        described = self._nodes[index].get("description")
        if not isinstance(described, dict):
            return Location(str(described or self._nodes[index]["identifier"]), "", 0, "")
        number = described.get("line_number")
        return Location(
            str(described.get("name") or "?"),
            str(described.get("filename") or ""),
            number if isinstance(number, int) and number > 0 else 0,
            str(described.get("line") or "").strip(),
        )

    def description(self, index: int) -> object:
        """Return what the tree has of a frame; an unclear one has nothing."""
        return {} if self.is_unclear[index] else self._nodes[index].get("description")

    def candidates(self, index: int) -> list[str]:
        """Return the names of the functions that an unclear frame may be, in alphabetical order."""
        if index < len(self._nodes):
            return list(self._nodes[index][UNCLEAR])
        children = self._nodes[self.parent[index]]["children"].values()
        names = [str(child["description"].get("name") or "?") for child in children]
        return sorted(dict.fromkeys(names))

    def path(self, index: int) -> tuple[str, ...]:
        """Return the identifiers from below the root down to this frame: it in another profile.

        That of an unclear frame is its parent's.
        """
        names: list[str] = []
        while index:
            if not self.is_unclear[index]:
                names.append(str(self._nodes[index]["identifier"]))
            index = int(self.parent[index])
        return tuple(reversed(names))

    def find(self, path: Sequence[str]) -> int:
        """Return the frame with this `path`, or the innermost of its callers that there is."""
        index = 0
        for name in path:
            called = np.flatnonzero(self.parent[: len(self._nodes)] == index)
            found = [one for one in called if one and self._nodes[one]["identifier"] == name]
            if not found or not self.total[found[0]]:
                return index
            index = int(found[0])
        return index

    def matches(self, text: str) -> Bools:
        """Return which frames have `text`, in small letters, in their function's name or file.

        Of unclear frames those do that may be such a function.
        """
        found = [text in name.lower().removeprefix(f"{UNCLEAR};") for name in self.functions]
        found[self.function[0]] = False
        return np.array(found, dtype=np.bool_)[self.function]

    def samples_in(self, frames: Bools) -> int:
        """Return the samples whose stack has one of these frames, each sample once."""
        covered = np.zeros(len(self), dtype=np.bool_)
        # Unclear frames of the tree's own callers stand behind all its levels.
        for begin, end in [*self._levels(), (len(self._nodes), len(self))]:
            callers = self.parent[begin:end]
            covered[begin:end] = covered[callers] | frames[callers]
        covered[0] = False
        return int(self.total[frames & ~covered].sum())

    def within_itself(self) -> Bools:
        """Return which frames were called, however indirectly, by their own function."""
        found = np.zeros(len(self), dtype=np.bool_)
        inner, above = np.arange(len(self)), self.parent
        while len(inner):
            found[inner[self.function[above] == self.function[inner]]] = True
            is_left = above > 0
            inner, above = inner[is_left], self.parent[above[is_left]]
        found[0] = False
        return found

    def heaviest(self, most: int) -> Ints:
        """Return the frames with most samples, at most so many, parents before their children.

        A frame never has more samples than its caller, so callers are among them.
        """
        with_samples = np.flatnonzero(self.total > 0)
        if len(with_samples) > most:
            order = np.argsort(-self.total[with_samples], kind="stable")
            with_samples = np.sort(with_samples[order[:most]])
        return with_samples

    def _levels(self) -> list[tuple[int, int]]:
        """Return begin and end of each level below the root, among the nodes of the tree."""
        known = self.parent[: len(self._nodes)]
        levels = []
        begin, end = 1, int(np.searchsorted(known[1:], 1)) + 1
        while begin < end:
            levels.append((begin, end))
            begin, end = end, int(np.searchsorted(known[1:], end)) + 1
        return levels

    def _function_id(self, index: int) -> str:
        if self.is_unclear[index]:
            return f"{UNCLEAR};{';'.join(self.candidates(index))}"
        return str(self._nodes[index]["identifier"])


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


def _sums(parent: Ints, values: Ints) -> Ints:
    """Return for each frame the sum of `values` of those it called."""
    sums = np.bincount(parent[1:], weights=values[1:], minlength=len(parent))
    return np.asarray(sums, dtype=np.int64)


def merge(trees: Sequence[Tree]) -> Tree:
    """Return one tree of several, each with its samples where they belong.

    Task by task a caller has called fewer functions than all tasks together, so that more samples
    find their place.
    """
    root = _node(0, "root", {})
    for tree in trees:
        frames = Frames(tree)
        nodes = [root]
        root["count"] += int(frames.total[0])
        for index in range(1, len(frames)):
            siblings = nodes[frames.parent[index]]["children"]
            name = frames.functions[frames.function[index]]
            node = siblings.get(name)
            if node is None:
                node = siblings[name] = _node(0, name, frames.description(index))
                if frames.is_unclear[index]:
                    node[UNCLEAR] = frames.candidates(index)
            node["count"] += int(frames.total[index])
            nodes.append(node)
    nodes = [root]
    for node in nodes:  # frames without samples would say that the tree is not settled
        node["children"] = {k: child for k, child in node["children"].items() if child["count"]}
        nodes.extend(node["children"].values())
    return root


def _node(count: int, identifier: str, description: object) -> dict[str, Any]:
    return {"count": count, "identifier": identifier, "description": description, "children": {}}


def remainder(whole: Tree, parts: Sequence[Tree]) -> Tree:
    """Return the tree of all samples of ``whole`` that are in none of ``parts``.

    Answers come one after the other: what a part has and the whole does not have yet is left out.
    A frame has at most the samples of its caller. A function without samples, which its caller may
    have called at the end, stays where no part has it, or where nothing else would be left to have
    the caller's samples.
    """
    rest = _less(whole, parts, int(whole["count"]))
    todo = [(rest, whole, list(parts))]
    while todo:
        node, old, same = todo.pop()
        children = old["children"]
        here = {
            name: [one["children"][name] for one in same if name in one["children"]]
            for name in children
        }
        left = node["count"]
        for name in sorted(children, key=lambda name: -int(children[name]["count"])):
            if not children[name]["count"]:
                continue
            child = _less(children[name], here[name], left)
            if child["count"] or not here[name]:
                left -= child["count"]
                node["children"][name] = child
                todo.append((child, children[name], here[name]))
        innermost = [name for name in children if not children[name]["count"]]
        unseen = [name for name in innermost if not here[name]]
        for name in unseen or innermost:
            node["children"][name] = _less(children[name], [], 0)
    return rest


def _less(node: Tree, parts: Sequence[Tree], most: int) -> dict[str, Any]:
    """Return a frame without callees, with what others leave of its samples."""
    left = int(node["count"]) - sum(int(part["count"]) for part in parts)
    return {**node, "count": max(min(left, most), 0), "children": {}}


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
    n = len(frames.functions)
    own = np.bincount(frames.function, weights=frames.own, minlength=n)[functions]
    outer = np.where(frames.within_itself(), 0, frames.total)
    total = np.bincount(frames.function, weights=outer, minlength=n)[functions]
    places = [frames.location(index) for index in seen[first].tolist()]
    order = sorted(
        range(len(places)), key=lambda i: (-own[i], -total[i], places[i].name, places[i].filename)
    )
    own, total = own[order], total[order]
    places = [places[index] for index in order]
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
    )


_PACKAGES: Final = re.compile(r".*/(?:site|dist)-packages/(?P<path>.+)", re.IGNORECASE)
_STANDARD: Final = re.compile(r".*/lib(?:64|/pypy)?/?python\d[\d.]*t?/(?P<path>.+)", re.IGNORECASE)
_STANDARD_WINDOWS: Final = re.compile(r"[a-z]:/.*python[^/]*/lib/(?P<path>.+)", re.IGNORECASE)
_CELL: Final = re.compile(r".*/ipykernel_\d+/(?P<path>\d+)\.py")
_DASK: Final = re.compile(r".*/(?P<path>(?:dask/_task_spec|dask/core|distributed/worker)\.py)")
_BUILT_IN: Final = ("<frozen", "<built-in", "<low-level", "<__array")
_SHORT_PARTS: Final = 3
"""Folders and name of a file of the user's own that are shown."""


def _library_path(filename: str) -> str:
    """Return the path inside the library that a file belongs to; '' for other files."""
    path = filename.replace("\\", "/")
    for pattern in (_PACKAGES, _STANDARD, _STANDARD_WINDOWS, _DASK):
        found = pattern.fullmatch(path)
        if found is not None:
            return found["path"]
    return path if path.startswith(_BUILT_IN) else ""


@lru_cache(maxsize=4096)
def is_own(filename: str) -> bool:
    """Return whether a file is the user's: of no installed package and not of Python itself."""
    return bool(filename) and not _library_path(filename)


@lru_cache(maxsize=4096)
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


@lru_cache(maxsize=4096)
def file_index(filename: str) -> int:
    """Return a number for the colour of a file, the same in every process.

    All files of one library have the same; each file of the user's own has one of its own.
    """
    inside = _library_path(filename)
    name = inside.split("/")[0] if inside else filename.replace("\\", "/")
    return crc32(name.encode("utf-8", "replace"))
