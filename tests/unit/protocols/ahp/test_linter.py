"""Whether an AHP manifest is sound: its form as the published schema has it, and the whole."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.protocols.ahp.linter import check_manifest, check_manifest_shape, is_manifest
from tests.support.specs.ahp_schemas import AhpSchemas

MANIFEST: dict[str, Any] = {
    "ahp": "0.1",
    "name": "Lamps",
    "description": "We sell lamps.",
    "modes": ["MODE1", "MODE2", "MODE3"],
    "endpoints": {"converse": "/agent/converse", "content": "/llms.txt"},
    "capabilities": [
        {
            "name": "content_search",
            "description": "Finds what the pages say.",
            "mode": "MODE2",
            "response_types": ["text/answer", "x-lamps/shade"],
            "accept_fallback": True,
        },
        {
            "name": "place_order",
            "description": "Orders a lamp.",
            "mode": "MODE3",
            "action_type": "async",
            "input_schema": {"type": "object"},
            "output_schema": {"type": "object"},
        },
    ],
    "authentication": "bearer",
    "rate_limit": "30/minute",
    "rate_limits": {"unauthenticated": {"requests": "30/minute", "token_budget": "500/session"}},
    "content_signals": {"ai_train": False, "ai_input": True},
    "async": {"supported": True, "max_eta_seconds": 60},
    "links": {"site": "https://lamps.example/"},
}
WORDS = st.sampled_from(
    ["MODE1", "MODE2", "MODE4", "0.1", "1.x", "query", "none", "bearer", "30/minute", "9/session"]
) | st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=4)
NAMES = st.sampled_from(
    ["ahp", "name", "mode", "modes", "supported", "requests", "ai_input", "integrations", "é"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from([0.5, 1.0]) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


def faults(**changes: Any) -> list[str]:
    body = {**MANIFEST, **changes}
    kept = {name: value for name, value in body.items() if value is not ...}
    return [str(fault) for fault in check_manifest(json.dumps(kept).encode())]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every member and entry: what holds it, and its name there."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, one in items:
        found.append((value, name))
        if isinstance(one, dict | list):
            found += places(one)
    return found


def test_a_sound_manifest_has_no_faults() -> None:
    assert faults() == []
    assert faults(modes=["MODE1"], capabilities=..., rate_limit=..., rate_limits=...) == []


@given(st.data())
def test_exactly_what_the_published_schema_refuses_is_reported(
    shared_folder: Path, data: st.DataObject
) -> None:
    manifest = copy.deepcopy(MANIFEST)
    for _ in range(data.draw(st.integers(1, 3))):
        holder, name = data.draw(st.sampled_from(places(manifest)))
        is_link = holder is manifest.get("links")
        match data.draw(st.sampled_from(["drop", "put", "add"])):
            case "drop":
                del holder[name]
            case "put":
                value = data.draw(VALUES)
                holder[name] = ["no URL"] if is_link and isinstance(value, str) else value
            case _ if isinstance(holder, dict) and not is_link:
                holder[data.draw(NAMES)] = data.draw(VALUES)
    if isinstance(manifest.get("links"), dict) and any(
        isinstance(one, str) and not one.startswith("https:") for one in manifest["links"].values()
    ):
        return  # the schema's "uri" is looked at by few validators
    is_sound = AhpSchemas(shared_folder).takes_manifest(manifest)
    assert (list(check_manifest_shape(manifest)) == []) == is_sound
    told = check_manifest(json.dumps(manifest).encode())
    assert is_sound or any(fault.is_error for fault in told)


@given(VALUES | st.binary(max_size=20))
def test_anything_may_be_looked_at(value: Any) -> None:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    told = check_manifest(body)
    assert told
    assert all(str(fault) for fault in told)


def test_an_error_is_reported_by_its_path(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"ahp": ...}, "ahp: is missing."),
        ({"ahp": "1"}, "ahp: is '1'; write one such as 0.1."),
        ({"ahp": "1.0"}, "ahp: warning: is '1.0'; this checker supports AHP 0.1."),
        ({"name": "n" * 129}, "name: has 129 characters; it may have at most 128."),
        ({"modes": []}, "modes: has 0 entries; it must have at least 1."),
        ({"modes": ["MODE1", "MODE1"]}, "modes[1]: is a repeated entry."),
        ({"integrations": {}}, "integrations: is unknown to the schema, which has ahp, name"),
        ({"content_signals": {}}, "content_signals.ai_input: is missing."),
        ({"links": {"site": "/"}}, "links.site: is '/'; it must be a full URL."),
        ({"rate_limit": "30"}, "rate_limit: is '30'; write one such as 30/minute."),
        ({"async": {"supported": "yes"}}, "async.supported: is text; it must be true or false."),
        (
            {"authentication": "none"},
            "authentication: is none, but capabilities[1] performs an action",
        ),
        (
            {"authentication": ...},
            "authentication: is none, but capabilities[1] performs an action",
        ),
        ({"async": {"supported": False}}, "async.supported: must be true, because capabilities[1]"),
        (
            {"capabilities": MANIFEST["capabilities"][:1]},
            "capabilities: has no capability of MODE3",
        ),
        (
            {"capabilities": MANIFEST["capabilities"][1:]},
            "capabilities: has no capability of MODE2",
        ),
        (
            {"capabilities": MANIFEST["capabilities"] * 2},
            "capabilities: has the name 'content_search' 2 times",
        ),
        ({"modes": ["MODE1", "MODE2"]}, "capabilities[1].mode: warning: is MODE3, which modes"),
        (
            {"capabilities": [{"name": "a", "description": "", "mode": "MODE3"}]},
            "capabilities[0].action_type: is missing; with MODE3 it is needed",
        ),
        ({"endpoints": {}}, "endpoints.content: warning: is missing; with MODE1"),
        ({"rate_limit": ..., "rate_limits": ...}, "rate_limits: warning: is missing"),
    ]
    for changes, told in cases:
        with subtests.test(changes=changes, told=told):
            assert any(fault.startswith(told) for fault in faults(**changes)), faults(**changes)


def test_what_is_no_json_is_reported_with_its_line() -> None:
    assert str(check_manifest(b'{\n "ahp": }')[0]).startswith("line 2: ")
    (twice,) = check_manifest(b'{"ahp": "0.1", "ahp": "0.1"}')
    assert "ahp" in str(twice)


def test_a_manifest_is_known_by_its_members() -> None:
    assert is_manifest(MANIFEST)
    assert is_manifest({"modes": []})
    assert not is_manifest({"specVersion": "1.0", "site": {}})
    assert not is_manifest([])
