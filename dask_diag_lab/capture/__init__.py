"""What stays of a computation: task streams, reports, profiles, memory, transfers, and files.

`listen` tells of each task as it ends. Must not touch the history but through `Diagnostics`.
"""

from __future__ import annotations

from typing import Any


def import_pandas(purpose: str) -> Any:  # the module; its types are not installed
    """Return pandas, which this package does not depend on.

    Raises
    ------
    ImportError
        It is not installed; the message says how to get it.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{purpose} needs pandas: `pip install pandas`.") from error
    return pd
