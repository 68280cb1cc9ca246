"""What a visitor signs: requests that a desk verifies, and its record of the visit."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from aitp_desk.model.money import Money
from aitp_desk.visitor import (
    CredentialNeeded,
    Identity,
    KeyUnusable,
    Policy,
    PolicyRefused,
    Signer,
    load_key,
)
from aitp_desk.visitor.proof.signatures import DIRECTORY_PATH
from aitp_desk.visitor.proof.transcript import write_keys
from tests.journeys.visitor.test_purchase import MAP, paying
from tests.support.desk.command import run_here
from tests.support.desk.server import SITE, serving
from tests.support.doubles.website import Website, website
from tests.support.protocols.visitor import Person, visiting

MEDIA_TYPE = "application/http-message-signatures-directory+json"


@asynccontextmanager
async def known_agent(folder: Path) -> AsyncIterator[tuple[str, Signer, Website]]:
    """A desk that lists an agent, and the agent with its key directory."""
    async with website() as home:
        signer = Signer(home.url, Ed25519PrivateKey.generate())
        home.put(DIRECTORY_PATH, json.dumps(signer.directory()), type=MEDIA_TYPE)
        site = folder / "site"
        shutil.copytree(SITE, site)
        listed = f'[[signature_agents]]\norigin = "{home.url}"\nscopes = ["threads"]\n'
        (site / "desk.toml").write_text(listed, "utf-8")
        async with serving(folder / "data", "egress.allow_loopback=true", folder=site) as desk:
            yield desk.url, signer, home


async def test_a_desk_knows_the_agent_that_signs(tmp_path: Path) -> None:
    async with known_agent(tmp_path) as (url, signer, home):
        async with visiting(url, "aitp", identity=Identity(signer=signer)) as site:
            answer = await site.ask("What is your return policy?")
            again = await site.ask("How long does shipping take?")
        fetched = [one.path for one in home.asked]
        other = Signer(home.url, Ed25519PrivateKey.generate())
        async with visiting(url, "aitp", identity=Identity(signer=other)) as site:
            with pytest.raises(CredentialNeeded):
                await site.ask("What is your return policy?")
    assert answer.sources
    assert again.text
    assert fetched == [DIRECTORY_PATH]


async def test_a_credential_is_sent_alone(tmp_path: Path) -> None:
    async with known_agent(tmp_path) as (url, signer, home):
        async with visiting(url, "ahp", identity=Identity(signer=signer), key="wrong") as site:
            with pytest.raises(CredentialNeeded):
                await site.ask("What is your return policy?")
        assert home.asked == []


def test_only_an_ed25519_key_is_loaded_and_its_error_holds_nothing_of_it(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    with pytest.raises(KeyUnusable, match="cannot be read"):
        load_key(file)
    file.write_text("-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n")
    with pytest.raises(KeyUnusable) as told:
        load_key(file)
    assert "SECRET" not in str(told.value)
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(generate_private_key(SECP256R1()).private_bytes(*plain))
    with pytest.raises(KeyUnusable, match="not an Ed25519 key"):
        load_key(file)
    key = Ed25519PrivateKey.generate()
    file.write_bytes(key.private_bytes(*plain))
    assert load_key(file).private_bytes_raw() == key.private_bytes_raw()


async def test_the_record_of_a_purchase_is_verified_by_the_desks_own_command(
    tmp_path: Path,
) -> None:
    signer = Signer("https://visitor.example", Ed25519PrivateKey.generate())
    policy = Policy(confirm=Person(True).confirm, budget=Money(Decimal(5), "USD"))
    async with paying(tmp_path) as (shopper, payer):
        url, key = shopper.talker.desk.url, shopper.talker.key
        async with visiting(url, "ahp") as site:
            with pytest.raises(PolicyRefused, match="has none"):
                site.write_transcript()
        identity = Identity(signer=signer, payer=payer)
        async with visiting(url, "ahp", policy=policy, identity=identity, key=key) as site:
            await site.ask("What do you sell?")
            await site.call("buy_trail_map", MAP)
            written = site.write_transcript()
    transcript, keys = tmp_path / "transcript.json", tmp_path / "keys.json"
    transcript.write_bytes(written)
    keys.write_bytes(write_keys(signer, int(time.time()) - 60))
    verified = run_here("transcript", "verify", transcript, "--keys", keys)
    assert verified.code == 0, verified.err
    told = [json.loads(one["content"][0]) for one in json.loads(written)["messages"]]
    assert [next(iter(one)) for one in told] == [
        *("asked", "answered", "called", "outcome", "agreed", "outcome"),
    ]
    assert told[4]["agreed"]["money"] == {"amount": "4.90", "currency": "USD"}
    assert told[4]["agreed"]["data"]["message"]["quote"]["merchant_signature"]
    changed = written.replace(b"4.90", b"0.90")
    transcript.write_bytes(changed)
    assert run_here("transcript", "verify", transcript, "--keys", keys).code == 1
