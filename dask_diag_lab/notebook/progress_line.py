"""How far a computation is, as a bar and words in a line of the console.

Must not count; writes to the standard output only.
"""

from __future__ import annotations

import sys

from dask_diag_lab.notebook.progress_report import Report, problem, summary


class ProgressLine:
    """The last line of a console, written over and over.

    Parameters
    ----------
    width : int
        Characters of the bar.
    """

    def __init__(self, width: int) -> None:
        self._width = max(width, 1)
        self._written = ""

    def show(self, report: Report) -> None:
        """Write what is true now over what was there."""
        bar = "#" * int(self._width * report.all.share) if report.is_counted else ""
        parts = (f"[{bar:<{self._width}}]", summary(report), problem(report))
        self._write(" | ".join(part for part in parts if part))

    def end(self) -> None:
        """Go on to the next line, if there was anything."""
        if self._written:
            sys.stdout.write("\n")
            sys.stdout.flush()

    def _write(self, text: str) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        text = " ".join(text.splitlines()).encode(encoding, "replace").decode(encoding)
        sys.stdout.write(f"\r{text:<{len(self._written)}}")
        sys.stdout.flush()
        self._written = text
