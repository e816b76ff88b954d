"""What a history says about a stretch of time: pure functions, for any thread."""

from __future__ import annotations
