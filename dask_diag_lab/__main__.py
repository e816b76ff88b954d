"""``python -m dask_diag_lab`` is the command ``dask-diag-lab``."""

from __future__ import annotations

from dask_diag_lab.cli import main

main(prog_name="dask-diag-lab")
