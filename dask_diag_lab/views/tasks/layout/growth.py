"""When a graph that grows has to be laid out anew: once many of its nodes are astray.

Pure; knows neither how a layout is made nor tasks.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.tasks.layout.layered_graph import part_labels

_FAIR: Final = 1 / 4
"""All nodes are placed anew when that share of them is astray."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of nodes.

    Attributes
    ----------
    places : ndarray of float64, shape (n, 2)
        Layer and row of each node; NaN where it has none yet.
    is_astray : ndarray of bool, shape (n,)
        Whether a layout of all would have put the node elsewhere: its part has grown together with
        a larger one that lay beside it, or there was no room for it where it belongs.
    pitch : int
        Rows from one node of a small part to the next: the least that there are, see `row_pitch`.
    """

    places: npt.NDArray[np.float64]
    is_astray: npt.NDArray[np.bool_]
    pitch: int

    def of(self, at: npt.NDArray[np.integer]) -> Layout:
        """Return the layout of nodes that had these indices; -1 of those that are new."""
        now = no_places(len(at))
        stays = at >= 0
        now.places[stays] = self.places[at[stays]]
        now.is_astray[stays] = self.is_astray[at[stays]]
        return Layout(now.places, now.is_astray, self.pitch)

    @property
    def is_placed(self) -> npt.NDArray[np.bool_]:
        """Whether each node has a place."""
        return ~np.isnan(self.places[:, 0])

    @property
    def is_worth_renewing(self) -> bool:
        """Whether so many are astray that all should move."""
        return int(self.is_astray.sum()) >= _FAIR * len(self.places) > 0


def no_places(n: int) -> Layout:
    """Return the layout of ``n`` nodes of which none has a place."""
    return Layout(np.full((n, 2), np.nan), np.zeros(n, dtype=np.bool_), sys.maxsize)


def is_side_by_side(layout: Layout, edges: npt.NDArray[np.integer]) -> bool:
    """Return whether some parts begin right of others: there they have no room to grow."""
    begins = layout.is_placed
    left = layout.places[begins, 0].min(initial=np.inf)
    begins[edges[:, 1]] = False
    return bool((layout.places[begins, 0] > left).any())


def smaller_joined(
    is_placed: npt.NDArray[np.bool_],
    edges: npt.NDArray[np.integer],
    joints: Iterable[Collection[int]],
) -> npt.NDArray[np.bool_]:
    """Return which nodes are in a part that newcomers join to a larger one.

    A node is in the smaller part at most log2(n) times, as its part doubles each time. So all
    together are never more than n·log2(n), however slowly the parts grow together.

    Parameters
    ----------
    is_placed : ndarray of bool
        Whether each node was there.
    edges : ndarray of int, shape (m, 2)
    joints : iterable of collections of int
        The nodes that were there and that a newcomer touches, by the parts of newcomers.
    """
    joints = [joint for joint in joints if len(joint) > 1]
    is_joined = np.zeros(len(is_placed), dtype=np.bool_)
    if not joints:
        return is_joined
    label = part_labels(len(is_placed), edges[is_placed[edges].all(axis=1)])
    size = np.bincount(label)
    for joint in joints:
        parts = dict.fromkeys(label[list(joint)].tolist())
        is_joined[sorted(parts, key=size.__getitem__)[:-1]] = True
    joined: npt.NDArray[np.bool_] = is_joined[label]
    return joined
