"""What was gathered of blocks that do not change any more; knows nothing of windows or levels.

A live log is looked at again and again while it grows: all but its last rows were merged before.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from dask_diag_lab.store.block import Block
from dask_diag_lab.store.recent import Recent
from dask_diag_lab.store.rects import Rects, nothing

KEPT: Final = 8
"""Of 9 columns of some thousand rects each: together some megabytes at most."""


class Settled:
    """Rects of the first blocks of an answer, by question, those used last, for any thread."""

    def __init__(self) -> None:
        self._kept: Recent[Hashable, tuple[tuple[int, ...], Rects]] = Recent(KEPT)

    def longest(self, questions: Sequence[Hashable], blocks: Sequence[Block]) -> tuple[int, Rects]:
        """Return the rects of as many of the first ``blocks`` as are known, and of how many.

        They belong to all who ask: nobody may write into them.
        """
        serials = tuple(block.serial for block in blocks)
        best: tuple[int, Rects] = (0, nothing())
        for question in questions:
            known, rects = self._kept.get(question) or ((), best[1])
            if known and serials[: len(known)] == known:
                best = max(best, (len(known), rects), key=lambda found: found[0])
        return best

    def keep(self, question: Hashable, blocks: Sequence[Block], rects: Rects) -> None:
        """Remember the rects of some blocks, in place of what was known of the question."""
        self._kept.keep(question, (tuple(block.serial for block in blocks), rects))
