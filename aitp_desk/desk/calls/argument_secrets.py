"""Seals the secret arguments of calls and restores them for execution.

Stored calls, and calls shown to clients, hold references in place of secrets. A reference is valid
only in a call that resumes after waiting, on the thread and for the principal it was sealed for: no
caller can use the secrets of another.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.desk.access.sealed_values import Sealer
from aitp_desk.model.access.sealed_value import StoredSealed, make_ref, read_ref, sealed_as
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.calls.secret_places import (
    change_secrets,
    has_secrets,
    is_secret_at,
    secrets_in,
    without_secrets,
)
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import sealed_values as sealed_reads
from aitp_desk.store.units.privacy.sealed_values import write_sealed


class ArgumentSecrets:
    """Redacts, seals and restores the secret arguments of one desk's actions.

    Parameters:
        actions: all actions of the desk.
    """

    def __init__(self, actions: Sequence[Action], store: Store, sealer: Sealer) -> None:
        self._schemas = {
            action.name: action.input_schema
            for action in actions
            if has_secrets(action.input_schema)
        }
        self._store = store
        self._sealer = sealer

    def redact_arguments(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments with a placeholder for each secret."""
        schema = self._schemas.get(name)
        return arguments if schema is None else without_secrets(arguments, schema)

    def list_secret_texts(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the secret values among the arguments of an action."""
        schema = self._schemas.get(name)
        return () if schema is None else secrets_in(arguments, schema)

    def find_secret(self, name: str, paths: Iterable[str]) -> str | None:
        """Return the first of these argument paths that is secret; None for none."""
        schema = self._schemas.get(name)
        return None if schema is None else next((p for p in paths if is_secret_at(p, schema)), None)

    async def restore_secrets(self, call: ActionCall) -> Mapping[str, Any]:
        """Return the arguments of a call with its secrets in place.

        Raises:
            PreconditionFailed: a secret is no longer stored, or belongs to another caller.
        """
        schema = self._schemas.get(call.action)
        if schema is None:
            return call.arguments
        refs: dict[str, str] = {}

        def note(path: str, value: Any) -> Any:
            if (ref := read_ref(value)) is not None:
                refs[path] = ref
            return value

        change_secrets(call.arguments, schema, note)
        values = {path: await self._open(call, path, ref) for path, ref in refs.items()}
        opened: dict[str, Any] = change_secrets(call.arguments, schema, values.get)
        return opened

    async def seal_secrets(self, call: ActionCall) -> ActionCall:
        """Store the secrets of a call sealed, and return the call with references."""
        schema = self._schemas.get(call.action)
        if schema is None:
            return call
        sealed: list[StoredSealed] = []
        places: dict[str, Any] = {}

        def seal(path: str, value: Any) -> Any:
            if not isinstance(value, str):
                return value
            if value not in places:
                ref = make_ref(call.id, path, secrets.token_hex())
                sealed.append(self._seal(call, path, ref, value))
                places[value] = sealed_as(ref)
            return places[value]

        arguments = change_secrets(call.arguments, schema, seal)
        if not sealed:
            return call
        await self._store.run(write_sealed, values=tuple(sealed))
        memory = None if call.memory is None else _replaced(call.memory, places)
        return msgspec.structs.replace(call, arguments=arguments, memory=memory)

    def _seal(self, call: ActionCall, path: str, ref: str, value: str) -> StoredSealed:
        try:
            return self._sealer.seal(
                ref,
                value,
                desk=call.desk,
                thread_id=call.thread_id,
                call_id=call.id,
                principal=call.asked_by.owner,
            )
        except ValueError as error:
            raise InvalidRequest(str(error), param=path) from None

    async def _open(self, call: ActionCall, path: str, ref: str) -> str:
        kept = await sealed_reads.sealed_value(self._store, ref)
        owner = await reads.owner(self._store, call.thread_id or "")
        value = None if kept is None or not _is_for(kept, call, owner) else self._sealer.open(kept)
        if value is None:
            raise PreconditionFailed(
                f"The value of {path!r} is no longer stored. Send it again.", param=path
            )
        return value


def _is_for(kept: StoredSealed, call: ActionCall, owner: str | None) -> bool:
    """Return whether a value may be used in a call.

    ``owner`` is the present owner of the call's thread; None for an anonymous thread.
    """
    if (kept.desk, kept.thread_id) != (call.desk, call.thread_id):
        return False
    if kept.call_id is not None and kept.call_id == call.id:
        return True
    # the owner of a claimed thread may resume the calls of its anonymous visitor
    asker = call.asked_by.owner if call.asked_by.party is not None else owner
    return kept.message_id is not None and kept.principal in (None, asker)


def _replaced(value: Any, places: Mapping[str, Any]) -> Any:
    """Return a JSON value with each of these texts replaced."""
    match value:
        case str():
            return places.get(value, value)
        case Mapping():
            return {name: _replaced(member, places) for name, member in value.items()}
        case list() | tuple():
            return [_replaced(item, places) for item in value]
        case _:
            return value
