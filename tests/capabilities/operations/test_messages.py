"""The messages of AITP-04: the draft's examples, the contract, and what is rendered as text."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, get_args

import msgspec
from hypothesis import given
from hypothesis import strategies as st

import aitp_operations
from aitp_desk.capability import (
    Capability,
    Component,
    ComponentState,
    Context,
    Part,
    Say,
    Take,
    document_of,
)
from aitp_desk.testing import NOON, CapabilityContract
from aitp_operations.health_report import NOT_TOLD, health_of, tell_health
from aitp_operations.messages import MESSAGES, AgentHealth, Healthcheck
from tests.support.plugins.operations import EXAMPLES
from tests.support.specs.folder import find_shared_folder

SERVED = Path(aitp_operations.__file__).parent / "schemas" / "v1.json"
STATES = st.sampled_from(get_args(ComponentState))
COMPONENTS = st.lists(
    st.builds(
        Component,
        name=st.text(max_size=100) | st.just("n" * 500),
        state=STATES,
        reason=st.text(max_size=100) | st.just("r" * 5000),
        since=st.integers(0, NOON),
    ),
    max_size=5,
)


class TestOperations(CapabilityContract):
    """The contract of all capabilities."""

    capability: ClassVar[type[Capability]] = aitp_operations.Operations
    examples: ClassVar[Mapping[int, Sequence[Mapping[str, Any]]]] = {
        1: [
            *({"healthcheck": one["healthcheck"]} for one in EXAMPLES),
            {"health": {"status": "up", "checked_at": "2027-01-15T08:00:00Z"}},
            {
                "health": {
                    "status": "degraded",
                    "checked_at": "2027-01-15T08:00:00Z",
                    "components": [
                        {"name": "store", "status": "up", "since": "2027-01-15T08:00:00Z"}
                    ],
                }
            },
        ]
    }
    answers: ClassVar[Sequence[str]] = (*CapabilityContract.answers, "How are you?", "healthcheck")


def test_the_served_schema_is_what_the_types_say() -> None:
    """After a change of the types, write it again: document_of(MESSAGES, title), two spaces."""
    served = json.loads(SERVED.read_text(encoding="utf-8"))
    assert served == json.loads(json.dumps(document_of(MESSAGES, served["title"])))


def test_these_are_the_examples_of_the_draft() -> None:
    folder = find_shared_folder(os.environ.get("AITP_DESK_SHARED"))
    path = folder / "schemas" / "aitp" / "operations-v1-draft.examples.json"
    assert json.loads(path.read_text("utf-8")) == list(EXAMPLES)


@given(COMPONENTS, st.sampled_from(["simple", "full"]), st.booleans())
def test_parts_are_told_to_those_alone_who_run_the_desk_and_ask_for_them(
    components: list[Component], kind: str, operates: bool
) -> None:
    asked = msgspec.convert({"type": kind}, Healthcheck)
    told = health_of(components, asked, NOON, operates=operates)
    assert bool(told.components) == (kind == "full" and operates and bool(components))
    assert (told.note == NOT_TOLD) == (kind == "full" and not operates)
    again = msgspec.json.decode(msgspec.json.encode(told), type=AgentHealth)
    assert again == told
    assert tell_health(told).startswith(f"Status: {told.status}.")


def test_judging_takes_plain_values() -> None:
    component = Component(name="jobs", state="degraded", reason="Late.", since=NOON - 60)
    operations = aitp_operations.Operations(aitp_operations.Operations.settings())
    asked = Healthcheck("full")
    given_ = {"healthcheck": {"type": "full"}}
    part = Part(version=1, key="healthcheck", content=asked, given=given_)
    context = Context(now=NOON, scopes=frozenset({"operator"}), components=(component,))
    verdict = operations.judge(part, context)
    assert isinstance(verdict, Take)
    (said,) = verdict.effects
    assert isinstance(said, Say)
    assert not isinstance(said.content, str)
    assert tell_health(said.content["health"]) == (
        "Status: degraded.\n- jobs is degraded since 2027-01-15 07:59 UTC: Late."
    )
