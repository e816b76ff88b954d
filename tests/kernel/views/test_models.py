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
from dask_diag_lab.store import LiveSession
from dask_diag_lab.views import models
from dask_diag_lab.views.registry import Plot, built_in_plots
from dask_diag_lab.views.stream.task_stream import TaskStream

PLOTS = built_in_plots()

SCRIPT = Path(dask_diag_lab.__file__).parent / "dist" / "dask_diag_lab.js"
SOURCES = Path(__file__).parents[3] / "src" / "models"
MODELS = [
    model
    for _, model in inspect.getmembers(models, inspect.isclass)
    if model.__module__ == models.__name__ and issubclass(model, Model)
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_browser_side_has_each_model_with_its_properties(model: type[Model]) -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in sorted(SOURCES.glob("*.ts")))
    found = re.search(rf"\bmodel\(\s*'{model.__name__}'.*?(?=\bmodel\(|\n  \];)", text, re.DOTALL)
    assert found is not None
    kinds = "AnyRef|Bool|Color|Float|Int|List|Nullable|NumberSpec|Str|StringSpec"
    defined = set(re.findall(rf"(\w+): \[(?:{kinds})\b", found[0]))
    (parent,) = (base for base in model.__bases__ if issubclass(base, Model))
    assert defined == model.properties() - parent.properties()


@pytest.mark.parametrize(
    ("resources", "bokeh"), [(INLINE, "/* END bokeh.min.js */"), (CDN, ".min.js")]
)
def test_a_saved_document_carries_the_script_after_bokeh(resources: Resources, bokeh: str) -> None:
    figure = TaskStream(LiveSession()).build()
    page = file_html(figure, resources, suppress_callback_warning=True)
    script = SCRIPT.read_text(encoding="utf-8")
    assert page.count(script) == 1
    assert 0 < page.index(bokeh) < page.index(script)


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_no_plot_sends_code_as_text(plot: Plot) -> None:
    view = plot(LiveSession())
    models = view.build().references()
    view.close()
    sent: list[Model] = [m for m in models if isinstance(m, CustomJS | CustomJSTickFormatter)]
    sent += [m for m in models if isinstance(m, CustomJSHover) and m.code]
    sent += [m for m in models if "HTMLTemplate" in type(m).__name__]
    assert sent == []
