"""The former name of :mod:`aitp_desk.protocols.hac.linter`."""

from __future__ import annotations

from warnings import warn

from aitp_desk.protocols.hac.linter import check_document

__all__ = ["check_document"]

warn(
    "aitp_desk.protocols.hac.checking is now aitp_desk.protocols.hac.linter.",
    DeprecationWarning,
    stacklevel=2,
)
