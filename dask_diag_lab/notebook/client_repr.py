"""The *Launch dashboard in JupyterLab* button in the HTML repr of a client.

Dask's own repr has the button only where another package is installed in the kernel's
environment. Here it is added to the repr's text by the notebook's formatter, so that the class
``Client`` itself stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distributed import Client

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

COMMAND = "dask:populate-and-launch-layout"
"""The command that the button of Dask's own repr names; our Lab plugin answers to it."""

_BUTTON = f"""
<button style="margin-bottom: 12px;" data-commandlinker-command="{COMMAND}"
        data-commandlinker-args="{{}}">
    Launch dashboard in JupyterLab
</button>
"""


def client_html(client: Client) -> str:
    """Return Dask's repr of ``client`` with the button, exactly once.

    The button carries no address: the Lab plugin knows which dashboard belongs to the notebook
    that it was pressed in, and an address in a saved notebook would be stale or somebody else's.
    """
    html: str = client._repr_html_()
    if COMMAND in html:
        return html
    head, end_of_table, rest = html.partition("</table>")
    return f"{head}{end_of_table}{_BUTTON}{rest}" if end_of_table else f"{html}{_BUTTON}"


def add_launch_button(shell: InteractiveShell) -> None:
    """Make ``shell`` show clients with the button; harmless when done before."""
    if shell.display_formatter is None:
        return
    formatter = shell.display_formatter.formatters["text/html"]
    if Client not in formatter.type_printers:
        formatter.for_type(Client, client_html)
