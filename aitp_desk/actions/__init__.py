"""The site's functions as actions: what a site's ``actions.py`` imports."""

from __future__ import annotations

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.declaration.action import action
from aitp_desk.actions.declaration.resource import resource
from aitp_desk.actions.secret import Secret
from aitp_desk.model.calls.action import Example, Related
from aitp_desk.model.calls.call import SideEffect
from aitp_desk.model.calls.question import Choice, Choose, Confirm, Field, Fill
from aitp_desk.model.conversation.ticket import Ticket
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed, Recovery, Unavailable
from aitp_desk.model.money import Money

__all__ = [
    "Caller",
    "Choice",
    "Choose",
    "Confirm",
    "Context",
    "Example",
    "Field",
    "Fill",
    "InvalidRequest",
    "Money",
    "PreconditionFailed",
    "Recovery",
    "Related",
    "Secret",
    "SideEffect",
    "Ticket",
    "Unavailable",
    "action",
    "resource",
]
