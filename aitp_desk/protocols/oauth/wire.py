"""Reads OAuth 2.0's requests, and writes its responses and refusals.

Sources: RFC 6749, sections 2.3.1, 4.4, 5.1 and 5.2; RFC 7591, sections 2 and 3; RFC 8707, section
2. Pure: no I/O, no clock.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

import msgspec

from aitp_desk.desk.access.oauth_server import (
    GrantRequest,
    IssuedToken,
    RegisteredClient,
    RegistrationRequest,
)
from aitp_desk.model.access.scope import is_scope
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    DeskError,
    InvalidClientMetadata,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    MissingField,
    UnknownClient,
    UnsupportedGrant,
)
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.protocol import Reply
from aitp_desk.protocols.oauth.objects import Client, OAuthError, Token

GRANT = "client_credentials"
AUTH_METHODS = ("client_secret_basic", "client_secret_post")
MAX_BODY = 8 * 1024
MAX_NAME = 200
MAX_SCOPES = 32
MAX_RESOURCES = 8
_MAX_PARAMETERS = 32
_MAX_CREDENTIAL = 256

_NOT_KEPT = (("Pragma", "no-cache"),)
"""RFC 6749, section 5.1. Every response already has ``Cache-Control: no-store``."""
_VISIBLE = re.compile(r"[\x20-\x7e]*")
_UNTELLABLE = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")
"""Characters that an ``error_description`` must not contain (RFC 6749, section 5.2)."""
_encode = msgspec.json.Encoder().encode


def decode_grant(body: bytes, authorization: Sequence[str]) -> GrantRequest:
    """Decode a request for a token.

    Parameters:
        body: ``application/x-www-form-urlencoded``.
        authorization: the values of all ``Authorization`` lines.

    Raises:
        InvalidRequest: it is invalid, or proves the client twice.
        UnsupportedGrant: its grant type is not client credentials.
        UnknownClient: it does not prove the client.
        InvalidScope: a scope does not exist.
    """
    values, resources = _decode_parameters(body)
    if "grant_type" not in values:
        raise MissingField(f"`grant_type` is required: {GRANT}.", param="grant_type")
    if values["grant_type"] != GRANT:
        raise UnsupportedGrant(f"`grant_type` must be {GRANT}.", param="grant_type")
    client_id, secret = _decode_client(values, authorization)
    scopes = _scopes(values["scope"]) if "scope" in values else None
    return GrantRequest(client_id, secret, scopes, resources)


def encode_grant(granted: IssuedToken) -> Reply:
    """Encode a token (RFC 6749, section 5.1), always with its scopes."""
    body = Token(granted.token, "Bearer", granted.seconds, " ".join(granted.scopes))
    return Reply(200, _encode(body), headers=_NOT_KEPT)


def decode_registration(body: bytes) -> RegistrationRequest:
    """Decode client metadata (RFC 7591, section 2); unknown members are ignored.

    Raises:
        InvalidRequest: the body is not a JSON object.
        InvalidClientMetadata: it asks for what this desk does not offer, or exceeds a bound.
    """
    said = decode_json(body)
    if not isinstance(said, dict):
        raise InvalidClientMetadata("Client metadata must be a JSON object.")
    if "jwks" in said and "jwks_uri" in said:
        raise InvalidClientMetadata("Send either `jwks` or `jwks_uri`, not both.", param="jwks")
    grants = said.get("grant_types", [GRANT])
    if not isinstance(grants, list) or GRANT not in grants:
        raise InvalidClientMetadata(
            f"`grant_types` must contain {GRANT}, the only grant type of this desk.",
            param="grant_types",
        )
    if said.get("token_endpoint_auth_method", AUTH_METHODS[0]) not in AUTH_METHODS:
        raise InvalidClientMetadata(
            f"`token_endpoint_auth_method` must be {' or '.join(AUTH_METHODS)}.",
            param="token_endpoint_auth_method",
        )
    name = said.get("client_name", "")
    if not isinstance(name, str) or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidClientMetadata(
            f"`client_name` must be text on one line of at most {MAX_NAME} characters.",
            param="client_name",
        )
    return RegistrationRequest(name, _registered_scopes(said.get("scope")))


def encode_registration(registered: RegisteredClient, body: bytes) -> Reply:
    """Encode a registered client with its effective metadata (RFC 7591, section 3.2.1).

    The member ``webhook_secret`` is an extension of this desk, which that section allows.

    Parameters:
        body: the request's, as :func:`decode_registration` accepted it.
    """
    method = decode_json(body).get("token_endpoint_auth_method", AUTH_METHODS[0])
    client = registered.client
    told = Client(
        client_id=client.id,
        client_secret=registered.secret,
        webhook_secret=registered.webhook_secret,
        client_id_issued_at=client.created_at,
        client_secret_expires_at=client.expires_at or 0,
        client_name=client.name,
        grant_types=[GRANT],
        response_types=[],
        token_endpoint_auth_method=method,
        scope=" ".join(client.scopes),
    )
    return Reply(201, _encode(told), headers=_NOT_KEPT)


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render a refusal in OAuth's form (RFC 6749, section 5.2; RFC 7591, section 3.2.2).

    For an unknown client the header asks for Basic, which this protocol accepts.
    """
    description = _UNTELLABLE.sub("?", error.message.replace('"', "'"))
    body = OAuthError(_code_of(error), description)
    headers = make_refusal_headers(error)
    if isinstance(error, UnknownClient):
        others = (header for header in headers if header[0] != "WWW-Authenticate")
        headers = (*others, ("WWW-Authenticate", 'Basic realm="aitp-desk"'))
    return Reply(find_status(error.kind), _encode(body), headers=(*headers, *_NOT_KEPT))


