"""Which rows of each layer the nodes take that are placed.

Pure NumPy; knows neither how a layout is made nor Bokeh.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def rows_in(places: Floats, layers: Collection[int]) -> dict[int, list[float]]:
    """Return the rows that are taken in some layers, ascending.

    Parameters
    ----------
    places : ndarray of float64, shape (n, 2)
        Layer and row of each node; NaN where it has none.
    layers : collection of int
    """
    taken: dict[int, list[float]] = {layer: [] for layer in layers}
    x, y = places[np.isin(places[:, 0], list(layers))].T
    order = np.lexsort((y, x))
    found, first = np.unique(x[order], return_index=True)
    for layer, rows in zip(found.tolist(), np.split(y[order], first[1:]), strict=False):
        taken[int(layer)] = rows.tolist()
    return taken


def taken_room(
    places: Floats, edges: npt.NDArray[np.integer]
) -> tuple[tuple[int, float], list[float]]:
    """Return where what is placed begins, and how many rows it takes of each layer.

    Parameters
    ----------
    places : ndarray of float64, shape (n, 2)
        As for `rows_in`.
    edges : ndarray of int, shape (m, 2)
        Lines between nodes: the layer after a node that has some is taken as well.
    """
    is_placed = ~np.isnan(places[:, 0])
    if not is_placed.any():
        return (0, 0.0), []
    has_lines = np.zeros(len(places), dtype=np.bool_)
    has_lines[edges] = True
    has_lines = has_lines[is_placed]
    x, y = places[is_placed].T
    left, top = int(x.min()), float(y.min())
    layer = x.astype(np.int64) - left
    end = np.ceil(y - top + 1 - 1e-6)
    taken = np.zeros(int(layer.max()) + 2)
    np.maximum.at(taken, layer, end)
    np.maximum.at(taken, layer[has_lines] + 1, end[has_lines])
    return (left, top), taken.tolist()
