"""What the doctor has found: a line each."""

from __future__ import annotations

from typing import Literal

import msgspec

Level = Literal["ok", "warning", "error"]


class Finding(msgspec.Struct, frozen=True):
    """One result of a check.

    Parameters:
        check: the name of the check, such as ``tls``.
        what: what was found.
        advice: what would be right; empty if all is.
    """

    level: Level
    check: str
    what: str
    advice: str = ""

    @property
    def line(self) -> str:
        """The finding for a person."""
        told = f" — {self.advice}" if self.advice else ""
        return f"{self.level:<7} {self.check:<9} {self.what}{told}"


class Findings:
    """Collects what the checks find, in their order."""

    def __init__(self) -> None:
        self.all: list[Finding] = []

    def approve(self, check: str, what: str) -> None:
        """Note what is right."""
        self.all.append(Finding("ok", check, what))

    def warn(self, check: str, what: str, advice: str) -> None:
        """Note what may be wrong, or could not be checked."""
        self.all.append(Finding("warning", check, what, advice))

    def fault(self, check: str, what: str, advice: str) -> None:
        """Note what is wrong."""
        self.all.append(Finding("error", check, what, advice))

    @property
    def has_faults(self) -> bool:
        """Whether anything is wrong."""
        return any(one.level == "error" for one in self.all)
