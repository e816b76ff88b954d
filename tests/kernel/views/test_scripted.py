"""Our own Bokeh models: both sides agree, pages get the script, no other script is text."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from bokeh.embed import file_html
from bokeh.model import Model
from bokeh.models import CustomJS, CustomJSHover, CustomJSTickFormatter
from bokeh.resources import CDN, INLINE, Resources

import dask_diag_lab
from dask_diag_lab.server.sessions import scripts_for
from dask_diag_lab.store import Store
from dask_diag_lab.views import scripted
from dask_diag_lab.views.plot import Plot
from dask_diag_lab.views.registry import PLOTS
from dask_diag_lab.views.stream.task_stream import TaskStream

SCRIPT = Path(dask_diag_lab.__file__).parent / "dist" / "dask_diag_lab.js"
MODELS = [
    model
    for _, model in inspect.getmembers(scripted, inspect.isclass)
    if model.__module__ == scripted.__name__
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_script_has_each_model_with_its_properties(model: type[Model]) -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    found = re.search(rf"class {model.__name__} extends \w+ \{{.*?\n    \}}\n", text, re.DOTALL)
    assert found is not None
    defined = set(re.findall(r"(\w+): \[(?:AnyRef|Str|Float)", found[0]))
    parent = model.__mro__[1]
    assert issubclass(parent, Model)
    assert defined == model.properties() - parent.properties()
    assert f"this.__name__ = '{model.__name__}'" in found[0]
    assert f"const MODULE = '{model.__module__}'" in text


def test_the_script_registers_each_model() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    returned = re.search(r"return \[([\w, \n]+)\];\n  \}\n", text)
    assert returned is not None
    assert set(re.findall(r"\w+", returned[1])) == {model.__name__ for model in MODELS}


def test_a_page_with_such_a_model_loads_the_script_after_bokeh() -> None:
    scripts = scripts_for(TaskStream(Store()).build().references())
    assert scripts[0] == "static/js/bokeh.min.js"
    assert "static/dask-diag-lab/dist/dask_diag_lab.js" in scripts


@pytest.mark.parametrize(
    ("resources", "bokeh"), [(INLINE, "/* END bokeh.min.js */"), (CDN, ".min.js")]
)
def test_a_saved_document_carries_the_script_after_bokeh(resources: Resources, bokeh: str) -> None:
    figure = TaskStream(Store()).build()
    page = file_html(figure, resources, suppress_callback_warning=True)
    script = SCRIPT.read_text(encoding="utf-8")
    assert page.count(script) == 1
    assert 0 < page.index(bokeh) < page.index(script)


def test_the_script_can_stand_inside_a_page() -> None:
    assert "</script" not in SCRIPT.read_text(encoding="utf-8").lower()


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_no_plot_sends_code_as_text(plot: Plot) -> None:
    view = plot.load()(Store())
    models = view.build().references()
    view.close()
    sent: list[Model] = [m for m in models if isinstance(m, CustomJS | CustomJSTickFormatter)]
    sent += [m for m in models if isinstance(m, CustomJSHover) and m.code]
    assert sent == []
