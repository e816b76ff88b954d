"""What the packaging tests share: the names of a release's files, and an environment with it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Distributions:
    """What a release consists of."""

    sdist: Path
    wheel_of_tree: Path
    wheel_of_sdist: Path


@dataclass(frozen=True, slots=True)
class Installed:
    """A clean environment into which the wheel was installed."""

    folder: Path
    env: dict[str, str]

    def run(self, *command: str) -> str:
        """Run a console script of the environment; returns all that it printed."""
        done = subprocess.run(
            [self.folder / "bin" / command[0], *command[1:]],
            env=self.env,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout
