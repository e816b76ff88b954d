"""The kind of an error: type and place, or its text without what differs from case to case."""

from __future__ import annotations

import traceback

import pytest

from dask_diag_lab.collector.error_kind import error_kind

TRACEBACK = """  File "/a.py", line 9, in outer
    return inner(
  File "/b c.py", line 3, in inner
    text = '  File "not a frame"'
           ^^^^^^^^^^^^^^^^^^^^^^
  [Previous line repeated 12 more times]
"""


class OddError(Exception):
    def __repr__(self) -> str:
        return f"<{self.args[0]} is odd>"


def fail(error: Exception) -> tuple[str, str]:
    """Return text and traceback of an error, as the engine makes them."""
    with pytest.raises(type(error)) as caught:
        raise error
    return repr(error), "".join(traceback.format_tb(caught.tb))


def test_with_a_traceback_it_is_the_type_and_the_last_frame() -> None:
    assert error_kind("KeyError('x')", TRACEBACK) == 'KeyError, File "/b c.py", line 3, in inner'


def test_texts_of_one_place_are_of_one_kind() -> None:
    one, other = fail(ValueError("row 17")), fail(ValueError("column a"))
    assert error_kind(*one) == error_kind(*other)


def test_another_type_or_place_is_another_kind() -> None:
    text, place = fail(ValueError("x"))
    kinds = {
        error_kind(*fail(TypeError("x"))),
        error_kind(text, place),
        error_kind(text, TRACEBACK),
    }
    assert len(kinds) == 3


def test_where_the_text_names_no_type_the_place_tells() -> None:
    assert error_kind(*fail(OddError(1))) == error_kind(*fail(OddError(3)))


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("ValueError('row 17 is bad')", "ValueError('row 8 is bad')", "ValueError('row … is bad')"),
        ("""E("no 'a' in x")""", """E("no 'b' in x")""", 'E("no … in x")'),
        ("E('at', 3, 'a')", "E('at', 4, 'b')", "E('at', …, …)"),
        ("OSError('gone')", "OSError('gone')", "OSError('gone')"),
        ("lost 3 of 4", "lost 1 of 2", "lost … of …"),
    ],
)
def test_without_a_traceback_numbers_and_what_is_quoted_make_no_difference(
    one: str, other: str, kind: str
) -> None:
    assert error_kind(one, "") == error_kind(other, "") == kind


def test_without_a_traceback_other_words_are_another_kind() -> None:
    assert error_kind("OSError('gone')", "") != error_kind("OSError('full')", "")
    assert error_kind("E(\"a isn't b's\")", "") != error_kind("E(\"a isn't c's\")", "")


def test_long_texts_without_a_traceback_differ_by_no_number_and_no_length() -> None:
    one, other = (f"E({n}: {'x' * 600} {'y' * n})" for n in (1, 20))
    assert error_kind(one, "") == error_kind(other, "")
