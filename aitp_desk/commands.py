"""The former name of :mod:`aitp_desk.cli.extension`."""

from __future__ import annotations

from warnings import warn

from aitp_desk.cli.extension import *  # noqa: F403 - the same names as before

warn("aitp_desk.commands is now aitp_desk.cli.extension.", DeprecationWarning, stacklevel=2)
