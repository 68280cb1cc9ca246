"""A wrong kind in a capability is reported when it is enabled, not when it is used."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import pytest

from aitp_desk.capability import Capability, Context, Part, Say, Schema, Take, Verdict, document_of
from aitp_desk.desk.plugins.discovery import load_plugin
from aitp_desk.testing import CapabilityContract


class Do(msgspec.Struct, frozen=True):
    what: str


SCHEMA = Schema(version=1, messages={"do": Do}, document=document_of({"do": Do}, "Odd"))
DICTS: Any = {"do": dict}


class Odd(Capability):
    slug = "odd"

    def schemas(self) -> tuple[Schema, ...]:
        return (SCHEMA,)

    def judge(self, part: Part, context: Context) -> Verdict:
        return Take((Say({"do": {"wrong": part.content.what}}),))


@pytest.mark.parametrize(
    ("member", "given", "why"),
    [
        ("jobs", {"work": len}, "jobs returns <built-in function len>; it must return Work."),
        ("rounds", {"work": len}, "rounds returns <built-in function len>; it must return Round."),
        ("actions", (5,), "actions returns 5; it must return Query."),
        (
            "hooks",
            {"till": "x"},
            "the hook 'till' is 'x'; it must be a function that judges a delivery.",
        ),
        ("schemas", (SCHEMA, SCHEMA), "Kind.schemas has version 1 twice."),
        (
            "schemas",
            (Schema(version=1, messages=DICTS, document={}),),
            "do of version 1 of Kind is <class 'dict'>; it must be a msgspec.Struct.",
        ),
    ],
)
def test_what_is_of_another_kind_is_reported_at_the_start(
    member: str, given: Any, why: str
) -> None:
    kind = type("Kind", (Odd,), {member: lambda _: given})
    with pytest.raises(ValueError) as told:  # noqa: PT011 -- all of the message is compared
        load_plugin(kind, {}, "https://desk.example")
    assert str(told.value) == why


def test_a_name_alone_is_no_tuple_of_names() -> None:
    with pytest.raises(TypeError, match="names is 'odd'; it must be a tuple of names"):
        type("Kind", (Odd,), {"names": "odd"})


def test_the_contract_finds_what_breaks_its_own_schema() -> None:
    class Contract(CapabilityContract):
        capability = Odd
        examples: ClassVar = {1: [{"do": {"what": "anything"}}]}

    with pytest.raises(ValueError, match="odd sends a message that fits none of its schemas"):
        Contract().test_all_effects_can_be_applied()