def _code_of(error: DeskError) -> str:
    match error:
        case UnknownClient():
            return "invalid_client"
        case UnsupportedGrant(param="response_type"):
            return "unsupported_response_type"
        case UnsupportedGrant():
            return "unsupported_grant_type"
        case InvalidScope():
            return "invalid_scope"
        case InvalidTarget():
            return "invalid_target"
        case InvalidClientMetadata():
            return "invalid_client_metadata"
        case _:
            pass
    match error.kind:
        case ErrorKind.NOT_AUTHENTICATED:
            return "invalid_token"
        case ErrorKind.FORBIDDEN:
            return "access_denied"
        case ErrorKind.RATE_LIMITED | ErrorKind.UNAVAILABLE:
            return "temporarily_unavailable"
        case ErrorKind.INTERNAL:
            return "server_error"
        case _:
            return "invalid_request"


def _decode_parameters(body: bytes) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the parameters of a form, and separately the repeatable ones.

    A parameter without a value counts as absent. No other parameter, known or unknown, may be
    repeated (RFC 6749, section 3.2).
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MAX_PARAMETERS,
        )
    except ValueError:
        raise InvalidRequest(
            f"The body must be a form of at most {_MAX_PARAMETERS} parameters, such as"
            f" grant_type={GRANT}&scope=threads."
        ) from None
    values: dict[str, str] = {}
    resources: list[str] = []
    for name, value in pairs:
        if not _VISIBLE.fullmatch(name) or not _VISIBLE.fullmatch(value):
            raise InvalidRequest("Parameters must be visible ASCII characters.")
        if name == "resource":
            resources.append(value)
        elif name in values:
            raise InvalidRequest("A parameter occurs twice.", param=name)
        else:
            values[name] = value
    if len(resources) > MAX_RESOURCES:
        raise InvalidRequest(
            f"A request must have at most {MAX_RESOURCES} resources.", param="resource"
        )
    given = {name: value for name, value in values.items() if value}
    return given, tuple(resource for resource in resources if resource)


def _decode_client(values: Mapping[str, str], authorization: Sequence[str]) -> tuple[str, str]:
    """Return the client's id and secret (RFC 6749, section 2.3.1)."""
    if len(authorization) > 1:
        raise InvalidRequest(
            "The header Authorization must occur only once.", param="Authorization"
        )
    client_id, secret = values.get("client_id"), values.get("client_secret")
    if authorization:
        if secret is not None:
            raise InvalidRequest(
                "The client must authenticate in the header or in the body, not both."
            )
        named, secret = _decode_basic(authorization[0])
        if client_id not in {None, named}:
            raise InvalidRequest(
                "The header and the body name different clients.", param="client_id"
            )
        client_id = named
    if not client_id or not secret:
        raise UnknownClient(
            "A client must authenticate with its id and secret: by HTTP Basic, or as client_id"
            " and client_secret in the body."
        )
    if len(client_id) > _MAX_CREDENTIAL or len(secret) > _MAX_CREDENTIAL:
        raise UnknownClient("The client id or the client secret is not valid.")
    return client_id, secret


def _decode_basic(authorization: str) -> tuple[str, str]:
    """Return both halves of a Basic header, each form-decoded."""
    scheme, _, encoded = authorization.strip().partition(" ")
    halves: list[str] = []
    if scheme.lower() == "basic":
        with suppress(ValueError):  # no base64, no ASCII, or no form-encoded text
            text = base64.b64decode(encoded.strip(), validate=True).decode("ascii")
            halves = [unquote_plus(half, errors="strict") for half in text.split(":")]
    if len(halves) != 2:
        raise UnknownClient(
            "The header Authorization must be 'Basic' and the base64 of client id, colon and"
            " secret."
        )
    client_id, secret = halves
    return client_id, secret


def _scopes(text: str) -> tuple[str, ...]:
    """Return the scopes of a list, each once (RFC 6749, section 3.3).

    Single spaces separate them.
    """
    scopes = tuple(dict.fromkeys(text.split(" ")))
    if len(scopes) > MAX_SCOPES or not all(map(is_scope, scopes)):
        raise InvalidScope("A requested scope does not exist.", param="scope")
    return scopes


def _registered_scopes(text: Any) -> tuple[str, ...] | None:
    if text is None or text == "":
        return None
    try:
        return _scopes(text)
    except (InvalidScope, AttributeError):
        raise InvalidClientMetadata(
            "`scope` must list scopes of this desk, separated by single spaces.", param="scope"
        ) from None
