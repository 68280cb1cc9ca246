"""A client that a generator makes from the document calls the shop, and reads what it answers.

The generator stands in its own environment, for it wants other versions of the tools here.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import venv
from pathlib import Path

import pytest

from tests.support.clients.threads import talking
from tests.support.doubles.agent import NOON, Clock
from tests.support.sites.shop import STOVE, make_shop

pytestmark = [pytest.mark.asyncio, pytest.mark.servers]

GENERATOR = "openapi-python-client>=0.29,<0.30"
SETTINGS = "package_name_override: shop_client\n"
SECONDS = 300
PROGRAM = """
import json, sys
from shop_client import AuthenticatedClient, Client
from shop_client.api.aitp import post_v1_threads, get_v1_threads_thread_id_messages
from shop_client.api.capabilities import contact_human, place_order, product_search
from shop_client.models import (
    ContactHumanArguments, PlaceOrderArguments, ProductSearchArguments, ThreadDraft,
)

url, key, sku = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key)
found = product_search.sync(
    client=Client(base_url=url), body=ProductSearchArguments(words="stove")
)
order = {"items": [{"sku": sku, "quantity": 1}], "store": "Portland", "email": "kai@c.example"}
refused = place_order.sync(client=client, body=PlaceOrderArguments.from_dict(order))
agreed = {**order, "_confirm": {"amount": refused.price.amount, "currency": "USD"}}
ordered = [
    place_order.sync(
        client=client, body=PlaceOrderArguments.from_dict(agreed), idempotency_key="k-1"
    )
    for _ in range(2)
]
asked = contact_human.sync(
    client=client, body=ContactHumanArguments.from_dict({"question": "Do you repair?"})
)
opened = post_v1_threads.sync(
    client=client, body=ThreadDraft.from_dict({"messages": ["Hello?"]}), prefer="wait=10"
)
listed = get_v1_threads_thread_id_messages.sync(opened.id, client=client)
print(json.dumps({
    "skus": [one.sku for one in found.result.products],
    "refused": [refused.status, refused.code],
    "orders": [one.result.id for one in ordered],
    "asked": [str(asked.status), asked.poll],
    "said": [message.content[0] for message in listed.data],
    "replies": len(opened.replies),
}))
"""


async def run(*command: str, folder: Path, **environment: str) -> str:
    program = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env={**os.environ, **environment},
    )
    async with asyncio.timeout(SECONDS):
        output, complaints = await program.communicate()
    assert program.returncode == 0, (output + complaints).decode()[-4000:]
    return output.decode()


async def test_a_generated_client_calls_actions_and_reads_what_they_answer(tmp_path: Path) -> None:
    apart = tmp_path / "apart"
    venv.create(apart, symlinks=True)
    python = str(apart / "bin" / "python")
    await run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", GENERATOR),
        folder=tmp_path,
    )
    (tmp_path / "settings.yaml").write_text(SETTINGS, "utf-8")
    site = make_shop(tmp_path)
    async with talking(tmp_path, site=site, clock=Clock(NOON)) as stranger:
        caller = await stranger.with_key("actions", "threads")
        assert caller.key is not None
        told = await run(
            *(str(apart / "bin" / "openapi-python-client"), "generate"),
            *("--url", f"{caller.desk.url}/openapi.json", "--config", "settings.yaml"),
            *("--output-path", "made"),
            folder=tmp_path,
            PATH=f"{apart / 'bin'}:{os.environ['PATH']}",
        )
        for line in told.splitlines():
            # what has no type of its own, such as pictures, it passes over
            assert not line.startswith("Cannot parse") or "Unsupported content_type */*" in line
        assert "Unable to process schema" not in told
        (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
        said = await run(
            *(python, "program.py", caller.desk.url, caller.key, STOVE),
            folder=tmp_path,
            PYTHONPATH=str(tmp_path / "made"),
        )
    answers = json.loads(said)
    assert STOVE in answers["skus"]
    assert answers["refused"] == [409, "precondition_failed"]
    first, again = answers["orders"]
    assert first == again
    assert answers["asked"][0] == "accepted"
    assert answers["asked"][1].startswith("/capabilities/contact_human/calls/")
    assert "Hello?" in answers["said"]
    assert answers["replies"] == 1
