"""Whose code a file is, what it is called, and that colours are stable."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dask_diag_lab.views.look import DARK, LIGHT
from dask_diag_lab.views.profile.files import color_index, is_own, short_file
from dask_diag_lab.views.profile.inks import file_color, luminance, quiet_color, text_on


@pytest.mark.parametrize(
    ("filename", "owned", "short"),
    [
        ("/home/me/project/src/model.py", True, "project/src/model.py"),
        ("model.py", True, "model.py"),
        ("/tmp/ipykernel_123/456.py", True, "notebook cell 456"),
        ("C:\\Users\\me\\model.py", True, "Users/me/model.py"),
        ("/opt/env/lib/python3.12/site-packages/numpy/core/x.py", False, "numpy/core/x.py"),
        ("/usr/lib/python3/dist-packages/yaml/x.py", False, "yaml/x.py"),
        ("/usr/lib/python3.12/json/encoder.py", False, "json/encoder.py"),
        ("/opt/python/lib/python3.13t/json/encoder.py", False, "json/encoder.py"),
        ("C:\\Python312\\Lib\\json\\encoder.py", False, "json/encoder.py"),
        ("C:\\env\\Lib\\site-packages\\numpy\\x.py", False, "numpy/x.py"),
        ("/src/dask/dask/_task_spec.py", False, "dask/_task_spec.py"),
        ("<frozen importlib._bootstrap>", False, "<frozen importlib._bootstrap>"),
        ("", False, ""),
    ],
)
def test_whose_a_file_is_and_its_short_name(filename: str, owned: bool, short: str) -> None:
    assert (is_own(filename), short_file(filename)) == (owned, short)


def test_all_files_of_a_library_have_one_colour() -> None:
    one, two = (f"/env/site-packages/numpy/{name}.py" for name in ("a", "b/c"))
    assert color_index(one) == color_index(two)


def test_own_code_never_has_the_colour_of_a_library() -> None:
    own = {file_color(LIGHT, f"/home/me/{i}.py") for i in range(100)}
    library = {file_color(LIGHT, f"/env/site-packages/p{i}/x.py") for i in range(100)}
    assert not own & library


def test_a_colour_is_the_same_in_another_process() -> None:
    code = (
        "from dask_diag_lab.views.profile.files import color_index;"
        "print(color_index('/home/me/model.py'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    )
    assert int(done.stdout) == color_index("/home/me/model.py")


@pytest.mark.parametrize("grey", range(0, 256, 5))
def test_text_can_be_read_on_any_fill(grey: int) -> None:
    fill = f"#{grey:02x}{grey:02x}{grey:02x}"
    low, high = sorted((luminance(fill), luminance(text_on(fill))))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_what_is_in_no_file_is_grey() -> None:
    assert file_color(DARK, "") == quiet_color(DARK)
