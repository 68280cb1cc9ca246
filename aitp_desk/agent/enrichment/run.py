"""One run: sends the passages without a line, and writes the replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice

from aitp_desk.agent.enrichment.dispatch import Batches, Journal, Progress, send_each
from aitp_desk.agent.enrichment.request import Group, make_groups
from aitp_desk.agent.enrichment.writer import EnrichmentWriter
from aitp_desk.agent.generative.providers.base import ModelClient
from aitp_desk.agent.generative.providers.messages import MessagesClient
from aitp_desk.config import Config
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.coverage import Coverage
from aitp_desk.knowledge.enrichment.replies import DroppedItem


def list_missing(
    coverages: Iterable[Coverage], only: str = "", limit: int | None = None
) -> list[dict[str, Passage]]:
    """List the passages without a line, in the groups that are sent; see :class:`EnrichmentRun`."""
    passages = {
        digest: passage
        for coverage in coverages
        for digest, passage in coverage.missing(only).items()
    }
    return make_groups(dict(islice(passages.items(), limit)))


class EnrichmentRun:
    """Sends passages to a model and keeps what was paid for, even if interrupted.

    Parameters:
        read: returns the content as it is now, with what is enriched of it.
        report: receives a line for each thing that was done.
        progress: receives the number of requests that have an outcome.

    Attributes:
        dropped: what was not used of the replies.
        taken: how many passages these were about.
    """

    def __init__(
        self,
        config: Config,
        read: Callable[[], Sequence[Coverage]],
        api: ModelClient,
        *,
        now: Callable[[], datetime],
        report: Callable[[str], object],
        progress: Progress,
    ) -> None:
        self.dropped: list[DroppedItem] = []
        self.taken = 0
        self._settings, self._site_url = config.model, config.site.url
        self._read, self._api = read, api
        self._report, self._progress = report, progress
        self._journal = Journal(config.data)
        self._batches = Batches(api, config.data, now) if isinstance(api, MessagesClient) else None

    @property
    def is_pending(self) -> bool:
        """Whether a batch was sent whose results were not taken yet."""
        return self._batches is not None and self._batches.is_pending

    async def finish_earlier(self) -> None:
        """Take what an earlier run has paid for and not written.

        Raises:
            ModelFailed: the API does not answer.
            OSError: the lines cannot be written; the replies are kept.
        """
        if self._batches is not None and self._batches.is_pending:
            self._report("Taking the results of a batch that was sent before.")
            await self._batches.collect(self._journal, self._progress)
        self._take()

    def list_missing(self, only: str = "", limit: int | None = None) -> list[dict[str, Passage]]:
        """The passages without a line, in the groups in which they are sent.

        Parameters:
            only: those of this page and of pages below it; empty for all.
            limit: at most so many.
        """
        return list_missing(self._read(), only, limit)

    async def send(self, groups: Sequence[Group], *, batch: bool = True) -> int:
        """Send groups, and take the replies.

        Returns:
            How many requests failed.

        Raises:
            ModelFailed, OSError: as :meth:`finish_earlier`.
        """
        try:
            if not batch or self._batches is None:
                return await send_each(
                    self._api, groups, self._settings, self._journal, self._progress
                )
            await self._batches.send(groups, self._settings)
            self._report("The batch was sent. It continues if this process ends.")
            return await self._batches.collect(self._journal, self._progress)
        finally:
            self._take()

    def _take(self) -> None:
        if replies := self._journal.read():
            writer = EnrichmentWriter(self._read(), self._site_url)
            writer.add_replies(replies)
            self.dropped += writer.dropped
            self.taken += len(replies)
            for line in writer.save():
                self._report(line)
        self._journal.clear()
