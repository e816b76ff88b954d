"""How to read a plot, on its page: a key of lines, and never HTML from a text."""

from __future__ import annotations

import pytest

from dask_diag_lab.server.help_text import help_html
from dask_diag_lab.views.registry import PLOTS, Plot
from tests.kernel.serving import run, serving


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("One bar.", "<p>One bar.</p>"),
        ("One\nbar.\n\nTwo.", "<p>One bar.</p><p>Two.</p>"),
        (
            "Bars.\n- a: done\n- at: its\n  page\n- no",
            "<p>Bars.</p><ul><li><b>a</b>: done</li><li><b>at</b>: its page</li><li>no</li></ul>",
        ),
        ("- a\n\nAnd.", "<ul><li>a</li></ul><p>And.</p>"),
        ("<b>\n- <i>: &", "<p>&lt;b&gt;</p><ul><li><b>&lt;i&gt;</b>: &amp;</li></ul>"),
    ],
)
def test_lines_become_a_key_and_all_is_escaped(text: str, html: str) -> None:
    assert help_html(text) == html


def test_a_page_has_the_help_of_its_plots_and_a_bare_one_has_not() -> None:
    plot = next(plot for plot in PLOTS if plot.name == "cpu")

    async def story() -> None:
        async with serving((plot,)) as served:
            for path in ("/plots/cpu", "/status"):
                assert help_html(plot.help) in (await served.ask(path)).body.decode()
            bare = (await served.ask("/plots/cpu?bare=1")).body.decode()
            assert help_html(plot.help) not in bare

    run(story())


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_the_help_of_every_plot_is_a_sentence_or_two_and_a_key(
    plot: Plot,
) -> None:
    first, *lines = plot.help.split("\n")
    assert len(first) <= 260
    assert lines
    assert all(line.startswith("- ") and ": " in line and len(line) <= 240 for line in lines)
