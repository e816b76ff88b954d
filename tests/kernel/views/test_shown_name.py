"""Names that Dask cuts out of keys, and what is shown of them."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from dask.utils import key_split

from dask_diag_lab.views.shown_name import BLANK, shown_name


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("", "Other"),
        ("a b", "a b"),
        ("<b>x</b>", "b>x</b"),
        ("<module.>", BLANK),
        ("_\u200b_", BLANK),
        ("a\nb", "a\ufffdb"),
        ("sum\u202e-1", "sum\ufffd"),
    ],
)
def test_every_name_that_dask_makes_can_be_seen(key: Hashable, shown: str) -> None:
    assert shown_name(key_split(key)) == shown


def test_a_name_of_ten_thousand_characters_keeps_both_its_ends() -> None:
    shown = shown_name("a" * 5_000 + "z" * 5_000, 40)
    assert len(shown) == 40
    assert (shown[:3], shown[-3:]) == ("aaa", "zzz")
