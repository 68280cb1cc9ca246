"""Collects the faults of a site's declarations, each with its place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from aitp_desk.config import Problem


class ActionsError(Exception):
    """The site's actions cannot be used.

    Parameters:
        problems: all their faults.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class DeclarationFaults:
    """Collects faults.

    Parameters:
        folder: the site's; paths of its files are shown relative to it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problems: list[Problem] = []

    def add_fault(self, function: Callable[..., Any], message: str) -> None:
        """Add a fault of a function, as text that follows its name."""
        code = inspect.unwrap(function).__code__
        place = self.place(code.co_filename, code.co_firstlineno)
        self.problems.append(Problem(f"{place}, {function.__name__}", message))

    def add_fault_at(self, place: str, message: str) -> None:
        """Add a fault of a file, or of a line of it."""
        self.problems.append(Problem(place, message))

    def place(self, file: str, line: int | None) -> str:
        """Return a place in a file as problems name it: ``actions.py:12``."""
        path = Path(file)
        if path.is_relative_to(self._folder):
            path = path.relative_to(self._folder)
        return f"{path}:{line}" if line else str(path)
