"""Builds the AHP manifest from what the desk serves.

Source: AHP 0.1, section 4 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import UNSET

from aitp_desk.agent.slots.replies.confirmation import list_consequences
from aitp_desk.config import Limits, Signals, Site
from aitp_desk.knowledge.media.payloads import ContentTypeText
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.ahp.objects import (
    AHPAsync,
    AHPCapability,
    AHPEndpoints,
    AHPManifest,
    AHPSignals,
    AHPTier,
    AHPTiers,
)
from aitp_desk.protocols.ahp.wire import ACTS, ANSWERS, CAPABILITY_PREFIX, VERSION
from aitp_desk.protocols.base.call_members import SAFETY, write_safety

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
        one_agent: requests a minute of an agent without separate limits; 0 for no such limit.
        longest_eta: seconds of the slowest action's calls; None before any was measured.
        links: the paths of the other protocols by their names.
        integrations: how drafts after 0.1 describe these protocols, which the published schema
            refuses; empty for nothing.
        speaks: slugs of the capabilities whose messages an answer may contain.
    """
    manifest = AHPManifest(
        **_introduce(site),
        modes=["MODE1", ANSWERS, ACTS] if any(map(_acts, actions)) else ["MODE1", ANSWERS],
        endpoints=AHPEndpoints(converse=CONVERSE_PATH, content=CONTENT_PATH),
        capabilities=[_capability(action, speaks) for action in actions],
        authentication="bearer" if any(map(_needs_credential, actions)) else "none",
        content_signals=_write_signals(signals),
        async_=_async(actions, longest_eta),
        links={
            "site": f"{site.url}/",
            "threads": f"{site.url}/v1/threads",
            **{name: site.url + path for name, path in links.items()},
            **{kind: site.url + page.url for kind, page in described.items()},
        },
        integrations=integrations or UNSET,
    )
    if limits.enabled:
        anonymous = _tier(one_agent, limits.converse_per_minute, limits.session_tokens)
        manifest.rate_limit = anonymous.requests
        manifest.rate_limits = AHPTiers(
            unauthenticated=anonymous,
            authenticated=_tier(
                one_agent, limits.authenticated_per_minute, limits.authenticated_session_tokens
            ),
        )
    return msgspec.json.encode(manifest)


def _acts(action: Action) -> bool:
    """Return whether an action does more than answer from the site's content."""
    return action.output_schema is not None


def _needs_credential(action: Action) -> bool:
    return action.kind != "query" or not action.is_open


def _async(actions: Sequence[Action], longest_eta: int | None) -> AHPAsync:
    if not any(action.may_continue for action in actions):
        return AHPAsync(supported=False)
    longest = UNSET if longest_eta is None else longest_eta
    return AHPAsync(supported=True, max_eta_seconds=longest)


def _write_signals(signals: Signals) -> AHPSignals:
    return AHPSignals(**msgspec.structs.asdict(signals))


def _describe(action: Action) -> str:
    """Return the summary of an action, with as many consequences as fit."""
    told = action.summary
    for sentence in list_consequences(action) if _acts(action) else ():
        if len(told) + 1 + len(sentence) <= _MAX_SUMMARY:
            told = f"{told} {sentence}"
    return told


def _capability(action: Action, speaks: Sequence[str]) -> AHPCapability:
    """Declare an action for the manifest (sections 4.2 and 5.3)."""
    declared = AHPCapability(
        name=action.name,
        description=_describe(action),
        mode=ACTS if _acts(action) else ANSWERS,
        response_types=[*action.answer_types, *(CAPABILITY_PREFIX + slug for slug in speaks)],
        accept_fallback=action.accept_fallback or UNSET,
    )
    if action.output_schema is not None:
        declared.action_type = action.kind
        declared.input_schema = action.input_schema
        if action.kind != "query":  # the closed schema has no other place for it
            declared.input_schema = {**action.input_schema, SAFETY: write_safety(action.safety)}
        declared.output_schema = action.output_schema
    return declared


def encode_static_manifest(site: Site, signals: Signals) -> bytes:
    """Encode the manifest of a site that only serves pages (AHP 0.1, section 5.1).

    It has no capabilities and no limits: nothing answers questions there and nothing counts
    requests.
    """
    manifest = AHPManifest(
        **_introduce(site),
        modes=["MODE1"],
        endpoints=AHPEndpoints(content=CONTENT_PATH),
        authentication="none",
        content_signals=_write_signals(signals),
        async_=AHPAsync(supported=False),
        links={"site": f"{site.url}/"} if site.url else UNSET,
    )
    return msgspec.json.encode(manifest)


def _introduce(site: Site) -> dict[str, Any]:
    """Return the protocol version and the site's identity."""
    manifest: dict[str, Any] = {"ahp": VERSION, "name": _shorten(site.name, _MAX_NAME)}
    if site.description:
        manifest["description"] = _shorten(site.description, _MAX_DESCRIPTION)
    return manifest


def _tier(one_agent: int, per_minute: int, session_tokens: int) -> AHPTier:
    """Return the limits of one agent, by address or key (section 11.5)."""
    if one_agent:
        per_minute = min(per_minute, one_agent)
    return AHPTier(
        requests=f"{per_minute}/minute",
        token_budget=f"{session_tokens}/session" if session_tokens else UNSET,
    )


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
