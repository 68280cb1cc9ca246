"""Builds the AHP manifest from what the desk serves.

Source: AHP 0.1, section 4 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.agent.slots.replies.confirmation import list_consequences
from aitp_desk.config import Limits, Signals, Site
from aitp_desk.knowledge.media.payloads import ContentTypeText
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.ahp.wire import ACTS, ANSWERS, CAPABILITY_PREFIX, VERSION

CONVERSE_PATH = "/agent/converse"
CONTENT_PATH = "/llms.txt"
NO_DESCRIPTIONS: Mapping[str, ContentTypeText] = MappingProxyType({})
NO_SPEECH: Mapping[str, Any] = MappingProxyType({})
_MAX_NAME = 128
_MAX_DESCRIPTION = 512
_MAX_SUMMARY = 256


def encode_manifest(
    site: Site,
    signals: Signals,
    actions: Sequence[Action],
    limits: Limits,
    described: Mapping[str, ContentTypeText] = NO_DESCRIPTIONS,
    one_agent: int = 0,
    longest_eta: int | None = None,
    links: Mapping[str, str] = NO_SPEECH,
    integrations: Mapping[str, Any] = NO_SPEECH,
    speaks: Sequence[str] = (),
) -> bytes:
    """Encode the document served at ``/.well-known/agent.json``.

    It declares only what is enforced: a limit that is switched off is left out.

    Parameters:
        described: the site's own content types by name (appendix C.3); the closed schema has a
            place for their pages only among the links.
        one_agent: requests a minute of an agent without limits of its own; 0 for no such limit.
        longest_eta: seconds of the slowest action's calls; None before any was measured.
        links: the paths of the other protocols by their names.
        integrations: how drafts after 0.1 describe these protocols, which the published schema
            refuses; empty for nothing.
        speaks: slugs of the capabilities whose messages an answer may contain.
    """
    manifest = _introduce(site)
    manifest |= {
        "modes": ["MODE1", ANSWERS, *([ACTS] if any(map(_acts, actions)) else [])],
        "endpoints": {"converse": CONVERSE_PATH, "content": CONTENT_PATH},
        "capabilities": [_capability(action, speaks) for action in actions],
        "authentication": "bearer" if any(map(_needs_credential, actions)) else "none",
        "content_signals": signals,
        "async": _async(actions, longest_eta),
        "links": {
            "site": f"{site.url}/",
            "threads": f"{site.url}/v1/threads",
            **{name: site.url + path for name, path in links.items()},
            **{kind: site.url + page.url for kind, page in described.items()},
        },
    }
    if integrations:
        manifest["integrations"] = integrations
    if limits.enabled:
        anonymous = _tier(one_agent, limits.converse_per_minute, limits.session_tokens)
        manifest["rate_limit"] = anonymous["requests"]
        manifest["rate_limits"] = {
            "unauthenticated": anonymous,
            "authenticated": _tier(
                one_agent, limits.authenticated_per_minute, limits.authenticated_session_tokens
            ),
        }
    return msgspec.json.encode(manifest)


def _acts(action: Action) -> bool:
    """Return whether an action does more than answer from the site's content."""
    return action.output_schema is not None


def _needs_credential(action: Action) -> bool:
    return action.kind != "query" or not action.is_open


def _async(actions: Sequence[Action], longest_eta: int | None) -> dict[str, Any]:
    if not any(action.kind == "async" for action in actions):
        return {"supported": False}
    measured = {} if longest_eta is None else {"max_eta_seconds": longest_eta}
    return {"supported": True, **measured}


def _describe(action: Action) -> str:
    """Return the summary of an action, with as many consequences as fit."""
    told = action.summary
    for sentence in list_consequences(action) if _acts(action) else ():
        if len(told) + 1 + len(sentence) <= _MAX_SUMMARY:
            told = f"{told} {sentence}"
    return told


def _capability(action: Action, speaks: Sequence[str]) -> dict[str, Any]:
    """Declare an action for the manifest (sections 4.2 and 5.3)."""
    declared: dict[str, Any] = {
        "name": action.name,
        "description": _describe(action),
        "mode": ACTS if _acts(action) else ANSWERS,
        "response_types": [*action.answer_types, *(CAPABILITY_PREFIX + slug for slug in speaks)],
    }
    if _acts(action):
        declared["action_type"] = action.kind
        declared["input_schema"] = action.input_schema
        declared["output_schema"] = action.output_schema
    if action.accept_fallback:
        declared["accept_fallback"] = True
    return declared


def encode_static_manifest(site: Site, signals: Signals) -> bytes:
    """Encode the manifest of a site that only serves pages (AHP 0.1, section 5.1).

    It has no capabilities and no limits: nothing answers questions there and nothing counts
    requests.
    """
    manifest = _introduce(site) | {
        "modes": ["MODE1"],
        "endpoints": {"content": CONTENT_PATH},
        "authentication": "none",
        "content_signals": signals,
        "async": {"supported": False},
    }
    if site.url:
        manifest["links"] = {"site": f"{site.url}/"}
    return msgspec.json.encode(manifest)


def _introduce(site: Site) -> dict[str, Any]:
    """Return the protocol version and the site's identity."""
    manifest: dict[str, Any] = {"ahp": VERSION, "name": _shorten(site.name, _MAX_NAME)}
    if site.description:
        manifest["description"] = _shorten(site.description, _MAX_DESCRIPTION)
    return manifest


def _tier(one_agent: int, per_minute: int, session_tokens: int) -> dict[str, str]:
    """Return the limits of one agent, by address or key (section 11.5)."""
    if one_agent:
        per_minute = min(per_minute, one_agent)
    tier = {"requests": f"{per_minute}/minute"}
    if session_tokens:
        tier["token_budget"] = f"{session_tokens}/session"
    return tier


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
