"""Asking NEAR whether a key is one of an account's: no signature shows that by itself.

Source: NEAR's RPC API, ``query`` with ``view_access_key``; NEP-413, which wants a full key.
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
    """The settings of families that know signatures of NEAR's.

    Parameters:
        near_rpc: the address of a server of NEAR's, which is asked whether a key is an account's;
            empty for none.
    """

    near_rpc: Annotated[str, Meta(pattern="^(https://.+)?$", max_length=2000)] = ""


class NearFamily(SignatureFamily):
    """What families have in common that know signatures of NEAR's."""

    slug = "near-signing"
    settings = NearSettings

    def __init__(self, chosen: NearSettings) -> None:
        """See :class:`SignatureFamily`."""
        super().__init__(chosen)
        self.asks_chain = bool(chosen.near_rpc)

    def jobs(self) -> Mapping[str, Work]:
        """Asking the chain about keys."""
        return {ACCESS_KEY: Work(self._ask_chain)}

    async def _ask_chain(self, job: Job) -> Sequence[Effect]:
        return await ask_chain(job, self.chosen.near_rpc)


class Key(msgspec.Struct, frozen=True):
    """A key as the chain knows it.

    Parameters:
        error: why it knows none, where a server says so here.
    """

    permission: Any = None
    error: str = ""


class Cause(msgspec.Struct, frozen=True):
    """Why something is not answered."""

    name: str = ""


class Failure(msgspec.Struct, frozen=True):
    """What a server says in place of an answer."""

    cause: Cause = msgspec.field(default_factory=Cause)


class NearAnswer(msgspec.Struct, frozen=True):
    """An answer of a server of NEAR's."""

    result: Key | None = None
    error: Failure | None = None


async def ask_chain(job: Job, url: str) -> Sequence[Effect]:
    """Ask whether the key of a signature that was proved is a full key of its account.

    Parameters:
        job: whose payload is the ``signature_result`` that was told before.
        url: of a server of NEAR's.

    Raises:
        Retry: there is no answer that says so, or otherwise.
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
        told = msgspec.json.decode(response.body, type=NearAnswer)
    except msgspec.MsgspecError:
        raise Retry("The server of NEAR's has answered with something else.") from None
    if told.result is not None and told.result.permission == FULL:
        return (Say({"signature_result": replace(proved, account_proved=True)}),)
    is_told = told.result is not None and bool(told.result.permission or told.result.error)
    is_unknown = told.error is not None and told.error.cause.name in _UNKNOWN
    if not is_told and not is_unknown:
        raise Retry("The server of NEAR's could not say whether it knows the key.")
    why = f"{proved.public_key} is no full key of {proved.account}: the chain says so."
    failed = SignatureResult(proved.request_id, "failure", "wrong_account", why)
    return (Say({"signature_result": failed}),)
