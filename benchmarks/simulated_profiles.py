"""Profiles of a long run of a large program: each of 20 000 frames, some of them 60 deep."""

from __future__ import annotations

import random
from typing import Any, Final

NODES: Final = 20_000
DEPTH: Final = 60
_FUNCTIONS: Final = 4000
_LIBRARY: Final = "/opt/venv/lib/python3.12/site-packages"

Tree = dict[str, Any]  # a node: values of several types


def profile_tree(seed: int) -> Tree:
    """Return a profile as a worker counts it: a sample at the callers of what ran."""
    chance = random.Random(seed)
    root = _node("root", "", 0)
    made = 1
    while made < NODES:
        stack = [root]
        weight = int(min(chance.paretovariate(0.8), 5000))
        for depth in range(chance.randint(DEPTH // 3, DEPTH)):
            callee, is_new = _callee(stack[-1], depth, chance)
            made += is_new
            stack.append(callee)
        for node in stack[:-1]:
            node["count"] += weight
    return root


def _callee(node: Tree, depth: int, chance: random.Random) -> tuple[Tree, bool]:
    """Return what a function calls this time, mostly what it called before, and whether not."""
    known = list(node["children"].values())
    is_usual = chance.random() < (0.93 if depth < 25 or len(known) > 2 else 0.55)
    if known and is_usual:
        return known[min(int(chance.expovariate(1.2)), len(known) - 1)], False
    number = chance.randrange(_FUNCTIONS)
    is_own = number % 5 == 0
    file = f"/home/me/m{number % 17}.py" if is_own else f"{_LIBRARY}/l{number % 30}/m{number}.py"
    made = _node(f"function_{number}", file, number)
    return node["children"].setdefault(made["identifier"], made), True


def _node(name: str, filename: str, line_number: int) -> Tree:
    place = {"filename": filename, "name": name, "line_number": line_number}
    return {
        "count": 0,
        "identifier": f"{name};{filename};{line_number}",
        "description": {**place, "line": f"result = {name}(argument, other=1)"},
        "children": {},
    }
