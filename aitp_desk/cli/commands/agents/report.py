"""What a visit prints: lines for people, JSON for scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from yarl import URL

from aitp_desk.model.text import drop_invisible, write_count
from aitp_desk.visitor import (
    Answer,
    Endpoint,
    Outcome,
    PlannedCall,
    Site,
    SiteAction,
    SiteRefused,
    UnusedEndpoint,
    VisitError,
)
from aitp_desk.visitor.site import LOOPBACK
from aitp_desk.visitor.trust import TrustFigure

_CONTROL = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
MAX_VALUE = 200
"""The most characters of an argument that a person is shown."""


def complete_url(url: str) -> str:
    """Return a site's address; one without a scheme is https, on loopback http.

    Raises:
        ValueError: it is not an address.
    """
    try:
        address = URL(url if "://" in url else f"https://{url}")
    except ValueError:
        address = URL()
    if address.scheme not in {"https", "http"} or not address.host or not url.isprintable():
        raise ValueError(
            f"{url!r} is not the address of a site; write it like https://shop.example."
        )
    if "://" not in url and address.host in LOOPBACK:
        return f"http://{url}"
    return str(address)


def is_named(name: str, wanted: str) -> bool:
    """Return whether an action has a name, however its protocol writes it."""
    return name.replace("-", "_") == wanted.replace("-", "_")


def show(line: str) -> str:
    """Return one line for a terminal: a site's text neither controls it nor looks like two."""
    return drop_invisible(" ".join(line.splitlines()))


def write_json(value: Mapping[str, Any]) -> str:
    """Write an object on one line, with escapes for what would control a terminal."""
    text = msgspec.json.encode(value, enc_hook=str).decode()
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def describe_endpoint(endpoint: Endpoint) -> dict[str, Any]:
    """Return an endpoint without the documents that it was found in."""
    members = ("kind", "url", "found_in", "reason", "answers", "acts")
    return {name: getattr(endpoint, name) for name in members}


def describe_endpoints(site: Site) -> list[dict[str, Any]]:
    """Return all endpoints that were found, the richest first."""
    return [describe_endpoint(endpoint) for endpoint in site.found.endpoints]


def list_endpoints(site: Site) -> list[str]:
    """Write every endpoint with its reason."""
    lines = []
    for endpoint in site.found.endpoints:
        does = ", ".join(("questions",) * endpoint.answers + ("actions",) * endpoint.acts)
        lines += [f"{endpoint.kind:11} {endpoint.url}  ({does})", f"{'':11} {endpoint.reason}"]
    return lines + list_unused(site)


def list_unused(site: Site) -> list[str]:
    """Write what of the site is not used, each with the reason."""
    return [f"not used    {one.what}: {one.reason}" for one in site.unused]


def list_failed(failed: Sequence[UnusedEndpoint]) -> list[str]:
    """Write which endpoints failed before another one answered."""
    return [f"  instead of {one.what}: {one.reason}" for one in failed]


def list_actions(actions: Sequence[SiteAction]) -> list[str]:
    """Write what a site offers, each with its safety, its price and its arguments."""
    lines = []
    for action in actions:
        safety = "says nothing of its safety" if action.safety is None else action.safety.mutability
        price = f", costs {action.cost}" if action.cost else ", may cost" * action.has_cost
        lines.append(f"{action.name}  ({safety}{price})")
        lines += [f"    {line}" for line in action.description.splitlines()[:3] if line.strip()]
        required = action.input_schema.get("required") or ()
        names = [
            name if name in required else f"[{name}]"
            for name in action.input_schema.get("properties") or ()
        ]
        lines += [f"    takes {', '.join(names)}"] if names else []
    return lines or ["The site offers no actions."]


def list_figures(figures: Sequence[TrustFigure]) -> list[str]:
    """Write the figures by which a site may be judged."""
    return [
        f"{one.name:12} {'-' if one.value is None else f'{one.value:.2f}':>4}  {one.reason}"
        for one in figures
    ]


def list_answer(answer: Answer, endpoint: Endpoint) -> list[str]:
    """Write an answer with its sources, or a question with its readings."""
    lines = answer.text.splitlines() or ["The site sent an empty answer."]
    lines += [f"  {number}. {one.label}" for number, one in enumerate(answer.choices, 1)]
    lines += [
        f"  {one.url}  ({one.title})" if one.title else f"  {one.url}" for one in answer.sources
    ]
    if answer.quote is not None:
        lines.append(f"  It costs {answer.quote.money}: yes agrees, anything else declines.")
    if answer.may_train is False:
        lines.append("  The site does not allow training on this.")
    lines.append(f"  by {endpoint.kind}: {endpoint.reason}")
    return lines


def list_outcome(outcome: Outcome) -> list[str]:
    """Write how a call went."""
    match outcome.kind:
        case "waiting":
            return [f"The site has not finished yet: {outcome.text or outcome.reference}"]
        case "question":
            return [f"The site asks: {outcome.text}"]
        case "payable":
            return [f"To be paid first: {outcome.quote.money if outcome.quote else outcome.text}"]
        case "done":
            lines = outcome.text.splitlines()
            if not lines and outcome.result is not None:
                lines = [msgspec.json.encode(outcome.result, enc_hook=str).decode()]
            return lines or ["Done."]


def list_planned_call(call: PlannedCall) -> list[str]:
    """Write what a person is asked to confirm: the call, the reasons and the price."""
    lines = [f"{call.site}: {call.action.name[:MAX_VALUE]}"]
    for name, value in call.arguments.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        lines.append(f"  {name} = {text[:MAX_VALUE]}")
    lines += [f"  {reason}" for reason in call.reasons]
    if call.quote is not None:
        lines.append(f"  Price: {call.quote.money}")
    return lines


def write_error(error: VisitError) -> list[str]:
    """Write what went wrong, and what the site says would help."""
    lines = [show(str(error))]
    # a recovery of one word is a code, for programs
    if isinstance(error, SiteRefused) and " " in error.recovery:
        lines.append(f"The site says: {show(error.recovery)}")
    if isinstance(error, SiteRefused) and error.retry_after is not None:
        lines.append(
            f"The site asks to come again in {write_count(round(error.retry_after), 'second')}."
        )
    return lines
