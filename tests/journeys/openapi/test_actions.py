"""Operations of a site's own service over AHP: announced, called, and carried out behind it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from aitp_desk.actions.faults import ActionsError
from aitp_desk.model.calls.action import DATA, TEXT_ANSWER
from tests.support.clients.ahp import MANIFEST, Visitor, read
from tests.support.clients.hac import ACCEPT, face
from tests.support.clients.threads import talking
from tests.support.desk.server import serving
from tests.support.doubles.openapi_service import FILE, serving_api

SERVICE = """\
openapi: 3.0.3
info: {title: Shop, version: 1.0.0}
servers: [{url: URL}]
paths:
  /stock/{sku}:
    get:
      operationId: getStock
      summary: How many of an item there are.
      parameters:
        - {in: path, name: sku, required: true, schema: {type: string, pattern: '^[A-Z]{2}-[0-9]+'}}
      responses:
        '200':
          description: It.
          content:
            application/json:
              schema: {type: object, properties: {count: {type: integer}}, required: [count]}
  /orders:
    post:
      operationId: placeOrder
      summary: Orders an item.
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, properties: {sku: {type: string}}, required: [sku]}
      responses: {'201': {description: Ordered.}}
"""
SETTINGS = f"""\
[[openapi]]
file = "{FILE}"
operations = ["getStock", "placeOrder"]
[[openapi.terms]]
operation = "getStock"
kind = "query"
open_to = "anyone"
"""


def make_site(folder: Path, url: str, settings: str = SETTINGS) -> Path:
    site = folder / "site"
    site.mkdir()
    (site / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", "utf-8")
    (site / FILE).write_text(SERVICE.replace("URL", url), "utf-8")
    (site / "desk.toml").write_text(settings, "utf-8")
    return site


@pytest.mark.requirement("HAC-11.1-1")
async def test_agents_are_told_of_operations_as_the_file_describes_them(tmp_path: Path) -> None:
    async with serving_api() as service:
        site = make_site(tmp_path, f"{service.url}/api")
        async with talking(tmp_path, site=site) as talker:
            listed = await face(await talker.with_key("actions"), "GET", "/capabilities")
            stock, order = listed.action("get-stock"), listed.action("place-order")
            assert stock["safety"]["mutability"] == "read_only"
            assert order["safety"]["mutability"] == "irreversible"
            assert order["description"].startswith("Orders an item.")
            assert {one["name"]: one["type"] for one in order["fields"]}["sku"] == "string"
            service.answers({"count": 3})
            called = await face(
                talker, stock["method"], stock["href"], {"sku": "AB-1"}, headers=(ACCEPT,)
            )
            assert called.data["result"] == {"count": 3}


async def test_visitors_call_operations_by_words_and_by_arguments(tmp_path: Path) -> None:
    async with serving_api() as service:
        site = make_site(tmp_path, f"{service.url}/api")
        async with talking(tmp_path, site=site) as talker:
            visitor = Visitor(talker.desk, talker.http)
            async with talker.http.get(MANIFEST) as response:
                manifest = await response.json()
            named = {one["name"]: one for one in manifest["capabilities"]}
            assert named["get_stock"]["action_type"] == "query"
            assert named["place_order"]["action_type"] == "async"
            assert named["place_order"]["input_schema"]["required"] == ["sku"]

            service.answers({"count": 3, "purchase_price": 9.5})
            said = await visitor.ask(
                json.dumps({"sku": "AB-1"}), "get_stock", accept_types=[DATA, TEXT_ANSWER]
            )
            assert said.body["response"]["payload"]["data"] == {"count": 3}
            assert (await visitor.ask("Is there any LA-22?", "get_stock")).answer == "count: 3"
            wrong = await visitor.ask(json.dumps({"sku": "ab"}), "get_stock")
            assert (wrong.status, wrong.body["param"]) == (400, "sku")
            nobody = await visitor.ask(json.dumps({"sku": "AB-1"}), "place_order")
            assert nobody.status == 401
            assert [got.target for got in service.got] == ["/api/stock/AB-1", "/api/stock/LA-22"]

            service.answers(b"", 201)
            buyer = await talker.with_key("actions")
            accepted = await visitor.ask(
                json.dumps({"sku": "AB-1"}), "place_order", headers=buyer.credentials
            )
            assert (accepted.status, accepted.body["status"]) == (200, "accepted")
            path = f"/agent/converse/status/{accepted.session_id}"
            async with asyncio.timeout(60):
                while True:
                    async with talker.http.get(path, headers=buyer.credentials) as response:
                        status = await read(response)
                    if status.body["status"] != "pending":
                        break
                    await talker.desk.store.settled()
            assert status.body["status"] == "success"
            (order,) = [got for got in service.got if got.method == "POST"]
            assert order.body == b'{"sku":"AB-1"}'
            ((call_id,),) = talker.rows("SELECT id FROM calls WHERE action = 'place_order'")
            assert order.headers["Idempotency-Key"] == call_id


async def test_a_desk_does_not_start_with_a_service_it_cannot_show_itself_to(
    tmp_path: Path,
) -> None:
    settings = SETTINGS.replace(f'"{FILE}"\n', f'"{FILE}"\nbearer_env = "NO_SUCH_TOKEN_HERE"\n')
    site = make_site(tmp_path, "http://127.0.0.1:9", settings)
    with pytest.raises(ActionsError, match="the environment variable NO_SUCH_TOKEN_HERE, which"):
        async with serving(tmp_path / "data", folder=site):
            pytest.fail("it has started")
