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
        (1, "Other"),
        (b"abc", "abc"),
        (("x", 1), "x"),
        ("a b", "a b"),
        ("ae05086432ca935f6eba409a8ecd4896", "data"),
        ("<b>x</b>", "b>x</b"),
        ("<module.Class object at 0x7f>", "Class"),
        ("<module.>", BLANK),
        (" ", BLANK),
        ("_\u200b_", BLANK),
        ("\ufeff\xa0", BLANK),
        ("a\nb", "a\ufffdb"),
        ("sum\u202e-1", "sum\ufffd"),
        ("f\u2066x\u2069", "f\ufffdx\ufffd"),
    ],
)
def test_every_name_that_dask_makes_can_be_seen(key: Hashable, shown: str) -> None:
    assert shown_name(key_split(key)) == shown


def test_a_name_of_ten_thousand_characters_keeps_both_its_ends() -> None:
    shown = shown_name("a" * 5_000 + "z" * 5_000, 40)
    assert len(shown) == 40
    assert (shown[:3], shown[-3:]) == ("aaa", "zzz")
