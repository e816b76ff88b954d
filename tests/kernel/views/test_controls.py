"""Controls: what they call, how they look, and what is never sent."""

from __future__ import annotations

from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent
from bokeh.events import ButtonClick
from bokeh.models.callbacks import CustomJS
from bokeh.models.widgets import AutocompleteInput

from dask_diag_lab.views import controls
from dask_diag_lab.views.look import DARK, LIGHT


def _nothing(*_: object) -> None:
    """Do nothing."""


def test_select_tells_the_value_that_was_chosen() -> None:
    chosen: list[str] = []
    made = controls.select(LIGHT, "Task", [("", "All"), ("inc", "inc")], "", chosen.append)
    made.value = "inc"
    assert chosen == ["inc"]


def test_the_words_in_front_of_a_list_take_nothing_of_its_width() -> None:
    options = ["by number of tasks"]
    bare = controls.select(LIGHT, "", options, options[0], _nothing, width=160)
    titled = controls.select(LIGHT, "Order", options, options[0], _nothing, width=160)
    assert bare.width == 160
    assert titled.width == controls.select_width("Order", 160) > 160 + 30


def test_text_input_tells_the_text() -> None:
    texts: list[str] = []
    controls.text_input(LIGHT, "Search", texts.append).value = "svd"
    assert texts == ["svd"]


def test_text_input_with_completions_takes_other_text_as_well() -> None:
    made = controls.text_input(LIGHT, "Key", _nothing, completions=["inc-1"])
    assert isinstance(made, AutocompleteInput)
    assert made.restrict is False
    assert made.completions == ["inc-1"]


def test_button_calls_once_for_each_click() -> None:
    clicks: list[int] = []
    made = controls.button(LIGHT, "Refresh", lambda: clicks.append(1))
    made._trigger_event(ButtonClick(made))  # what the server does with a click
    assert clicks == [1]


def test_toggle_tells_whether_it_is_pressed() -> None:
    states: list[bool] = []
    made = controls.toggle(LIGHT, "Table", states.append)
    made.active = True
    made.active = False
    assert states == [True, False]


def test_choice_tells_the_index() -> None:
    indices: list[int] = []
    controls.choice(LIGHT, ["In", "Out"], 0, indices.append).active = 1
    assert indices == [1]


def test_words_are_text_and_never_markup() -> None:
    assert controls.words(LIGHT, "<b>x</b>").render_as_text is True


def test_every_control_is_low_and_takes_the_looks_colours() -> None:
    made = (
        controls.select(DARK, "", ["a"], "a", _nothing),
        controls.text_input(DARK, "", _nothing),
        controls.button(DARK, "b", lambda: None),
        controls.toggle(DARK, "t", _nothing),
        controls.choice(DARK, ["a", "b"], 0, _nothing),
    )
    assert {model.height for model in made} == {controls.HEIGHT_PX}
    for model in made:
        (css,) = model.stylesheets
        assert DARK.background in str(css)
        assert DARK.foreground in str(css)


def test_restyling_a_bar_reaches_its_parts() -> None:
    button = controls.button(LIGHT, "b", lambda: None)
    row = controls.bar(button, controls.bar(inner := controls.toggle(LIGHT, "t", _nothing)))
    controls.restyle_controls([row], DARK)
    assert button.stylesheets == inner.stylesheets == [controls.controls_css(DARK)]


def test_restyling_to_the_same_look_sends_nothing() -> None:
    document, events = Document(), list[DocumentChangedEvent]()
    row = controls.bar(controls.button(LIGHT, "b", lambda: None))
    document.add_root(row)
    document.on_change(events.append)
    controls.restyle_controls([row], LIGHT)
    assert events == []


def test_no_control_brings_a_script() -> None:
    row = controls.bar(
        controls.select(LIGHT, "Task", ["a"], "a", _nothing),
        controls.text_input(LIGHT, "", _nothing, completions=["a"]),
        controls.button(LIGHT, "b", lambda: None),
    )
    assert not list(row.select({"type": CustomJS}))
