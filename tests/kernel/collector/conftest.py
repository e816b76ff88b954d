"""Lets these tests use the live cluster of the transport's tests: a feed is how rows come out."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "transport"))
