"""Why a view shows nothing, where that is not only the view's to say: its data may never come."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dask_diag_lab.records import EXTRA_NAMES, GRAPH
from dask_diag_lab.views.asked import UNASKED

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.base import Notice, View


def notice_of(store: Store, view: View) -> Notice:
    """Return what a view says beside its picture, with the `empty_words` where it has none."""
    notice = view.notice
    return replace(notice, empty=empty_words(store, view)) if notice.empty else notice


def empty_words(store: Store, view: View) -> str:
    """Return why there is nothing; that something is awaited is said only while it may come."""
    is_in_vain = store.feed_state.state in ("lost", "closed") and not store.degraded
    return UNASKED if is_in_vain and is_without(store, view) else view.notice.empty


def is_without(store: Store, view: View) -> bool:
    """Return whether something has not come yet that the view needs."""
    needs = frozenset(map(str, view.needs))
    if GRAPH in needs and not store.graph.is_followed:
        return True
    return not all(store.extras[name].is_known for name in needs & EXTRA_NAMES)
