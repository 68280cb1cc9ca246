"""Programs that register themselves, where the owner lets them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.config import ConfigError, load_config
from aitp_desk.store.units.keys.clients import revoke_client
from tests.support.access.oauth_clients import Credentials, ask_for_token, get_token
from tests.support.clients.threads import Talker, Told, talking
from tests.support.desk.server import SITE
from tests.support.doubles.agent import NOON, Clock

pytestmark = pytest.mark.asyncio(loop_scope="module")

REGISTER = "/oauth/register"
ENABLED = "oauth.registration.enabled=true"
DAY = 86_400


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    folder = tmp_path_factory.mktemp("registration")
    settings = (ENABLED, "oauth.registration.per_hour=1000")
    async with talking(folder, *settings, clock=Clock()) as opened:
        yield opened


async def register(talker: Talker, body: Any, *headers: tuple[str, str]) -> Told:
    return await talker.send("POST", REGISTER, body, headers=headers)


async def test_nobody_registers_unless_the_owner_says_so(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        async with talker.http.post(REGISTER, json={}) as response:
            assert response.status in (404, 405)
        async with talker.http.get("/.well-known/oauth-authorization-server") as response:
            assert "registration_endpoint" not in await response.json()


async def test_a_program_registers_and_uses_what_it_got(talker: Talker) -> None:
    async with talker.http.get("/.well-known/oauth-authorization-server") as response:
        assert (await response.json())["registration_endpoint"] == f"{talker.desk.url}{REGISTER}"
    said = await register(talker, {"client_name": "Book finder ☕", "something": ["else"]})
    assert said.status == 201
    assert said.headers["Cache-Control"] == "no-store"
    client = Credentials(said.body["client_id"], said.body["client_secret"])
    assert said.body == {
        "client_id": client.id,
        "client_secret": client.secret,
        "webhook_secret": said.body["webhook_secret"],
        "client_id_issued_at": NOON,
        "client_secret_expires_at": NOON + 90 * DAY,
        "client_name": "Book finder ☕",
        "grant_types": ["client_credentials"],
        "response_types": [],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": "threads",
    }
    assert len(client.secret) == 64
    assert len(b64decode(said.body["webhook_secret"].removeprefix("whsec_"))) == 32
    token = (await get_token(talker.http, client))["access_token"]
    assert (await talker.send("POST", "/v1/threads", {}, headers=[("X-AHP-Key", token)])).ok
    ((hash_,),) = talker.rows(f"SELECT hash FROM clients WHERE id = '{client.id}'")
    assert len(hash_) == 32
    assert client.secret.encode() not in hash_


ACCEPTED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"client_name": "", "scope": "threads"}),
    ({"scope": "threads"}, {"scope": "threads"}),
    ({"scope": "threads actions operator"}, {"scope": "threads"}),
    ({"scope": ""}, {"scope": "threads"}),
    (
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "client_secret_post"},
    ),
    (
        {"grant_types": ["authorization_code", "client_credentials"]},
        {"grant_types": ["client_credentials"]},
    ),
    ({"redirect_uris": ["https://a.example/back"], "software_statement": "a.b.c"}, {}),
]
REFUSED: list[Any] = [
    {"grant_types": ["authorization_code", "refresh_token"]},
    {"grant_types": []},
    {"grant_types": "client_credentials"},
    {"token_endpoint_auth_method": "none"},
    {"token_endpoint_auth_method": "private_key_jwt"},
    {"token_endpoint_auth_method": ["client_secret_basic"]},
    {"scope": "admin"},
    {"scope": "operator actions"},
    {"scope": "threads read"},
    {"scope": ["threads"]},
    {"scope": " ".join(f"actions:a{n}" for n in range(40))},
    {"client_name": "a" * 201},
    {"client_name": "two\nlines"},
    {"client_name": 7},
    {"jwks": {"keys": []}, "jwks_uri": "https://a.example/keys"},
    [],
    "text",
]


async def test_what_a_program_says_of_itself_is_taken_replaced_or_refused(talker: Talker) -> None:
    for sent, registered in ACCEPTED:
        said = await register(talker, sent)
        assert said.status == 201, sent
        assert said.body.items() >= registered.items(), sent
    before = talker.counts()["clients"]
    for sent in REFUSED:
        said = await register(talker, sent)
        assert (said.status, said.body["error"]) == (400, "invalid_client_metadata"), sent
        assert said.body.keys() == {"error", "error_description"}
    for body, status in ((b"{", 400), (b'{"scope": "a", "scope": "b"}', 400), (b" " * 9000, 413)):
        said = await register(talker, body)
        assert (said.status, said.body["error"]) == (status, "invalid_request")
    assert talker.counts()["clients"] == before


async def test_a_credential_that_proves_nothing_is_refused_here_as_everywhere(
    talker: Talker,
) -> None:
    said = await register(talker, {}, ("Authorization", "Bearer worthless"))
    assert (said.status, said.body["error"]) == (401, "invalid_token")
    assert said.headers["WWW-Authenticate"].startswith("Bearer ")


async def test_so_many_may_register_of_one_address_and_in_all(tmp_path: Path) -> None:
    clock = Clock()
    settings = (
        ENABLED,
        "oauth.registration.per_hour=2",
        "oauth.registration.max_clients=3",
        "oauth.registration.client_days=1",
        "oauth.registration.scopes=['threads', 'actions']",
        "server.trusted_proxies=['127.0.0.1']",
    )
    async with talking(tmp_path, *settings, clock=clock) as talker:

        async def ask(address: str) -> Told:
            return await register(talker, {}, ("X-Forwarded-For", address))

        first = await ask("203.0.113.1")
        assert first.body["scope"] == "threads actions"
        assert first.body["client_secret_expires_at"] == NOON + DAY
        assert (await ask("203.0.113.1")).status == 201
        clock.advance(600)
        third = await ask("203.0.113.1")
        assert (third.status, third.body["error"]) == (429, "temporarily_unavailable")
        assert third.headers["Retry-After"] == "3000"
        assert (await ask("203.0.113.2")).status == 201
        full = await ask("203.0.113.3")
        assert (full.status, full.body["error"]) == (503, "temporarily_unavailable")
        clock.advance(DAY)
        assert (await ask("203.0.113.3")).status == 201
        # what has expired opens nothing
        client = Credentials(first.body["client_id"], first.body["client_secret"])
        said = await ask_for_token(
            talker.http, [("grant_type", "client_credentials")], client.basic
        )
        assert (said.status, said.body["error"]) == (401, "invalid_client")


async def test_however_many_clients_register_they_have_what_their_address_has(
    tmp_path: Path,
) -> None:
    settings = (
        ENABLED,
        "limits.enabled=true",
        "limits.static_per_minute=4",
        "limits.authenticated_per_minute=50",
        "files.anonymous=false",
    )
    async with talking(tmp_path, *settings) as talker:
        clients = []
        for _ in range(2):
            made = (await register(talker, {})).body
            client = Credentials(made["client_id"], made["client_secret"])
            token = (await get_token(talker.http, client))["access_token"]
            clients.append(Talker(talker.desk, tmp_path, talker.http, token))
        one, other = clients
        turns = [await who.read("thread_nobody") for who in (one, other, one, talker)]
        assert [told.status for told in turns] == [404] * 4
        for who in (one, other, talker):
            assert (await who.read("thread_nobody")).status == 429
        assert (await one.upload()).status == 401
        # what each opens is its own all the same
        thread_id = (await one.open()).ok["id"]
        assert (await other.post(thread_id, "Mine?")).status == 404
        assert (await one.post(thread_id, "Mine.")).ok


async def test_the_owner_can_take_back_what_a_program_was_given(talker: Talker) -> None:
    said = await register(talker, {"client_name": "Spammer"})
    client = Credentials(said.body["client_id"], said.body["client_secret"])
    await talker.desk.store.run(revoke_client, id_or_name=client.id, now=int(NOON))
    refused = await ask_for_token(talker.http, [("grant_type", "client_credentials")], client.basic)
    assert (refused.status, refused.body["error"]) == (401, "invalid_client")


@pytest.mark.parametrize("scope", ["operator", "admin", "read", "actions:", "threads actions"])
async def test_a_scope_that_strangers_may_not_have_is_a_mistake_in_the_configuration(
    scope: str,
) -> None:
    with pytest.raises(ConfigError, match="never operator or admin"):
        load_config(SITE, (f"oauth.registration.scopes=['threads', '{scope}']",))


async def test_no_scope_at_all_is_a_mistake_too() -> None:
    with pytest.raises(ConfigError, match=r"oauth\.registration\.scopes"):
        load_config(SITE, ("oauth.registration.scopes=[]",))
