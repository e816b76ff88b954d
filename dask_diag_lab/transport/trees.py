"""Profiles as call trees: added up, and cut down to what can be looked at.

Pure; a tree is what `distributed.profile` makes: count, identifier, description, children.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dask_diag_lab.schema.columns import wire_error

MAX_NODES: Final = 20_000
"""Above this a tree is pruned: far more than a screen has pixels for."""

MIN_SHARE: Final = 0.001
"""Of all samples; a smaller child goes first."""

MAX_TEXT: Final = 300
"""Characters of a line of source."""

MAX_COUNT: Final = 10**12
"""Samples; counts of many workers still add up to what fits 64 bits."""

Tree = dict[str, Any]  # a node: values of several types


def empty_tree() -> Tree:
    """Return a root without samples."""
    return {
        "count": 0,
        "identifier": "root",
        "description": {"filename": "", "name": "", "line_number": 0, "line": ""},
        "children": {},
    }


def add_tree(total: Tree, tree: Any) -> int:  # what a worker sent
    """Add a tree's counts to ``total``, of which it keeps nothing; return how many nodes are new.

    `distributed`'s task profiler does not count the innermost frame of a sample
    (``Worker.trigger_profile`` hands `distributed.profile.process` a child that is not there), so
    a function that calls nothing has a count of 0 and its caller more than its children together.
    That is left as it is: which of several children it was is not known here either.

    Raises
    ------
    WireError
        It is no such tree; ``total`` is unchanged then.
    """
    _check(tree)
    stack, n_new = [(total, tree)], 0
    while stack:
        into, node = stack.pop()
        into["count"] += node["count"]
        children = into["children"]
        for name, child in node["children"].items():
            ours = children.get(name)
            if ours is None:
                n_new += 1
                ours = children[name] = {
                    "count": 0,
                    "identifier": name,
                    "description": _description(child["description"]),
                    "children": {},
                }
            stack.append((ours, child))
    return n_new


def prune_tree(tree: Tree) -> int:
    """Cut a large tree in place; return how many nodes went.

    Children below `MIN_SHARE` of all samples go first; where that is not enough, the share is
    doubled until `MAX_NODES` are left. A node keeps the counts of children that went: its own share
    grows by them.
    """
    before = left = count_nodes(tree)
    share = MIN_SHARE
    while left > MAX_NODES:
        # At least 1: of a tree without samples no share would ever be too small.
        _cut(tree, share * max(tree["count"], 1))
        left = count_nodes(tree)
        share *= 2
    return before - left


def count_nodes(tree: Tree) -> int:
    """Return the number of nodes, the root among them."""
    n, stack = 0, [tree]
    while stack:
        node = stack.pop()
        n += 1
        stack.extend(node["children"].values())
    return n


def _cut(tree: Tree, least: float) -> None:
    stack = [tree]
    while stack:
        node = stack.pop()
        children = node["children"]
        uncounted = node["count"] - sum(child["count"] for child in children.values())
        node["children"] = {
            name: child
            for name, child in children.items()
            # Innermost frames have no count of their own, and may be all that their caller has.
            if child["count"] >= least or (not child["count"] and uncounted >= least)
        }
        stack.extend(node["children"].values())


def _check(tree: Any) -> None:
    stack = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            raise wire_error("profile", "a tree", node)
        children = node.get("children")
        count = node.get("count")
        if type(count) is not int or not 0 <= count <= MAX_COUNT:
            raise wire_error("profile.count", "a count", count)
        if not isinstance(node.get("description"), dict):
            raise wire_error("profile.description", "a mapping", node.get("description"))
        if not isinstance(children, dict) or not all(type(name) is str for name in children):
            raise wire_error("profile.children", "trees by name", children)
        stack.extend(children.values())


def _description(given: Mapping[str, Any]) -> dict[str, str | int]:
    line_number = given.get("line_number")
    return {
        "filename": str(given.get("filename", ""))[:MAX_TEXT],
        "name": str(given.get("name", ""))[:MAX_TEXT],
        "line_number": line_number if isinstance(line_number, int) else 0,
        "line": str(given.get("line", ""))[:MAX_TEXT],
    }
