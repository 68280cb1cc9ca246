"""How long it is remembered who showed a credential, and how much is."""

from __future__ import annotations

import pytest

from aitp_desk.auth.credentials.proof import Proof
from aitp_desk.auth.credentials.proof_cache import REMEMBERED_SECONDS, CredentialEpoch, ProofCache
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.errors import NotAuthenticated


class Ledger:
    """Verifies what it is asked for, and counts."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.ends: dict[str, float] = {}
        self.revoked: set[str] = set()
        self.looked_up: list[str] = []
        self.verified = ProofCache(CredentialEpoch(self._epoch, lambda: self.now), lambda: self.now)

    async def find(self, credential: str) -> bool:
        """Whether a credential holds; the proof is that of this very credential."""
        try:
            proof = await self.verified.find(credential, self._look_up)
        except NotAuthenticated:
            return False
        assert proof.credential == credential
        return True

    async def _epoch(self) -> int:
        return 0

    async def _look_up(self, credential: str) -> Proof:
        self.looked_up.append(credential)
        if credential in self.revoked or self.now >= self.ends.get(credential, self.now + 1):
            raise NotAuthenticated("It proves nothing.")
        return Proof(make_anonymous(""), None, credential, until=self.ends.get(credential))


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


async def test_a_credential_is_looked_up_again_after_five_minutes(ledger: Ledger) -> None:
    assert await ledger.find("a")
    ledger.revoked.add("a")  # as where the key that proves it is withdrawn elsewhere
    ledger.now += REMEMBERED_SECONDS - 1
    assert await ledger.find("a")
    assert ledger.looked_up == ["a"]
    ledger.now += 1
    assert not await ledger.find("a")
    assert REMEMBERED_SECONDS <= 300


async def test_a_credential_is_remembered_no_longer_than_it_holds(ledger: Ledger) -> None:
    ledger.ends["a"] = ledger.now + 10
    assert await ledger.find("a")
    ledger.now += 9.9
    assert await ledger.find("a")
    ledger.now += 0.1
    assert not await ledger.find("a")
    assert ledger.looked_up == ["a", "a"]


async def test_what_proves_nothing_is_not_remembered(ledger: Ledger) -> None:
    ledger.revoked.add("a")
    assert not await ledger.find("a")
    ledger.revoked.clear()
    assert await ledger.find("a")


async def test_long_credentials_are_fewer(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aitp_desk.auth.credentials.proof_cache.MAX_CHARACTERS", 20)
    for credential in ("a" * 8, "b" * 8, "c" * 4, "d" * 12):
        assert await ledger.find(credential)
    ledger.looked_up.clear()
    for credential in ("d" * 12, "c" * 4):
        assert await ledger.find(credential)
    assert ledger.looked_up == []
    assert await ledger.find("b" * 8)
    assert ledger.looked_up == ["b" * 8]
    assert await ledger.find("e" * 30)
    ledger.looked_up.clear()
    for credential in ("b" * 8, "c" * 4):
        assert await ledger.find(credential)
    assert ledger.looked_up == ["b" * 8, "c" * 4]
