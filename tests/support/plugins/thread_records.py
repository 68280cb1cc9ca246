"""One thread's records, written as a desk writes them: all of a verdict, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.capability import (
    Asking,
    Capability,
    Context,
    Keep,
    Part,
    Party,
    Record,
    Refuse,
    Say,
    Take,
)

NOON = 1_800_000_000
SHOP, GUEST, FRIEND = "https://desk.example/shop", "guest", "friend"
THREAD = "thread_1"


class OneThread:
    """A capability, and what it keeps of one thread.

    Parameters:
        parties: who takes part besides the desk; callers by the ids of actors, None for nobody
            known.
    """

    def __init__(self, capability: Capability, parties: Mapping[str, str | None]) -> None:
        self.now = NOON
        self.capability = capability
        self.records: dict[str, Record] = {}
        self.parties = tuple(Party(id=id, principal=who) for id, who in parties.items())
        self.spoken = 0

    def judge(
        self, actor: str, key: str, content: Mapping[str, Any], asking: Asking | None = None
    ) -> Take:
        schema = self.capability.schemas()[0]
        part = Part(
            version=1,
            key=key,
            content=msgspec.convert(content, schema.messages[key]),
            given={"$schema": schema.url, key: dict(content)},
        )
        self.spoken += 1
        context = Context(
            now=self.now,
            thread_id=THREAD,
            message_id=f"msg_{self.spoken}",
            actor=actor,
            principal=next((one.principal for one in self.parties if one.id == actor), None),
            own=SHOP,
            asking=asking,
            parties=self.parties,
            records=dict(self.records),
        )
        verdict = self.capability.judge(part, context)
        if isinstance(verdict, Refuse):
            raise verdict.error
        assert isinstance(verdict, Take)
        return verdict

    def write(self, verdict: Take) -> bool:
        """Whether nobody was faster."""
        kept = [effect for effect in verdict.effects if isinstance(effect, Keep)]
        versions = {key: record.version for key, record in self.records.items()}
        if any(versions.get(keep.key, 0) != keep.expected_version for keep in kept):
            return False
        for keep in kept:
            self.records[keep.key] = Record(
                key=keep.key,
                version=keep.expected_version + 1,
                value=msgspec.json.decode(msgspec.json.encode(keep.value)),
                thread_id=THREAD,
                open_until=keep.open_until,
            )
        return True

    def say(
        self, actor: str, key: str, content: Mapping[str, Any], asking: Asking | None = None
    ) -> Take:
        verdict = self.judge(actor, key, content, asking)
        assert self.write(verdict)
        return verdict

    def waiting(self) -> list[Record]:
        return [
            record
            for record in self.records.values()
            if record.open_until is not None and record.open_until > self.now
        ]


def told(verdict: Take) -> list[object]:
    return [effect.content for effect in verdict.effects if isinstance(effect, Say)]
