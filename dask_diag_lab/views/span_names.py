"""Names of spans that tell them apart: several computations may give theirs the same one.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from dask_diag_lab.views import format as fmt

NOT_BEGUN: Final = "not begun"
FAILED: Final = "failed"
NEVER_RAN: Final = "never ran"


def distinct(names: Sequence[str], starts: Sequence[float], unbegun: Sequence[str]) -> list[str]:
    """Return the name of each span, with when it began where others have that name.

    Parameters
    ----------
    names : sequence of str
    starts : sequence of float
        Seconds since the epoch; NaN where a span has not begun.
    unbegun : sequence of str
        What to say where there is no time; see `without_start`.
    """
    number = Counter(names)
    began = [fmt.clock(s) if math.isfinite(s) else w for s, w in zip(starts, unbegun, strict=True)]
    return [
        f"{name} · {text}" if number[name] > 1 else name
        for name, text in zip(names, began, strict=True)
    ]


def without_start(n_left: int, n_erred: int) -> str:
    """Return what to say of a span without a start, by its tasks left and erred.

    `distributed` knows when a task began only if it gave a result, so of a span whose tasks all
    failed nobody can tell whether any of them ran.
    """
    if n_left:
        return NOT_BEGUN
    return FAILED if n_erred else NEVER_RAN
