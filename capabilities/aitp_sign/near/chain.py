"""Asks the NEAR chain whether a key belongs to an account. A signature does not show that.

Source: NEAR's RPC API, ``query`` with ``view_access_key``; NEP-413, which requires a full access
key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from aitp_desk.capability import Effect, Job, Request, Retry, Say, Work
from aitp_sign.messages import SignatureResult
from aitp_sign.replies import ACCESS_KEY
from aitp_sign.service import SignatureFamily, SigningSettings

FULL = "FullAccess"
_UNKNOWN = frozenset({"UNKNOWN_ACCESS_KEY", "UNKNOWN_ACCOUNT", "INVALID_ACCOUNT"})


class NearSettings(SigningSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of families with NEAR's signatures.

    Parameters:
        near_rpc: URL of a NEAR RPC server that knows which keys an account has; empty for none.
    """

    near_rpc: Annotated[str, Meta(pattern="^(https://.+)?$", max_length=2000)] = ""


class NearFamily(SignatureFamily):
    """The common part of families with NEAR signatures."""

    slug = "near-signing"
    settings = NearSettings

    def __init__(self, chosen: NearSettings) -> None:
        """Create the capability; see :class:`SignatureFamily`."""
        super().__init__(chosen)
        self.asks_chain = bool(chosen.near_rpc)

    def jobs(self) -> Mapping[str, Work]:
        """Return the job that asks the chain about keys."""
        return {ACCESS_KEY: Work(self._ask_chain)}

    async def _ask_chain(self, job: Job) -> Sequence[Effect]:
        return await ask_chain(job, self.chosen.near_rpc)


class Key(msgspec.Struct, frozen=True):
    """A key as the chain knows it.

    Parameters:
        error: the reason if the chain has no such key; some servers report it here.
    """

    permission: Any = None
    error: str = ""


class Cause(msgspec.Struct, frozen=True):
    """The cause of a failure."""

    name: str = ""


class Failure(msgspec.Struct, frozen=True):
    """The error of a response."""

    cause: Cause = msgspec.field(default_factory=Cause)


class NearAnswer(msgspec.Struct, frozen=True):
    """A response of a NEAR RPC server."""

    result: Key | None = None
    error: Failure | None = None


async def ask_chain(job: Job, url: str) -> Sequence[Effect]:
    """Ask whether a verified signature's key has full access to its account.

    Parameters:
        job: its payload is the ``signature_result`` that was sent before.
        url: of a NEAR RPC server.

    Raises:
        Retry: there was no conclusive response.
    """
    proved = msgspec.convert(job.payload, SignatureResult)
    asked = {
        "jsonrpc": "2.0",
        "id": "access_key",
        "method": "query",
        "params": {
            "request_type": "view_access_key",
            "finality": "final",
            "account_id": proved.account,
            "public_key": proved.public_key,
        },
    }
    headers = {"Content-Type": "application/json"}
    body = msgspec.json.encode(asked)
    request = Request(url=url, method="POST", body=body, headers=headers, wants_reasons=True)
    response = await job.send(request)
    try:
        answer = msgspec.json.decode(response.body, type=NearAnswer)
    except msgspec.MsgspecError:
        raise Retry("The NEAR RPC server sent an unexpected response.") from None
    if answer.result is not None and answer.result.permission == FULL:
        return (Say({"signature_result": replace(proved, account_proved=True)}),)
    is_known = answer.result is not None and bool(answer.result.permission or answer.result.error)
    is_unknown = answer.error is not None and answer.error.cause.name in _UNKNOWN
    if not is_known and not is_unknown:
        raise Retry("The NEAR RPC server could not tell whether it knows the key.")
    why = f"{proved.public_key} is not a full access key of {proved.account} on the chain."
    failed = SignatureResult(proved.request_id, "failure", "wrong_account", why)
    return (Say({"signature_result": failed}),)
