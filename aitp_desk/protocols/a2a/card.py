"""Writes the agent card: where the desk serves A2A, how, and with which skills.

One card serves both versions: the members of 0.3 are next to those of 1.0, and readers of 1.0 skip
them. The schema of 1.0 is closed, so that a card for 1.0 alone can be chosen (``a2a.card``).

Source: A2A 1.0, section 4.4 and 8; A2A 0.3, section 5.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from email.utils import formatdate
from typing import Any

import msgspec

from aitp_desk import own_version
from aitp_desk.agent.slots.replies.confirmation import list_consequences
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action, may_invoke
from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.payments import list_extensions
from aitp_desk.protocols.base.protocol import Call, Reply, make_etag, matches_etag

CARD_PATH = "/.well-known/agent-card.json"
DOOR_PATH = "/a2a"
MAX_AGE_SECONDS = 300
JSONRPC = "JSONRPC"
HTTP_JSON = "HTTP+JSON"
_INPUT = ("text/plain", "application/json")
_OUTPUT = ("text/plain", "application/json")
_NO_DESCRIPTION = "Answers questions about this site and offers its actions."
_BEARER = "An API key of this desk, or an access token."
_encode = msgspec.json.encode


class AgentCards:
    """Writes the cards of one desk.

    Parameters:
        below: the address of the desk, without a trailing slash.
        token_url: where clients get access tokens; empty without such an address.
        docs_url: the page about what the desk answers; empty where it is not served.
        is_union: whether the public card is also for callers of 0.3.
        clock: Unix seconds.
    """

    def __init__(
        self,
        below: str,
        *,
        token_url: str,
        docs_url: str,
        is_union: bool,
        clock: Callable[[], float],
    ) -> None:
        self._below = below
        self._token_url = token_url
        self._docs_url = docs_url
        self._is_union = is_union
        self._clock = clock
        self._declared: tuple[Action, ...] | None = None
        self._body = b""
        self._headers: tuple[tuple[str, str], ...] = ()

    async def get(self, desk: Desk, call: Call) -> Reply:
        """``GET /.well-known/agent-card.json``."""
        actions = desk.registry.actions
        if actions is not self._declared:
            body = _encode(self._card(desk, _open(actions), self._is_union))
            if body != self._body:
                self._body = body
                self._headers = (
                    ("ETag", make_etag(body)),
                    ("Last-Modified", formatdate(self._clock(), usegmt=True)),
                    ("Cache-Control", f"public, max-age={MAX_AGE_SECONDS}"),
                )
            self._declared = actions
        if matches_etag(call.headers, self._headers[0][1]):
            return Reply(304, headers=self._headers)
        return Reply(200, self._body, headers=self._headers)

    def get_extended(self, desk: Desk, principal: Principal, dialect: Dialect) -> dict[str, Any]:
        """Return the card for an identified caller, with every action that it may call.

        Raises:
            NotAuthenticated: the caller is anonymous.
        """
        if principal.is_anonymous:
            raise NotAuthenticated(
                "The extended card needs a credential. Send an API key or a token."
            )
        actions = [one for one in desk.registry.actions if may_invoke(principal.scopes, one)]
        return self._card(desk, actions, dialect is not Dialect.V1)

    def _card(self, desk: Desk, actions: Iterable[Action], is_union: bool) -> dict[str, Any]:
        url = f"{self._below}{DOOR_PATH}"
        interfaces = [_interface(url, JSONRPC, "1.0"), _interface(url, HTTP_JSON, "1.0")]
        if is_union:
            interfaces += [_interface(url, JSONRPC, "0.3"), _interface(url, HTTP_JSON, "0.3")]
        card: dict[str, Any] = {
            "name": desk.site.name,
            "description": desk.site.description or _NO_DESCRIPTION,
            "version": own_version(),
            "supportedInterfaces": interfaces,
            "provider": {"organization": desk.site.name, "url": desk.site.url},
            "capabilities": {
                "streaming": True,
                "pushNotifications": True,
                "extendedAgentCard": True,
            },
            "defaultInputModes": list(_INPUT),
            "defaultOutputModes": list(_OUTPUT),
            "skills": [_skill(action) for action in actions],
            "securitySchemes": self._schemes(is_union),
        }
        if declared := list_extensions(desk):
            card["capabilities"]["extensions"] = declared
        if self._docs_url:
            card["documentationUrl"] = self._docs_url
        if not is_union:
            return card
        card |= {
            "url": url,
            "preferredTransport": JSONRPC,
            "protocolVersion": "0.3.0",
            "additionalInterfaces": [
                {"url": url, "transport": JSONRPC},
                {"url": url, "transport": HTTP_JSON},
            ],
            "supportsAuthenticatedExtendedCard": True,
        }
        return card

    def _schemes(self, is_union: bool) -> dict[str, Any]:
        """Return the security schemes; what the public card lists needs no credential."""
        bearer = {"scheme": "Bearer", "description": _BEARER}
        schemes: dict[str, Any] = {"bearer": {"httpAuthSecurityScheme": bearer}}
        if is_union:
            schemes["bearer"] |= {"type": "http", **bearer}
        if self._token_url:
            scopes = {"threads": "Converse on threads.", "actions": "Call actions."}
            flows = {"clientCredentials": {"tokenUrl": self._token_url, "scopes": scopes}}
            schemes["oauth2"] = {"oauth2SecurityScheme": {"flows": flows}}
            if is_union:
                schemes["oauth2"] |= {"type": "oauth2", "flows": flows}
        return schemes


def _open(actions: Iterable[Action]) -> list[Action]:
    return [action for action in actions if action.is_open]


def _interface(url: str, binding: str, version: str) -> dict[str, Any]:
    return {"url": url, "protocolBinding": binding, "protocolVersion": version}


def _skill(action: Action) -> dict[str, Any]:
    """Write an action as a skill; a data part ``{"action", "arguments"}`` calls it."""
    is_own = action.name in OWN_NAMES
    told = (action.summary, action.description, *(() if is_own else list_consequences(action)))
    skill: dict[str, Any] = {
        "id": action.name,
        "name": action.name.replace("_", " ").capitalize(),
        "description": " ".join(filter(None, told)),
        "tags": _tags(action),
        "inputModes": list(_INPUT),
        "outputModes": list(_OUTPUT),
    }
    if action.examples:
        skill["examples"] = [example.text for example in action.examples]
    return skill


def _tags(action: Action) -> list[str]:
    tags: list[str] = ["content"] if action.name in OWN_NAMES else [action.kind]
    if action.may_cost:
        tags.append("costs")
    if action.safety.mutability != "read_only":
        tags.append(action.safety.mutability)
    return tags
