"""Actions of a site, as its owner writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.actions.base import OfferedAction, OfferedResource
from aitp_desk.actions.faults import ActionsError
from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import Config
from aitp_desk.desk.calls.registry import OWN_NAMES

HEAD = """\
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import wraps
from typing import Annotated, Any, Generic, Literal, TypedDict, TypeVar
from uuid import UUID

from msgspec import Meta, Struct

from aitp_desk.actions import *
"""
"""What stands at the top of an ``actions.py``."""
ANYONE = '@action(open_to="anyone")\n'


def site(folder: Path) -> Config:
    """The settings of a site in a folder, all as they are by default."""
    (folder / "desk.toml").touch()
    return Config(folder=folder, data=folder / ".desk")


def load(folder: Path, body: str) -> tuple[OfferedAction, ...]:
    """What an ``actions.py`` offers."""
    (folder / "actions.py").write_text(HEAD + body, "utf-8")
    return load_actions(site(folder), taken=OWN_NAMES).offered


def offered(folder: Path, body: str) -> OfferedAction:
    """The one action that an ``actions.py`` offers."""
    (only,) = load(folder, body)
    return only


def resources(folder: Path, body: str) -> tuple[OfferedResource, ...]:
    """The resources that an ``actions.py`` offers."""
    load(folder, body)
    return load_actions(site(folder), taken=OWN_NAMES).resources


def problems(folder: Path, body: str) -> list[str]:
    """What is wrong with an ``actions.py``."""
    with pytest.raises(ActionsError) as refused:
        load(folder, body)
    return [str(problem) for problem in refused.value.problems]
