"""The frames of a statistical profile as flat arrays, with samples put where they belong.

Pure: takes the tree of an answer, knows nothing of the store, of Bokeh or of pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Tree = Mapping[str, Any]  # nested plain data, as `records.QUESTIONS` describes it

UNCLEAR: Final = "unclear"
"""Key of a node, in a tree made by `settled`, whose samples may be of any of the names there."""

MAX_CANDIDATES: Final = 6
"""Functions that are named where samples may belong to any of several."""


@dataclass(frozen=True, slots=True)
class Place:
    """A function and where it was seen.

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
    depth : ndarray of int64
        0 for the root.
    total : ndarray of int64
        Samples in a frame or in what it called.
    own : ndarray of int64
        Samples in the frame itself.
    left : ndarray of int64
        Samples to the left of it when siblings stand side by side, most samples first.
    is_unclear : ndarray of bool
        Samples of some of the functions that the parent called, it is not known of which.
    is_displaced : bool
        Whether the tree had its samples at the callers.
    functions : list of str
        What is the same for all frames of one function, each once.
    function : ndarray of int64
        Index in `functions` of each frame's.
    """

    def __init__(self, tree: Tree) -> None:
        self._nodes, parents = _flat(tree)
        count = np.array([node["count"] for node in self._nodes], dtype=np.int64)
        parent = np.array(parents, dtype=np.int64)
        below = _sums(parent, count)
        rest = np.maximum(count - below, 0)
        self.is_displaced = bool((count[1:] == 0).any())
        if self.is_displaced:
            given, is_innermost = _given(parent, rest), _calls(parent) == 0
            # What was cut off below a frame left it its samples.
            own, total = given + rest * is_innermost, count + given
            unclear = _unclear(parent, rest)
        else:
            own, total = rest, np.maximum(count, below)
            unclear = np.zeros(0, dtype=np.int64)
        self.parent = np.concatenate((parent, unclear))
        self.total = np.concatenate((total, rest[unclear]))
        self.own = np.concatenate((own, rest[unclear]))
        known = np.array([UNCLEAR in node for node in self._nodes], dtype=np.bool_)
        self.is_unclear = np.concatenate((known, np.ones(len(unclear), dtype=np.bool_)))
        self.depth, self.left = _positions(self.parent, self.total, len(parent))
        numbers: dict[str, int] = {}
        names = map(self._function, range(len(self.parent)))
        self.function = np.array(
            [numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64
        )
        self.functions = list(numbers)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def samples(self) -> int:
        """All samples of the profile."""
        return int(self.total[0])

    def matches(self, text: str) -> Flags:
        """Return which of `functions` have `text`, in small letters, in their name or file.

        Of unclear frames those do that may be such a function.
        """
        # A function's file is not among the names of what an unclear frame may be.
        found = [text in name.lower().removeprefix(f"{UNCLEAR};") for name in self.functions]
        found[self.function[0]] = False
        return np.array(found, dtype=np.bool_)

    def place(self, index: int) -> Place:
        """Return function, file and line of one frame; of an unclear one what it may be."""
        if self.is_unclear[index]:
            names = self.candidates(index)
            more = f" and {len(names) - MAX_CANDIDATES} more" * (len(names) > MAX_CANDIDATES)
            return Place(f"in {', '.join(names[:MAX_CANDIDATES])}{more}", "", 0, "")
        if index == 0:
            return Place("all", "", 0, "")
        said = self._nodes[index].get("description")
        if not isinstance(said, dict):
            return Place(str(said or self._nodes[index]["identifier"]), "", 0, "")
        number = said.get("line_number")
        return Place(
            str(said.get("name") or "?"),
            str(said.get("filename") or ""),
            number if isinstance(number, int) and number > 0 else 0,
            str(said.get("line") or "").strip(),
        )

    def description(self, index: int) -> object:
        """Return what the tree says of a frame; an unclear one has nothing."""
        return {} if self.is_unclear[index] else self._nodes[index].get("description")

    def candidates(self, index: int) -> list[str]:
        """Return the names of the functions that an unclear frame may be, in alphabetical order."""
        if index < len(self._nodes):
            return list(self._nodes[index][UNCLEAR])
        kids = self._nodes[self.parent[index]]["children"].values()
        names = [str(kid["description"].get("name") or "?") for kid in kids]
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
            kids = np.flatnonzero(self.parent[: len(self._nodes)] == index)
            found = [kid for kid in kids if kid and self._nodes[kid]["identifier"] == name]
            if not found or not self.total[found[0]]:
                return index
            index = int(found[0])
        return index

    def ancestors(self, index: int) -> list[int]:
        """Return the callers of a frame, the root first."""
        found: list[int] = []
        while index:
            index = int(self.parent[index])
            found.append(index)
        return found[::-1]

    def _function(self, index: int) -> str:
        if self.is_unclear[index]:
            return f"{UNCLEAR};{';'.join(self.candidates(index))}"
        return str(self._nodes[index]["identifier"])


def settled(trees: Sequence[Tree]) -> Tree:
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
    _prune(root)
    return root


def _node(count: int, identifier: str, description: object) -> dict[str, Any]:
    return {"count": count, "identifier": identifier, "description": description, "children": {}}


def _prune(root: dict[str, Any]) -> None:
    """Leave out frames without samples: in a settled tree they would say that it is not."""
    nodes = [root]
    for node in nodes:  # grows while it is walked
        kept = {name: kid for name, kid in node["children"].items() if kid["count"]}
        node["children"] = kept
        nodes.extend(kept.values())


def _flat(tree: Tree) -> tuple[list[Tree], list[int]]:
    """Return all nodes level by level and the index of each one's parent.

    Most samples first, then by name: equal siblings do not change places with a new answer.
    """
    nodes: list[Tree] = [tree]
    parents = [0]
    for index, node in enumerate(nodes):  # grows while it is walked
        kids = node["children"].values()
        if len(kids) > 1:
            kids = sorted(kids, key=lambda kid: (-kid["count"], kid["identifier"]))
        nodes.extend(kids)
        parents.extend([index] * len(kids))
    return nodes, parents


def _sums(parent: Ints, values: Ints) -> Ints:
    """Return for each frame the sum of `values` of those it called."""
    sums = np.bincount(parent[1:], weights=values[1:], minlength=len(parent))
    return np.asarray(sums, dtype=np.int64)


def _calls(parent: Ints) -> Ints:
    """Return how many others each frame called."""
    return np.asarray(np.bincount(parent[1:], minlength=len(parent)), dtype=np.int64)


def _given(parent: Ints, rest: Ints) -> Ints:
    """Return the samples that each frame gets of its caller, which called nothing else."""
    given = np.where(_calls(parent)[parent] == 1, rest[parent], 0)
    given[0] = 0
    return np.asarray(given, dtype=np.int64)


def _unclear(parent: Ints, rest: Ints) -> Ints:
    """Return the frames that called several others and have samples in some of them."""
    return np.asarray(np.flatnonzero((_calls(parent) > 1) & (rest > 0)), dtype=np.int64)


def _positions(parent: Ints, total: Ints, n_known: int) -> tuple[Ints, Ints]:
    """Return depth and left edge of each; frames from `n_known` on stand last in their parent."""
    depth = np.zeros(len(parent), dtype=np.int64)
    left = np.zeros(len(parent), dtype=np.int64)
    known = parent[:n_known]
    before = np.cumsum(total[:n_known]) - total[:n_known]
    first = np.searchsorted(known[1:], known) + 1  # parents ascend: the first of its siblings
    first[0] = 0
    beside = before - before[np.minimum(first, n_known - 1)]
    begin, end, level = 1, int(np.searchsorted(known[1:], 1)) + 1, 1
    while begin < end:
        part = slice(begin, end)
        depth[part] = level
        left[part] = left[known[part]] + beside[part]
        begin, end, level = end, int(np.searchsorted(known[1:], end)) + 1, level + 1
    last = parent[n_known:]
    depth[n_known:] = depth[last] + 1
    left[n_known:] = left[last] + _sums(known, total[:n_known])[last]
    return depth, left
