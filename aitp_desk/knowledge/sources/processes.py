"""Starts modules of the package as subprocesses with a minimal environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = Path(__file__).parents[3]
"""The folder of the package that such a process imports."""

_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LANG")


def make_environment() -> dict[str, str]:
    """Return a subprocess's environment; the desk's may contain credentials."""
    return {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}


def start_process(module: str) -> subprocess.Popen[bytes]:
    """Run a module of the package, with pipes for input and output.

    Parameters:
        module: its name, such as ``aitp_desk.knowledge.index.subprocess_build``.
    """
    return subprocess.Popen(  # noqa: S603 -- the desk's own program
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=PACKAGES,
        env=make_environment(),
    )
