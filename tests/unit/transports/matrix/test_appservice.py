"""The endpoint of an application service, and what the settings need."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec
import pytest

from aitp_desk.egress import Egress
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated
from aitp_desk.transports.base import Delivery, HookResult
from aitp_desk.transports.matrix.settings import MatrixSettings
from aitp_desk.transports.matrix.transport import MatrixTransport
from tests.support.transports.collector import Collector

TOKENS = {"MATRIX_TOKEN": "as", "MATRIX_HS_TOKEN": "hs"}


def make(mode: str = "appservice", tokens: Mapping[str, str] = TOKENS) -> MatrixTransport:
    settings = msgspec.convert(
        {"homeserver": "https://a.example", "user": "@desk:a.example", "mode": mode}, MatrixSettings
    )
    return MatrixTransport(settings, Collector(tokens, Egress()).make_host())


async def call(
    path: str, *, method: str = "PUT", body: bytes = b"{}", token: str = "Bearer hs"
) -> HookResult:
    delivery = Delivery(
        method=method,  # type: ignore[arg-type]
        body=body,
        headers={"authorization": token} if token else {},
        query={"access_token": "hs"},
        now=1,
        path=path,
    )
    found = make().endpoints()["app"].read(delivery)
    assert not isinstance(found, HookResult)
    return await found


@pytest.mark.parametrize("token", ["", "hs", "Bearer", "Bearer h", "Bearer hss", "bearer \udcff"])
@pytest.mark.parametrize("path", ["_matrix/app/v1/transactions/1", "_matrix/app/v1/ping", "x"])
async def test_without_the_hs_token_nothing_is_read(path: str, token: str) -> None:
    with pytest.raises(NotAuthenticated):
        await call(path, token=token)


async def test_a_ping_is_answered() -> None:
    result = await call("_matrix/app/v1/ping", method="POST")
    assert (result.reply.status, result.reply.body) == (200, b"{}")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "_matrix/app/v1/users/%40other%3Aa.example", "M_NOT_FOUND"),
        ("GET", "_matrix/app/v1/rooms/%23a%3Aa.example", "M_NOT_FOUND"),
        ("GET", "_matrix/app/v1/transactions/1", "M_UNRECOGNIZED"),
        ("PUT", "_matrix/app/v1/transactions/", "M_UNRECOGNIZED"),
        ("PUT", "_matrix/app/v1/transactions/a/b", "M_UNRECOGNIZED"),
        ("PUT", "", "M_UNRECOGNIZED"),
    ],
)
async def test_there_is_nothing_else(method: str, path: str, code: str) -> None:
    result = await call(path, method=method)
    assert result.reply.status == 404
    assert json.loads(result.reply.body)["errcode"] == code


@pytest.mark.parametrize("body", [b"", b"[]", b'{"events": {}}', b"[" * 100_000])
async def test_what_is_no_transaction_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest):
        await call("_matrix/app/v1/transactions/1", body=body)


async def test_a_transaction_without_events_for_the_desk_is_confirmed() -> None:
    body = json.dumps({"events": [{"type": "m.room.message"}], "ephemeral": [{}]}).encode()
    result = await call("_matrix/app/v1/transactions/1", body=body)
    assert result.events == ()
    assert (result.reply.status, result.reply.body) == (200, b"{}")


def test_a_client_has_no_address() -> None:
    assert make("client").endpoints() == {}


@pytest.mark.parametrize(
    ("mode", "absent"),
    [
        ("client", "MATRIX_TOKEN"),
        ("appservice", "MATRIX_TOKEN"),
        ("appservice", "MATRIX_HS_TOKEN"),
    ],
)
def test_a_token_that_is_not_set_is_named(mode: str, absent: str) -> None:
    tokens = {name: token for name, token in TOKENS.items() if name != absent}
    with pytest.raises(ValueError, match=f"environment variable {absent} to"):
        make(mode, tokens)


def test_a_thread_is_in_its_room() -> None:
    transport = make()
    assert transport.divide("!r:a.example $e") == ("!r:a.example", "$e")
    assert transport.divide("!r:a.example") == ("!r:a.example", "")


@pytest.mark.parametrize("user", ["desk", "@desk", "desk:a.example", "@de sk:a.example", "@:a"])
def test_an_account_is_a_whole_matrix_id(user: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"homeserver": "https://a.example", "user": user}, MatrixSettings)
