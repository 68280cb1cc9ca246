"""Figures to judge a site by, each with its reason (AHP whitepaper, 5.4).

No figure decides anything, and they are not added up: a site can do well by each and still not be
what it says. The visit's policy alone decides what is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from aitp_desk.model.text import write_count
from aitp_desk.visitor.base import Endpoint
from aitp_desk.visitor.cache import ResponseCache
from aitp_desk.visitor.discovery.agents_file import AgentsFile
from aitp_desk.visitor.discovery.endpoints import Discovery
from aitp_desk.visitor.discovery.members import decode_object, list_of, object_of, text_of
from aitp_desk.visitor.errors import VisitError
from aitp_desk.visitor.fetcher import Fetcher

KEYS_PLACE = "/.well-known/jwks.json"
TRANSCRIPT_KEYS_PLACE = "/.well-known/aitp-transcript-keys.json"
FULL_AGE_DAYS = 30.0
"""The age from which older keys count no more."""
MAX_KEYS = 32
_DAY = 86_400.0


class TrustFigure(msgspec.Struct, frozen=True):
    """One figure.

    Parameters:
        value: from 0 to 1; None if there is nothing to judge by.
        reason: what it rests on, in sentences.
    """

    name: Literal["keys", "consistency", "transcripts", "signals"]
    value: float | None
    reason: str


async def assess(
    found: Discovery, fetcher: Fetcher, cache: ResponseCache, kept_signals: Sequence[bool | None]
) -> tuple[TrustFigure, ...]:
    """Return the figures of a visited site.

    Parameters:
        kept_signals: what each answer of the visit said about training; None for nothing.
    """
    signing = await _read_keys(fetcher, TRANSCRIPT_KEYS_PLACE)
    keys = await _read_keys(fetcher, KEYS_PLACE)
    return (
        _judge_keys((*signing, *keys), fetcher.origin, cache),
        _judge_consistency(found, fetcher.origin),
        _judge_transcripts(signing, found),
        _judge_signals(_find(found, "ahp"), kept_signals),
    )


async def _read_keys(fetcher: Fetcher, place: str) -> tuple[str, ...]:
    """Return the names of the keys that a site publishes."""
    try:
        found = await fetcher.read(fetcher.origin + place, accept="application/json")
    except VisitError:
        return ()
    keys = list_of(decode_object(found), "keys")[:MAX_KEYS]
    return tuple(f"{text_of(key, 'kid')} {text_of(key, 'x') or text_of(key, 'n')}" for key in keys)


def _judge_keys(keys: Sequence[str], origin: str, cache: ResponseCache) -> TrustFigure:
    """Judge by how long this visitor has known the site's keys."""
    known = cache.first_seen(f"site {origin}")
    seen = [cache.first_seen(f"key {origin} {key}") for key in keys]
    now = cache.now
    ages = sorted((now - at) / _DAY for at in seen)
    if not ages:
        return TrustFigure(
            "keys", 0.0, "The site publishes no keys, so it can prove nothing later."
        )
    days = ages[-1]
    if (now - known) / _DAY > days + 1:
        return TrustFigure("keys", 0.0, "All keys of the site have changed since earlier visits.")
    reason = f"This visitor has known the site's oldest key for {write_count(round(days), 'day')}."
    return TrustFigure("keys", round(min(1.0, days / FULL_AGE_DAYS), 2), reason)


def _judge_consistency(found: Discovery, origin: str) -> TrustFigure:
    """Judge by whether what the site publishes in several places agrees."""
    checks = list(_compare(found, origin))
    if not checks:
        return TrustFigure("consistency", None, "The site publishes too little to compare.")
    wrong = [told for is_right, told in checks if not is_right]
    value = round(1 - len(wrong) / len(checks), 2)
    told = " ".join(wrong) or f"All {len(checks)} comparisons of its documents agree."
    return TrustFigure("consistency", value, told)


def _compare(found: Discovery, origin: str) -> Iterator[tuple[bool, str]]:
    agents_file, manifest = found.agents_file, _find(found, "ahp")
    for endpoint in found.endpoints:
        is_own = endpoint.url.startswith(f"{origin}/") or endpoint.url == origin
        yield is_own, f"Its {endpoint.kind} is at another origin."
    names = dict(_list_names(found, agents_file))
    if len(names) > 1:
        yield len(set(names.values())) == 1, f"Its name differs in {', '.join(names)}."
    if agents_file.fault:
        yield False, "Its agents.txt cannot be trusted."
    if agents_file.document is not None and manifest is not None:
        declared = {one.endpoint for one in agents_file.document.capabilities}
        ids = {one.id for one in agents_file.document.capabilities}
        if "converse" in ids:
            yield manifest.url in declared, "agents.txt and the manifest differ about questions."


def _list_names(found: Discovery, agents_file: AgentsFile) -> Iterator[tuple[str, str]]:
    for kind in ("ahp", "a2a", "hac"):
        endpoint = _find(found, kind)
        if endpoint is not None and (name := text_of(endpoint.document, "name")):
            yield kind, name
    if agents_file.document is not None and agents_file.document.site.name:
        yield "agents.txt", agents_file.document.site.name


def _judge_transcripts(keys: Sequence[str], found: Discovery) -> TrustFigure:
    """Judge by whether what was said can be proven."""
    if _find(found, "aitp") is None or not keys:
        reason = "The site offers no signed transcripts: what was said is this visitor's word."
        return TrustFigure("transcripts", 0.0, reason)
    reason = "The site has threads, and publishes the keys that sign their transcripts."
    return TrustFigure("transcripts", 1.0, reason)


def _judge_signals(manifest: Endpoint | None, kept: Sequence[bool | None]) -> TrustFigure:
    """Judge by whether answers say the same about training as the manifest."""
    signals: Any = {} if manifest is None else object_of(manifest.document, "content_signals")
    declared = signals.get("ai_train")
    told = [one for one in kept if one is not None]
    if not isinstance(declared, bool):
        return TrustFigure("signals", None, "The site declares no content signals.")
    if not told:
        reason = "The site declares content signals; no answer of this visit has repeated them."
        return TrustFigure("signals", 0.5, reason)
    same = sum(one is declared for one in told)
    reason = f"{same} of {len(told)} answers keep the content signals of the manifest."
    return TrustFigure("signals", round(same / len(told), 2), reason)


def _find(found: Discovery, kind: str) -> Endpoint | None:
    return next((endpoint for endpoint in found.endpoints if endpoint.kind == kind), None)
