"""Answers to what a desk asks about a call, as words or as a capability's message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from tests.support.sites.dialogues import DialogueSite, part

Request = Mapping[str, Any]


class Chosen(msgspec.Struct, frozen=True):
    """A choice by the id of its option."""

    id: str

    def write(self, request: Request) -> str:
        options = [{"id": self.id}]
        return part(
            "aitp.dev/requests",
            decision={"request_decision_id": request["id"], "options": options},
        )


class Filled(msgspec.Struct, frozen=True):
    """A form, filled in."""

    values: Mapping[str, str]

    def write(self, request: Request) -> str:
        fields = [{"id": name, "value": value} for name, value in self.values.items()]
        return part("aitp.dev/data", data={"request_data_id": request["id"], "fields": fields})


class Paid(msgspec.Struct, frozen=True):
    """A payment by a token of the till's."""

    token: str

    def write(self, request: Request) -> str:
        return part("till.example/money", payment={"quote_id": request["id"], "token": self.token})


class Meanwhile(msgspec.Struct, frozen=True):
    """What happens before the next answer."""

    happens: Callable[[DialogueSite], Awaitable[None]]


Reaction = str | Chosen | Filled | Paid | Meanwhile
