"""Notifies the site's operators of new tickets, by webhook, command and other channels.

Each is a separate job, retried until it succeeds or is given up; the job that is written with the
ticket queues all. A receiver can detect duplicates by the ticket's id. The command runs without a
shell, with arguments from the site owner's settings: they contain no visitor input. The ticket goes
to its standard input.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec
import structlog

from aitp_desk.auth.keys.webhook_signatures import WebhookSigner
from aitp_desk.config import Notify
from aitp_desk.desk.jobs.kinds import Finish, GiveUp, JobKind, Retry
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.desk.jobs.webhook_delivery import deliver_webhook
from aitp_desk.egress import Egress
from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.model.ids import new_id
from aitp_desk.model.text import write_count
from aitp_desk.model.timestamps import write_optional_timestamp, write_timestamp
from aitp_desk.store.base import Store, Work
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.records.jobs import ClaimedJob, NewJob
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.store.units.tickets.tickets import NOTICE_KIND

WEBHOOK_KIND = "notice_webhook"
COMMAND_KIND = "notice_command"
DELAYS = (5, 60, 300, 900, 3600)
"""Seconds after each failure."""
SECONDS = 20
"""Timeout of a webhook or a command."""
AT_ONCE = 4
MAX_STDERR = 4096
"""How much of a command's standard error is kept, in bytes."""
LISTEN_SECONDS = 0.2
"""How long standard error is read after the command has ended."""
SENDER = "notices"
"""Signing name of the notifications: no receiver shares a secret for it."""
INHERITED = ("PATH", "HOME", "LANG")
"""The variables of the desk's environment that a command receives."""

_log = structlog.get_logger()


class TicketNotifications:
    """Notifies operators of new tickets.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        store: Store,
        egress: Egress,
        webhooks: WebhookSigner,
        settings: Notify,
        jobs: JobQueue,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._egress = egress
        self._webhooks = webhooks
        self._settings = settings
        self._jobs = jobs
        self._clock = clock
        self._channels: list[Callable[[StoredTicket], Work[None]]] = []

    def add_channel(self, announce: Callable[[StoredTicket], Work[None]]) -> None:
        """Add a channel: ``announce`` queues its job. Call it before the queue starts."""
        self._channels.append(announce)

    def register_kinds(self) -> None:
        """Register the kinds of jobs. Call it before the queue starts."""
        for name, handler in (
            (NOTICE_KIND, self._share_out),
            (WEBHOOK_KIND, self._send),
            (COMMAND_KIND, self._run),
        ):
            self._jobs.register_kinds(JobKind(name, handler, 2.0 * SECONDS, DELAYS, AT_ONCE))

    async def _share_out(self, claim: ClaimedJob) -> Finish | None:
        """Queue a job for each configured channel."""
        ticket = await self._waiting(claim)
        settings = self._settings
        kinds = [WEBHOOK_KIND] if settings.webhook else []
        kinds += [COMMAND_KIND] if settings.command else []
        if ticket is None or not (kinds or self._channels):
            return None
        told = ticket
        now = self._clock()
        queued = [
            NewJob(
                id=new_id("job", now),
                kind=kind,
                ref=ticket.id,
                payload={},
                created_at=int(now),
                desk=ticket.desk,
                thread_id=ticket.thread_id,
                principal=ticket.principal,
            )
            for kind in kinds
        ]

        def queue() -> Work[None]:
            for job in queued:
                yield from enqueue_job(job)
            for announce in self._channels:
                yield from announce(told)

        return Finish(queue, self._jobs.wake)

    async def _send(self, claim: ClaimedJob) -> None:
        ticket = await self._waiting(claim)
        if ticket is None or not self._settings.webhook:
            return
        body = make_notice(ticket)
        proof = await self._webhooks.sign(SENDER, ticket.id, body.decode())
        if proof is None:
            raise GiveUp("The desk publishes no keys to sign with.")
        await deliver_webhook(self._egress, self._settings.webhook, body, proof, seconds=SECONDS)

    async def _run(self, claim: ClaimedJob) -> None:
        ticket = await self._waiting(claim)
        if ticket is not None and self._settings.command:
            await run_command(self._settings.command, make_notice(ticket), SECONDS)

    async def _waiting(self, claim: ClaimedJob) -> StoredTicket | None:
        """Return the ticket of a job; None if it is gone or over."""
        ticket = await ticket_reads.ticket(self._store, claim.ref)
        return None if ticket is None or ticket.is_over else ticket


def make_notice(ticket: StoredTicket) -> bytes:
    """Return the notification of a ticket: the same JSON for every channel."""
    told = {
        "type": "ticket.made",
        "id": ticket.id,
        "kind": ticket.kind.value,
        "agent": ticket.desk or None,
        "about": ticket.about,
        "note": ticket.note,
        "thread": ticket.thread_id,
        "call": ticket.call_id,
        "created_at": write_timestamp(ticket.created_at),
        "due_at": write_optional_timestamp(ticket.due_at),
    }
    return msgspec.json.encode(told)


async def run_command(command: Sequence[str], body: bytes, seconds: float) -> None:
    """Run a program, without a shell, in a new session.

    Parameters:
        command: the program and its arguments.
        body: its standard input.
        seconds: timeout, after which the program and its children are killed.

    Raises:
        Retry: it could not be run, failed, or took too long.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={name: os.environ[name] for name in INHERITED if name in os.environ},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise Retry(f"The command could not be run ({type(error).__name__}).") from None
    said = bytearray()
    listening = asyncio.create_task(_listen(process, said))
    try:
        async with asyncio.timeout(seconds):
            await _feed(process, body)
            code = await process.wait()
    except TimeoutError:
        raise Retry(f"The command took longer than {write_count(seconds, 'second')}.") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        # a child left running may keep the pipe open
        await asyncio.wait((listening,), timeout=LISTEN_SECONDS)
        listening.cancel()
    if code != 0:
        _log.warning("notice_command_failed", code=code, said=said.decode(errors="replace"))
        raise Retry(f"The command ended with code {code}.")


async def _feed(process: asyncio.subprocess.Process, body: bytes) -> None:
    """Write a program's input; the program may leave it unread."""
    if process.stdin is not None:
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(body)
            await process.stdin.drain()
        process.stdin.close()


async def _listen(process: asyncio.subprocess.Process, said: bytearray) -> None:
    """Read a program's standard error to its end, and keep the beginning."""
    if process.stderr is not None:
        while piece := await process.stderr.read(MAX_STDERR):
            said += piece[: MAX_STDERR - len(said)]
