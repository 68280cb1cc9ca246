"""The desk: the services that every protocol calls, in one record."""

from __future__ import annotations

import msgspec

from aitp_desk.config import Limits, Signals, Site
from aitp_desk.desk.access.sealed_values import SealedValues
from aitp_desk.desk.access.site_agents import SiteAgents
from aitp_desk.desk.calls.registry import ActionRegistry
from aitp_desk.desk.conversations.page_search import PageSearch
from aitp_desk.desk.conversations.service import ConversationService
from aitp_desk.desk.direct.calls import DirectCalls
from aitp_desk.desk.direct.paid_resources import PaidResources
from aitp_desk.desk.direct.resources import Resources
from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.desk.maintenance.readiness import ReadinessReport
from aitp_desk.desk.payments.replies import PaymentReplies
from aitp_desk.desk.plugins.judge import Judge
from aitp_desk.desk.runs.service import RunService
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.desk.tasks.receivers import TaskReceivers
from aitp_desk.desk.tasks.service import TaskService
from aitp_desk.desk.threads.creation import ThreadCreation
from aitp_desk.desk.threads.deletion import ThreadDeletion
from aitp_desk.desk.threads.disposal import ThreadDisposal
from aitp_desk.desk.threads.feedback import FeedbackService
from aitp_desk.desk.threads.files import FileService
from aitp_desk.desk.threads.grants import GrantService
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.desk.threads.open_requests import OpenRequests
from aitp_desk.desk.threads.participants import ParticipantService
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.desk.threads.streams import ThreadStreams
from aitp_desk.desk.threads.transcripts import TranscriptService
from aitp_desk.desk.tickets.contacts import ContactService
from aitp_desk.knowledge.snapshot import Knowledge


class Desk(msgspec.Struct, frozen=True, eq=False, kw_only=True, weakref=True):
    """The services of one desk. They check access, limits and repeats; protocols only translate.

    Parameters:
        name: of the further site agent; empty for the site's own.
        site: the website; ``site.url`` is the only source of absolute addresses.
        signals: how the site's content may be used.
        limits: the limits that the manifest declares.
        max_wait: maximum seconds that a caller may wait for a run.
        agents: the site's agents, as callers see them.
        paid_resources: reads resources, prepaid ones included.
        creation, reader, deletion: of threads.
        disposal: deletes threads that are not to be kept.
        payment_replies: waits for the replies to payments on threads.
        sealed: reveals sealed values to callers that may read them.
        judge: lets plugins judge messages.
        readiness: reports whether the desk can work.
        worker: executes the runs of all desks.
    """

    name: str
    site: Site
    signals: Signals
    limits: Limits
    max_wait: int
    agents: SiteAgents
    knowledge: Knowledge
    registry: ActionRegistry
    limiter: RateLimiter
    conversations: ConversationService
    pages: PageSearch
    direct_calls: DirectCalls
    resources: Resources
    paid_resources: PaidResources
    creation: ThreadCreation
    messages: MessageService
    reader: ThreadReader
    participants: ParticipantService
    grants: GrantService
    deletion: ThreadDeletion
    transcripts: TranscriptService
    disposal: ThreadDisposal
    feedback: FeedbackService
    contacts: ContactService
    files: FileService
    open_requests: OpenRequests
    sessions: SessionService
    streams: ThreadStreams
    runs: RunService
    tasks: TaskService
    task_receivers: TaskReceivers
    payment_replies: PaymentReplies
    sealed: SealedValues
    judge: Judge
    readiness: ReadinessReport
    worker: RunWorker

    @property
    def base_path(self) -> str:
        """The path prefix of its addresses; empty for the site's own desk."""
        return f"/{self.name}" if self.name else ""

    def on_people_acted(self) -> None:
        """Handle operators' messages and takeovers, in this process or another.

        Cached conversations are dropped, so they are read from the store again, and runs on threads
        that were taken over stop.
        """
        self.conversations.clear_conversations()
        self.worker.stop_taken_over()
