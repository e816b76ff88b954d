"""What stays of a computation when it is over: task streams, memory and transfers, for later."""

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
