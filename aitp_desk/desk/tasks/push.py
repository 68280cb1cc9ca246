"""Push notifications: sent each time a task comes to rest, until one is acknowledged.

Each push checks the principal that set the receiver: the credential is still valid, and the
principal may still write to the task's thread. Otherwise the receiver is deleted. The address is
checked when it is set and at each request (``egress``). The caller supplies the token and
credentials that authenticate the desk to the receiver; they are sealed in the database.

Source: A2A 1.0, section 4.3 (push notifications) and 13.2 (security of webhooks).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from aitp_desk.auth.keys.encryption import SealBroken, TextSealer
from aitp_desk.config import CallbackSettings
from aitp_desk.desk.access.revocation import is_still_valid
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.jobs.callbacks import SEND_SECONDS, make_callback_kind
from aitp_desk.desk.jobs.kinds import GiveUp, JobKind
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.desk.jobs.webhook_delivery import deliver_webhook
from aitp_desk.egress import AddressRefused, Egress
from aitp_desk.model.access.credential import CredentialMark
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.task import PUSH_PREFIX, Push, Task
from aitp_desk.model.errors import InvalidRequest, TaskNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.reads import tasks as task_reads
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.tasks import NewPush, StoredPush
from aitp_desk.store.rows.threads import read_asker, read_asker_mark, write_asker
from aitp_desk.store.units.runs.tasks import PUSH_KIND, delete_push, set_push

PARAM = "pushNotificationConfig.url"
MAX_URL = 2048
MAX_SECRET = 4096
MAX_ID = 128
TOKEN_HEADER = "X-A2A-Notification-Token"  # noqa: S105 -- a name
_PURPOSE = "push notifications"

Render = Callable[[Principal, str, str], Awaitable[bytes | None]]
"""Renders a task's state, given the recipient (at the task's desk), the task's id and the protocol
version; None if there is nothing to send.

