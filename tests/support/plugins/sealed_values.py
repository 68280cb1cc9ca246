"""A capability that has something sealed: a safe, told its code in a message or in words."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from aitp_desk.app.server import open_server
from aitp_desk.capability import (
    Capability,
    Context,
    Effect,
    Keep,
    Own,
    Part,
    Record,
    Replace,
    Say,
    Schema,
    Seal,
    Take,
    Verdict,
    document_of,
    sealed_as,
)
from aitp_desk.config import load_config
from tests.support.clients.threads import Talker
from tests.support.desk.first_start import begin_desk, begin_index
from tests.support.desk.server import SITE, UNLIMITED

NAME = "safe.example/codes"
HOUR = 3600


class AskCode(msgspec.Struct, frozen=True):
    """Which safe is meant."""

    safe: str


class Code(msgspec.Struct, frozen=True):
    """What opens it; a reference once it is kept."""

    safe: str
    code: str | dict[str, str]


MESSAGES: Mapping[str, type[msgspec.Struct]] = {"ask_code": AskCode, "code": Code}


class SafeSettings(msgspec.Struct, frozen=True):
    """Whether every code is asked for again."""

    asks_again: bool = False


class Safe(Capability):
    """Asks for the code of a safe, and keeps it sealed."""

    slug = "safe"
    names = (NAME,)
    settings = SafeSettings

    def use(self, own: Own) -> None:
        """Keep the key that stamps are made with."""
        self.stamp = own.derive("stamps")

    def schemas(self) -> Sequence[Schema]:
        """The one version."""
        return (
            Schema(version=1, messages=MESSAGES, document=document_of(MESSAGES, "Codes of safes")),
        )

    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """What shows which key is used, and not that key."""
        return {"stamp.json": {"key": hashlib.sha256(self.stamp).hexdigest()}}

    def judge(self, part: Part, context: Context) -> Verdict:
        """Ask for a code, or keep one."""
        match part.content:
            case AskCode(safe):
                return Take(self.ask(safe, context))
            case Code(safe, str(code)):
                ref = context.ref("code")
                sealed = {"code": {"safe": safe, "code": sealed_as(ref)}}
                again = self.ask(safe, context) if self.chosen.asks_again else ()
                return Take((Seal(ref, code), Replace(sealed), Say(f"{safe} is open."), *again))
            case _:
                raise AssertionError(part.key)

    def ask(self, safe: str, context: Context) -> tuple[Effect, ...]:
        """Ask for a code, whether or not it was asked for before."""
        key = f"safe:{safe}"
        before = context.record(key)
        version = 0 if before is None else before.version
        asked = Keep(key, {"safe": safe}, version, open_until=context.now + HOUR)
        return asked, Say(f"What is the code of {safe}?")

    def as_text(self, part: Part) -> str:
        """Tell it without the code."""
        match part.content:
            case AskCode(safe):
                return f"Open {safe}."
            case Code(safe, str()):
                return f"The code of {safe}."
            case Code(safe, _):
                return f"The code of {safe} (sealed)."
            case _:
                raise AssertionError(part.key)

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """Understand what follows ``code`` as it."""
        if not waiting or not text.startswith("code "):
            return None
        return {"code": Code(waiting[0].value["safe"], text.removeprefix("code "))}


@asynccontextmanager
async def guarded(
    folder: Path,
    *settings: str,
    kind: type[Capability] = Safe,
    site: Path = SITE,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Talker]:
    """A desk that keeps safes, and a caller without a credential."""
    data = folder / "data"
    chosen = (*UNLIMITED, "capabilities.safe={}", *settings)
    config = load_config(site, chosen, port=0, data=data)
    begin_desk(config)
    begin_index(data, site)
    async with (
        open_server(config, clock=clock, capabilities_beside={"safe": kind}) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield Talker(desk, data, http)


def part(**message: object) -> str:
    """A message of this capability, as a part."""
    return json.dumps({"$schema": NAME, **message})
