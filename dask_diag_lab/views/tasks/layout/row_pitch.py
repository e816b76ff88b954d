"""How far apart the rows of small parts of a graph are, so that they can be read beside large ones.

A picture as high as its largest part would draw the others as a heap of dots.

Pure NumPy; knows neither how a layout is made nor Bokeh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.layout.layered_graph import part_labels

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_FULL: Final = 0.8
"""Share of the pane that parts may take before their rows get closer again."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What the placed parts of a graph ask for.

    Attributes
    ----------
    pitch : int
        Rows from one node of a small part to the next.
    is_small : ndarray of bool
        Whether each node is of a part that can be read by itself.
    """

    pitch: int
    is_small: Bools


def pitch_beside(rows: float, most_rows: float) -> int:
    """Return the pitch of small parts beside one of so many rows.

    Parameters
    ----------
    rows : float
    most_rows : float
        Rows that can be told apart in a pane.
    """
    return max(int(rows // most_rows), 1)


def scale_of(places: Floats, edges: npt.NDArray[np.integer], most_rows: float) -> Scale:
    """Return the scale of a graph as far as it has places.

    Parameters
    ----------
    places : ndarray of float64, shape (n, 2)
        Layer and row of each node; NaN where it has none.
    edges : ndarray of int, shape (m, 2)
    most_rows : float
        Rows that can be told apart in a pane.
    """
    n = len(places)
    is_placed = ~np.isnan(places[:, 1])
    rows = places[is_placed, 1]
    if not len(rows) or pitch_beside(np.ptp(rows) + 1, most_rows) == 1:
        return Scale(1, np.zeros(n, dtype=np.bool_))
    label = part_labels(n, edges)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, label[is_placed], rows)
    np.maximum.at(high, label[is_placed], rows)
    tallest = float((high - low).max()) + 1
    return Scale(pitch_beside(tallest, most_rows), _nodes_abreast(places, label) <= most_rows)


def _nodes_abreast(places: Floats, label: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Return for each node how many nodes the fullest layer of its part has."""
    n = len(label)
    layer = np.nan_to_num(places[:, 0], nan=-1.0).astype(np.int64)
    layer -= layer.min()
    codes, counts = np.unique(label * (layer.max() + 1) + layer, return_counts=True)
    abreast = np.zeros(n, dtype=np.int64)
    np.maximum.at(abreast, codes // (layer.max() + 1), counts)
    widest: npt.NDArray[np.int64] = abreast[label]
    return widest


def fitting_pitch(pitch: int, small: float, others: float, shape: float, most_rows: float) -> int:
    """Return a pitch for which there is room in the pane without that all gets smaller.

    Parameters
    ----------
    pitch : int
        What is wanted.
    small, others : float
        Cells that small parts take at pitch 1, and that all else takes.
    shape : float
        Columns to a row of the pane.
    most_rows : float
        Rows that can be told apart in a pane.
    """
    rows = pitch * most_rows
    while pitch > 1 and others + pitch * small > _FULL * shape * rows**2:
        pitch //= 2
    return pitch