It raises TaskNotFound if the recipient may not write to the task's thread now.
"""


class _Secrets(msgspec.Struct, frozen=True):
    """The sealed part of a receiver."""

    token: str
    scheme: str
    credentials: str


_secrets = msgspec.json.Decoder(_Secrets)


class PushNotifications:
    """Stores callers' receivers, and sends them the states of tasks.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        store: Store,
        egress: Egress,
        text_sealer: TextSealer,
        settings: CallbackSettings,
        events: Broadcaster,
        jobs: JobQueue,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._egress = egress
        self._text_sealer = text_sealer
        self._settings = settings
        self._events = events
        self._jobs = jobs
        self._clock = clock

    def check(self, push: Push | None) -> None:
        """Refuse a receiver that could not be notified.

        Raises:
            InvalidRequest: the message says why.
        """
        if push is None:
            return
        if not self._settings.enabled:
            raise InvalidRequest(
                "This desk sends no push notifications. Poll the task instead.", param=PARAM
            )
        if len(push.url) > MAX_URL or len(push.id) > MAX_ID:
            raise InvalidRequest(
                f"`url` may have at most {MAX_URL} characters, and `id` at most {MAX_ID}.",
                param=PARAM,
            )
        for secret in (push.id, push.token, push.scheme, push.credentials):
            if len(secret) > MAX_SECRET or not (secret.isascii() and secret.isprintable()):
                raise InvalidRequest(
                    "`id`, `token`, `scheme` and `credentials` must be printable ASCII of at most"
                    f" {MAX_SECRET} characters.",
                    param="pushNotificationConfig",
                )
        try:
            self._egress.check(push.url)
        except AddressRefused as error:
            raise InvalidRequest(
                f"The desk sends no notifications to this address: {error}", param=PARAM
            ) from None

    def with_id(self, push: Push, task_id: str) -> Push:
        """Return a receiver with its task and an id."""
        id_ = push.id or new_id(PUSH_PREFIX, self._clock())
        return msgspec.structs.replace(push, id=id_, task_id=task_id)

    def seal_receiver(self, principal: Principal, push: Push, mark: CredentialMark) -> NewPush:
        """Return a receiver in its stored form.

        Parameters:
            mark: of the credential with which it is set.
        """
        secrets = _Secrets(push.token, push.scheme, push.credentials)
        context = _context(push.task_id, push.id)
        sealed = self._text_sealer.seal(_PURPOSE, context, msgspec.json.encode(secrets))
        return NewPush(
            push.id,
            push.task_id,
            push.url,
            sealed,
            push.version,
            principal.party,
            write_asker(principal, mark),
        )

    async def set_receiver(
        self,
        principal: Principal,
        task: Task,
        push: Push,
        mark: CredentialMark,
        *,
        is_managed: bool,
    ) -> None:
        """Store a receiver of a task.

        Parameters:
            is_managed: whether the caller may replace another's receiver with the same id.

        Raises:
            Forbidden: another caller has set one with this id.
            PreconditionFailed: the task has the maximum number of receivers.
        """
        await self._store.run(
            set_push,
            thread_id=task.thread_id,
            push=self.seal_receiver(principal, push, mark),
            is_managed=is_managed,
            now=int(self._clock()),
        )
        self.wake_receivers(None if task.state.is_at_rest else task.run_id)

    def wake_receivers(self, run_id: str | None) -> None:
        """Send due notifications now, and again when the given run ends."""
        self._jobs.wake()
        if run_id is not None:
            self._events.on_end(run_id, self._jobs.wake)

    async def has_receivers(self, task_id: str) -> bool:
        """Return whether a task has receivers."""
        return bool(await task_reads.pushes(self._store, task_id))

    async def list_receivers(
        self, principal: Principal, task_id: str, *, is_managed: bool
    ) -> tuple[Push, ...]:
        """Return a task's receivers that a caller may see: its own, or all.

        Secrets are shown to the caller that set them, and left out if their seal does not open.

        Parameters:
            is_managed: whether the caller manages the task's thread, and so sees all.
        """
        kept = await task_reads.pushes(self._store, task_id)
        return tuple(
            self._show(one) if one.principal == principal.party else _without_secrets(one)
            for one in kept
            if is_managed or one.principal == principal.party
        )

    async def delete_receiver(self, task: Task, push_id: str) -> bool:
        """Delete a receiver; return whether it existed."""
        return await self._store.run(
            delete_push, thread_id=task.thread_id, task_id=task.id, push_id=push_id
        )

    async def _drop(self, task_id: str, push_id: str) -> None:
        task = await task_reads.task(self._store, task_id, None)
        if task is not None:
            await self._store.run(
                delete_push, thread_id=task.thread_id, task_id=task_id, push_id=push_id
            )

    def make_kind(self, render: Render) -> JobKind:
        """Create the kind of job that sends notifications.

        Parameters:
            render: renders the body.
        """

        async def tell(claim: ClaimedJob) -> None:
            task_id, push_id, _ = claim.ref.split(" ")
            kept = await task_reads.push(self._store, task_id, push_id)
            if kept is None:
                return
            setter = msgspec.structs.replace(read_asker(kept.asked_by), desk=claim.desk)
            try:
                await self._check_credential(setter, kept)
                body = await render(setter, task_id, kept.version)
            except TaskNotFound:
                await self._drop(task_id, push_id)
                return
            if body is not None:
                await self._send(self._open(kept), body)

        return make_callback_kind(PUSH_KIND, tell, self._settings)

    async def _check_credential(self, setter: Principal, kept: StoredPush) -> None:
        """Refuse a receiver whose credential is not valid any more.

        Raises:
            TaskNotFound: it is not.
        """
        mark = read_asker_mark(kept.asked_by)
        if not await is_still_valid(self._store, setter.id, kept.created_at, self._clock(), mark):
            raise TaskNotFound("The credential that configured this receiver is no longer valid.")

    async def _send(self, push: Push, body: bytes) -> None:
        """Make one attempt.

        Raises:
            Retry: the receiver did not acknowledge it.
            GiveUp: it never will.
        """
        headers = {}
        if push.token:
            headers[TOKEN_HEADER] = push.token
        if push.scheme and push.credentials:
            headers["Authorization"] = f"{push.scheme} {push.credentials}"
        await deliver_webhook(
            self._egress, push.url, body, headers, seconds=SEND_SECONDS, ends=(410,)
        )

    def _show(self, kept: StoredPush) -> Push:
        try:
            return self._open(kept)
        except GiveUp:
            return _without_secrets(kept)

    def _open(self, kept: StoredPush) -> Push:
        """Unseal a stored receiver.

        Raises:
            GiveUp: its seal does not open.
        """
        try:
            text = self._text_sealer.unseal(_PURPOSE, _context(kept.task_id, kept.id), kept.sealed)
        except SealBroken as error:
            raise GiveUp(f"The credential for this receiver is lost. {error}") from None
        secrets = _secrets.decode(text)
        return Push(
            kept.id,
            kept.task_id,
            kept.url,
            secrets.token,
            secrets.scheme,
            secrets.credentials,
            kept.version,
        )


def _without_secrets(kept: StoredPush) -> Push:
    return Push(kept.id, kept.task_id, kept.url, version=kept.version)


def _context(task_id: str, push_id: str) -> bytes:
    return f"{task_id} {push_id}".encode()
