"""Who is calling, as far as a request proves it, and which host it was meant for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from multidict import CIMultiDict

from tests.support.access.keys import make_key
from tests.support.clients.ahp import CONTENT, CONVERSE, MANIFEST, Visitor, visiting
from tests.support.desk.command import run
from tests.support.http.raw_client import send

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = {"capability": "contact", "query": "How do I reach you?"}
WORTHLESS = f"desk_{'0' * 16}_{'0' * 64}"


class Known(NamedTuple):
    """A desk with its data folder and an API key that it knows."""

    visitor: Visitor
    data: Path
    key: str

    async def send(
        self, method: str, path: str, *headers: tuple[str, str], json: Any = None
    ) -> tuple[int, Any, CIMultiDict[str]]:
        """Send a request; the status, the JSON and the headers of the answer."""
        async with self.visitor.http.request(
            method, path, headers=CIMultiDict(headers), json=json
        ) as response:
            is_json = response.content_type == "application/json"
            said = await response.json() if is_json else await response.text()
            return response.status, said, CIMultiDict(response.headers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def known(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Known]:
    data = tmp_path_factory.mktemp("identity") / "data"
    async with visiting(data) as visitor:
        yield Known(visitor, data, await make_key(visitor.desk.store, data, name="known"))


async def open_thread(known: Known, *headers: tuple[str, str]) -> str:
    status, thread, _ = await known.send("POST", "/v1/threads", *headers, json={})
    assert status == 200
    id_: str = thread["id"]
    return id_


async def status_of(known: Known, thread_id: str, *headers: tuple[str, str]) -> int:
    return (await known.send("GET", f"/v1/threads/{thread_id}", *headers))[0]


# --- one credential -------------------------------------------------------------------------


@pytest.mark.requirement("AHP-8.2-5")
async def test_a_key_is_known_by_either_header_and_by_both(known: Known) -> None:
    bearer, ahp_key = ("Authorization", f"Bearer {known.key}"), ("X-AHP-Key", known.key)
    mine = await open_thread(known, bearer)
    assert await status_of(known, mine) == 404
    assert await status_of(known, mine, ahp_key) == 200
    assert await status_of(known, mine, bearer, ahp_key) == 200
    assert await status_of(known, mine, ("authorization", f"bearer  {known.key} ")) == 200
    assert await status_of(known, mine, ("x-ahp-key", f" {known.key}")) == 200


@pytest.mark.requirement("AHP-8.2-1")
async def test_no_credential_is_needed_to_ask(known: Known) -> None:
    status, said, _ = await known.send("POST", CONVERSE, json=QUESTION)
    assert (status, said["status"]) == (200, "success")


async def test_a_thread_is_its_owner_s_and_an_operator_s(known: Known) -> None:
    store = known.visitor.desk.store
    other = await make_key(store, known.data, "threads", "actions", name="other")
    operator = await make_key(store, known.data, "operator", name="operator")
    admin = await make_key(store, known.data, "admin", name="admin")
    mine = await open_thread(known, ("X-AHP-Key", known.key))
    statuses = {
        name: await status_of(known, mine, ("X-AHP-Key", key))
        for name, key in {
            "owner": known.key,
            "other": other,
            "operator": operator,
            "admin": admin,
        }.items()
    }
    assert statuses == {"owner": 200, "other": 404, "operator": 200, "admin": 200}
    unknown = await known.send("GET", "/v1/threads/thread_unknown", ("X-AHP-Key", other))
    foreign = await known.send("GET", f"/v1/threads/{mine}", ("X-AHP-Key", other))
    assert foreign[:2] == unknown[:2]


async def test_a_key_made_for_something_else_takes_no_right_away(known: Known) -> None:
    acts = await make_key(known.visitor.desk.store, known.data, "actions", name="acts")
    key = ("X-AHP-Key", acts)
    anybody_s = f"/v1/threads/{await open_thread(known)}"
    somebody_s = await open_thread(known, ("X-AHP-Key", known.key))
    message = {"role": "user", "content": "hello"}
    answers = [
        await known.send("POST", "/v1/threads", key, json={}),
        await known.send("GET", anybody_s, key),
        await known.send("POST", f"{anybody_s}/messages", key, json=message),
        await known.send("POST", CONVERSE, key, json=QUESTION),
    ]
    assert {status for status, _, _ in answers} <= {200, 201}
    assert await status_of(known, somebody_s, key) == 404
    mine = answers[0][1]["id"]
    assert await status_of(known, mine, key) == 200
    assert await status_of(known, mine) == 404
    assert (await known.send("POST", f"{anybody_s}/claim", key))[0] == 403


async def test_an_anonymous_thread_is_open_to_each_holder_of_its_id(known: Known) -> None:
    anybody_s = await open_thread(known)
    assert await status_of(known, anybody_s) == 200
    assert await status_of(known, anybody_s, ("X-AHP-Key", known.key)) == 200


# --- credentials that prove nothing ---------------------------------------------------------


@pytest.mark.requirement("AHP-10-6")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", CONVERSE),
        ("GET", MANIFEST),
        ("GET", CONTENT),
        ("GET", "/"),
        ("POST", "/v1/threads"),
        ("GET", "/v1/threads/thread_unknown"),
        ("GET", "/health"),
    ],
)
async def test_a_worthless_credential_is_refused_everywhere_and_never_taken_for_none(
    known: Known, method: str, path: str
) -> None:
    body = QUESTION if method == "POST" else None
    for header in [
        ("X-AHP-Key", WORTHLESS),
        ("X-AHP-Key", known.key[:-1] + ("0" if known.key[-1] != "0" else "1")),
        ("X-AHP-Key", known.key.upper()),
        ("X-AHP-Key", ""),
        ("X-AHP-Key", "é"),
        ("Authorization", f"Bearer {WORTHLESS}"),
        ("Authorization", "Bearer"),
        ("Authorization", ""),
        ("Authorization", known.key),
        ("Authorization", f"Basic {known.key}"),
        ("Authorization", f"Bearer {known.key} {known.key}"),
    ]:
        status, said, headers = await known.send(method, path, header, json=body)
        assert status == 401, header
        assert headers["WWW-Authenticate"].startswith('Bearer realm="aitp-desk"')
        assert known.key not in str(said)


async def test_two_different_credentials_are_refused(known: Known) -> None:
    other = await make_key(known.visitor.desk.store, known.data, name="second")
    status, said, headers = await known.send(
        "POST",
        CONVERSE,
        ("Authorization", f"Bearer {known.key}"),
        ("X-AHP-Key", other),
        json=QUESTION,
    )
    assert (status, said["code"]) == (401, "auth_required")
    assert "contain different credentials" in said["message"]
    assert headers["WWW-Authenticate"].startswith('Bearer realm="aitp-desk"')


@pytest.mark.parametrize("name", ["Authorization", "X-AHP-Key"])
async def test_a_header_with_a_credential_stands_once(known: Known, name: str) -> None:
    value = f"Bearer {known.key}" if name == "Authorization" else known.key
    status, said, _ = await known.send(
        "POST", CONVERSE, (name, value), (name, value), json=QUESTION
    )
    assert (status, said["code"], said["param"]) == (400, "invalid_request", name)


@pytest.mark.parametrize("name", ["api_key", "key", "token", "access_token", "X-AHP-Key"])
async def test_a_key_in_the_address_is_refused_everywhere_and_told_without_it(
    known: Known, name: str
) -> None:
    mine = await open_thread(known, ("X-AHP-Key", known.key))
    for method, path in [
        ("GET", f"/v1/threads/{mine}"),
        ("POST", "/v1/threads"),
        ("POST", CONVERSE),
        ("GET", MANIFEST),
        ("GET", "/"),
        ("GET", "/health"),
        ("PUT", "/v1/threads"),
        ("DELETE", "/v1/nothing"),
    ]:
        for own in ((), (("X-AHP-Key", known.key),)):
            body = QUESTION if method == "POST" else None
            address = f"{path}?{name}={known.key}"
            status, said, _ = await known.send(method, address, *own, json=body)
            assert status == 400, path
            assert "address of this request contains a credential" in str(said)
            assert known.key not in str(said)


# --- keys that end while the desk serves ----------------------------------------------------


@pytest.mark.slow
async def test_a_key_made_and_revoked_on_the_command_line_holds_from_then_until_then(
    known: Known,
) -> None:
    data = ("--data", known.data)
    code, made, _ = await run("token", "create", *data, "--name", "brief", "--scope", "threads")
    assert code == 0
    key = ("X-AHP-Key", made[-1])
    mine = await open_thread(known, key)
    assert await status_of(known, mine, key) == 200

    code, _, _ = await run("token", "revoke", *data, "brief")
    assert code == 0
    revoked_at = time.monotonic()
    while (status := await status_of(known, mine, key)) != 401:
        assert status == 200
        assert time.monotonic() < revoked_at + 1, "a revoked key is refused within a second"
    assert await status_of(known, mine) == 404
    assert await status_of(known, mine, ("X-AHP-Key", known.key)) == 404


@pytest.mark.slow
async def test_a_rotated_key_works_next_to_the_new_one_and_a_signing_key_is_never_a_bearers(
    known: Known,
) -> None:
    data = ("--data", known.data)
    first = (await run("token", "create", *data, "--name", "turns", "--scope", "threads"))[1][-1]
    mine = await open_thread(known, ("X-AHP-Key", first))
    _, told, _ = await run("token", "rotate", *data, "turns", "--overlap", "1h")
    second = told[-1]
    assert second.split("_")[1] == first.split("_")[1]
    assert second != first
    for key in (first, second):
        assert await status_of(known, mine, ("X-AHP-Key", key)) == 200
    _, told, _ = await run("token", "rotate", *data, "turns", "--overlap", "0")
    rotated_at = time.monotonic()
    assert await status_of(known, mine, ("X-AHP-Key", told[-1])) == 200
    for key in (first, second):
        while (status := await status_of(known, mine, ("X-AHP-Key", key))) != 401:
            assert status == 200
            assert time.monotonic() < rotated_at + 1, "a former secret ends within a second"

    made = ("token", "create", *data, "--name", "signs", "--scope", "threads", "--hmac")
    id_, secret = (line.partition("=")[2] for line in (await run(*made))[1][-2:])
    for credential in (f"desk_{id_[:16]}_{secret}", f"{id_}_{secret}", secret):
        assert await status_of(known, mine, ("Authorization", f"Bearer {credential}")) == 401


# --- the host -------------------------------------------------------------------------------


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    """A desk that is reached as shop.example through a proxy on this machine."""
    data = tmp_path_factory.mktemp("shop") / "data"
    settings = ("site.url=https://Shop.example", 'server.trusted_proxies=["127.0.0.1"]')
    async with visiting(data, *settings) as visitor:
        yield visitor


@pytest.mark.parametrize(
    "host",
    [
        "shop.example",
        "SHOP.EXAMPLE",
        "shop.example:443",
        "shop.example:8080",
        "localhost",
        "localhost:8080",
        "127.0.0.1:1",
        "[::1]:8080",
    ],
)
async def test_the_site_s_own_host_and_this_machine_s_are_served(shop: Visitor, host: str) -> None:
    async with shop.http.get(MANIFEST, headers={"Host": host}) as response:
        assert response.status == 200


@pytest.mark.parametrize(
    "host",
    [
        "elsewhere.example",
        "shop.example.elsewhere.example",
        "notshop.example",
        "shop.example@elsewhere.example",
        "elsewhere.example:8080",
        "127.0.0.2",
        "[::1",
        "",
    ],
)
async def test_a_request_for_another_host_is_421_in_every_protocols_form(
    shop: Visitor, host: str
) -> None:
    for method, path in [("POST", CONVERSE), ("GET", MANIFEST), ("POST", "/v1/threads")]:
        async with shop.http.request(
            method, path, headers={"Host": host, "X-Forwarded-Host": "shop.example"}
        ) as response:
            assert response.status == 421
            said = await response.json()
        if path.startswith("/v1"):
            assert said["error"]["code"] == "wrong_host"
        else:
            assert (said["code"], said["detail"]) == ("invalid_request", "wrong_host")
    async with shop.http.get("/", headers={"Host": host, "Accept": "text/html"}) as response:
        assert response.status == 421
        assert 'href="https://shop.example/"' in (await response.text()).lower()


async def test_the_host_of_a_whole_address_goes_before_the_host_header(shop: Visitor) -> None:
    for method, path in ((b"GET", MANIFEST), (b"GET", "/v1/models"), (b"POST", CONVERSE)):
        for named, header, foreign in (
            ("elsewhere.example", b"127.0.0.1", True),
            ("127.0.0.1", b"elsewhere.example", False),
            ("SHOP.example:81", b"127.0.0.1", False),
        ):
            target = f"http://{named}{path}".encode()
            for _ in range(2):
                answer = await send(shop.desk.url, method, target, [(b"Host", header)])
                assert (answer.status == 421) is foreign, answer


async def test_no_header_ever_makes_an_address(shop: Visitor) -> None:
    headers = {
        "Host": "localhost",
        "X-Forwarded-Host": "elsewhere.example",
        "X-Forwarded-Proto": "http",
        "Forwarded": "host=elsewhere.example;proto=http",
    }
    body = {"capability": "content_search", "query": "What does gift wrapping cost?"}
    async with shop.http.post(CONVERSE, json=body, headers=headers) as response:
        said = await response.json()
    for source in said["response"]["sources"]:
        assert source["url"].lower().startswith("https://shop.example/")
    async with shop.http.get(CONTENT, headers=headers) as response:
        assert "elsewhere.example" not in await response.text()


async def test_a_request_without_a_host_is_refused(shop: Visitor) -> None:
    address = urlsplit(shop.desk.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(f"GET {MANIFEST} HTTP/1.0\r\n\r\n".encode())
    status_line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert status_line.split()[1] == b"421"
