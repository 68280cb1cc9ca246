"""Sends passages to the Messages API in batches or single requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.agent.enrichment.request import Group, make_request, parse_replies
from aitp_desk.agent.generative.providers.base import MessageEnded, ModelClient, ModelFailed
from aitp_desk.agent.generative.providers.messages import MessagesClient, convert_errors
from aitp_desk.config import Model
from aitp_desk.knowledge.enrichment.replies import Reply
from aitp_desk.knowledge.index.atomic_write import replace_file

BATCHES = "enrich.batches.json"
JOURNAL = "enrich.replies.jsonl"
AT_ONCE = 4
"""The most requests that are open at the same time."""
ATTEMPTS = 6
MAX_WAIT = 60.0
POLL_SECONDS = 20.0
_BATCH_REQUESTS = 10_000
_SINGLE = frozenset({"bad_message", "cut_off"})
"""Failures of one reply, which do not mean that the others fail."""

Sleep = Callable[[float], Awaitable[None]]
Progress = Callable[[int], None]
"""Receives the number of requests that have an outcome."""


class PendingBatches(msgspec.Struct):
    """Batches whose results were not collected yet; kept in a file, so that none is paid for twice.

    Parameters:
        ids: of the batches.
        creating: when a batch was begun whose id is not known yet; ISO 8601, empty for none.
    """

    ids: list[str] = []
    creating: str = ""


class Journal:
    """Replies that are not in ``enriched.jsonl`` yet, kept in the data folder.

    A process that is killed loses no reply: the next run reads the journal first.
    """

    def __init__(self, data: Path) -> None:
        self._file = data / JOURNAL

    def read(self) -> list[Reply]:
        """The replies of a run that did not end; a line that was cut short is left out."""
        replies: list[Reply] = []
        try:
            lines = self._file.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        for line in lines:
            try:
                replies.append(msgspec.json.decode(line, type=Reply))
            except msgspec.DecodeError:
                continue
        return replies

    def add(self, replies: Iterable[Reply]) -> None:
        """Keep replies."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._file.open("ab") as file:
            file.writelines(msgspec.json.encode(reply) + b"\n" for reply in replies)

    def clear(self) -> None:
        """Forget them: they are in ``enriched.jsonl``."""
        self._file.unlink(missing_ok=True)


async def send_each(
    api: ModelClient,
    groups: Sequence[Group],
    settings: Model,
    journal: Journal,
    progress: Progress,
    sleep: Sleep = asyncio.sleep,
) -> int:
    """Send each group in a separate request, several at the same time.

    Returns:
        How many requests failed.

    Raises:
        ModelFailed: the API refuses what all requests have in common, such as the key.
    """
    left = iter(groups)
    done = failed = 0

    async def work() -> None:
        nonlocal done, failed
        for group in left:
            try:
                journal.add(await _ask(api, group, settings, sleep))
            except ModelFailed as error:
                if not error.may_retry and error.reason not in _SINGLE:
                    raise
                failed += 1
            done += 1
            progress(done)

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(AT_ONCE, len(groups))):
                tasks.create_task(work())
    except* ModelFailed as several:
        first = several.exceptions[0]
    else:
        return failed
    raise first


async def _ask(api: ModelClient, group: Group, settings: Model, sleep: Sleep) -> list[Reply]:
    """The replies to one group; tried again while the API is busy."""
    request = make_request(group, settings)
    for attempt in range(ATTEMPTS):
        try:
            async with api.open_stream(request) as reading:
                async for piece in reading.pieces():
                    if isinstance(piece, MessageEnded):
                        given = [msgspec.json.decode(use.arguments) for use in piece.tool_uses]
                        return list(parse_replies(given, group))
        except ModelFailed as error:
            if not error.may_retry or attempt == ATTEMPTS - 1:
                raise
            await sleep(min(MAX_WAIT, error.retry_after or 2.0**attempt))
    raise ModelFailed("cut_off", may_retry=True)


class Batches:
    """Sends groups by the Message Batches API, at half the price.

    Parameters:
        data: the desk's data folder.
        now: the time.
    """

    def __init__(
        self,
        api: MessagesClient,
        data: Path,
        now: Callable[[], datetime],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._api = api
        self._file = data / BATCHES
        self._now = now
        self._sleep = sleep
        try:
            self._pending = msgspec.json.decode(self._file.read_bytes(), type=PendingBatches)
        except (OSError, msgspec.DecodeError):
            self._pending = PendingBatches()

    @property
    def is_pending(self) -> bool:
        """Whether a run before this one sent batches and did not take their results."""
        return bool(self._pending.ids or self._pending.creating)

    async def send(self, groups: Sequence[Group], settings: Model) -> None:
        """Create the batches of these groups.

        Raises:
            ModelFailed: the API refuses them.
        """
        client = await self._api.open()
        for at in range(0, len(groups), _BATCH_REQUESTS):
            requests: list[Any] = [
                {"custom_id": _name(group), "params": make_request(group, settings)}
                for group in groups[at : at + _BATCH_REQUESTS]
            ]
            self._pending.creating = self._now().isoformat()
            self._save()
            with convert_errors():
                batch = await client.messages.batches.create(requests=requests)
            self._pending.ids.append(batch.id)
            self._pending.creating = ""
            self._save()

    async def collect(self, journal: Journal, progress: Progress) -> int:
        """Wait for the batches to end, and keep their results.

        Returns:
            How many requests failed.

        Raises:
            ModelFailed: the API does not answer; a later run takes the results.
        """
        client = await self._api.open()
        if self._pending.creating:
            await self._adopt()
        failed = 0
        for id_ in list(self._pending.ids):
            with convert_errors():
                batch = await client.messages.batches.retrieve(id_)
                while batch.processing_status != "ended":
                    counts = batch.request_counts
                    progress(counts.succeeded + counts.errored + counts.expired)
                    await self._sleep(POLL_SECONDS)
                    batch = await client.messages.batches.retrieve(id_)
                async for one in await client.messages.batches.results(id_):
                    if one.result.type != "succeeded":
                        failed += 1
                        continue
                    content = one.result.message.content
                    given = [block.input for block in content if block.type == "tool_use"]
                    journal.add(_replies(given))
            self._pending.ids.remove(id_)
            self._save()
        return failed

    async def _adopt(self) -> None:
        """Find the batch of an interrupted run.

        Such a run ended before it recorded the batch's id.
        """
        began = datetime.fromisoformat(self._pending.creating)
        client = await self._api.open()
        with convert_errors():
            page = await client.messages.batches.list(limit=20)
        for batch in page.data:
            if batch.created_at >= began and batch.id not in self._pending.ids:
                self._pending.ids.append(batch.id)
        self._pending.creating = ""
        self._save()

    def _save(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replace_file(self._file) as new:
            new.write_bytes(msgspec.json.encode(self._pending))


def _name(group: Group) -> str:
    return sha256("".join(group).encode()).hexdigest()[:40]


def _replies(given: Iterable[Any]) -> list[Reply]:
    """The replies in a batch's result; those to other passages are dropped when they are taken."""
    rows = [one for one in given if isinstance(one, dict)]
    listed = [row["passages"] for row in rows if isinstance(row.get("passages"), list)]
    named = [one["id"] for some in listed for one in some if isinstance(one, dict) and "id" in one]
    return list(parse_replies(rows, map(str, named)))
