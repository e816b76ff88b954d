"""What a profile leaves when those of some of its tasks are taken away.

Pure: takes trees of answers, see `Frames`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dask_diag_lab.views.profile.frames import Tree

Node = dict[str, Any]  # a tree of ours: values of several types


def remainder(whole: Tree, parts: Sequence[Tree]) -> Tree:
    """Return the tree of all samples of ``whole`` that are in none of ``parts``.

    Answers come one after the other: what a part has and the whole does not have yet is left out.
    A frame has at most the samples of its caller, and a function without samples, which its caller
    may have called at the end, stays where no part has it, or where nothing else would be left to
    have the caller's samples.
    """
    rest = _less(whole, parts, int(whole["count"]))
    todo = [(rest, whole, list(parts))]
    while todo:
        node, old, theirs = todo.pop()
        children = old["children"]
        here = {name: _called(theirs, name) for name in children}
        left = node["count"]
        for name in sorted(children, key=lambda name: -int(children[name]["count"])):
            if not children[name]["count"]:
                continue
            kid = _less(children[name], here[name], left)
            if kid["count"] or not here[name]:
                left -= kid["count"]
                node["children"][name] = kid
                todo.append((kid, children[name], here[name]))
        innermost = [name for name in children if not children[name]["count"]]
        unseen = [name for name in innermost if not here[name]]
        for name in unseen or innermost:
            node["children"][name] = _less(children[name], [], 0)
    return rest


def _less(node: Tree, parts: Sequence[Tree], most: int) -> Node:
    """Return a frame without callees, with what others leave of its samples."""
    left = int(node["count"]) - sum(int(part["count"]) for part in parts)
    return {**node, "count": max(min(left, most), 0), "children": {}}


def _called(nodes: Sequence[Tree], name: str) -> list[Tree]:
    return [node["children"][name] for node in nodes if name in node["children"]]
