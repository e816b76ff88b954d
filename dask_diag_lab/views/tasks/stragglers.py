"""Which running tasks take far longer than their like did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.store.sums import NO_DURATIONS, Durations

RATIO: Final = 3.0
LEAST_S: Final = 2.0
LEAST_TASKS: Final = 3
"""Of fewer tasks a median says nothing."""


def is_straggler(
    prefix: npt.NDArray[np.int64],
    elapsed_s: npt.NDArray[np.float64],
    durations: Mapping[int, Durations],
) -> npt.NDArray[np.bool_]:
    """Return which running tasks take more than `RATIO` medians of their prefix, and `LEAST_S`.

    Parameters
    ----------
    prefix : ndarray of int64
        String id of each one's prefix.
    elapsed_s : ndarray of float64
        Seconds since its start.
    durations : mapping of int to Durations
        Of the tasks that ended well, by string id of the prefix.
    """
    found = np.zeros(len(prefix), dtype=np.bool_)
    for row in np.flatnonzero(elapsed_s > LEAST_S).tolist():
        like = durations.get(int(prefix[row]), NO_DURATIONS)
        found[row] = like.n_tasks >= LEAST_TASKS and elapsed_s[row] > RATIO * like.median_s
    return found
