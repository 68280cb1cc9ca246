"""Keeps ``enriched.jsonl`` up to date on a schedule, within a spending limit per run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import structlog

from aitp_desk.agent.base import Usage
from aitp_desk.agent.enrichment.request import Group, estimate, limit_by_cost
from aitp_desk.agent.enrichment.run import EnrichmentRun
from aitp_desk.agent.generative.budget import DailyBudget, DailyBudgetSpent
from aitp_desk.agent.generative.providers.base import ModelFailed
from aitp_desk.agent.generative.providers.chain import describe_obstacle, make_client
from aitp_desk.config import Config
from aitp_desk.desk.jobs.scheduler import ScheduleSkipped
from aitp_desk.knowledge.enrichment.coverage import Coverage
from aitp_desk.knowledge.snapshot import Knowledge

SILENT_SECONDS = 120
"""How long the API may be silent: no request waits for the answer."""

_log = structlog.get_logger(__name__)


class EnrichmentJob:
    """Lets a model read the passages that are new or have changed.

    Parameters:
        contents: the content folders, with the knowledge read from each.
        environment: has the model's key.
        day: the token budget of the day, which a run uses too; None sets no limit.
        clock: Unix seconds.
    """

    def __init__(
        self,
        config: Config,
        contents: Sequence[tuple[Path, Knowledge]],
        *,
        environment: Mapping[str, str],
        day: DailyBudget | None,
        clock: Callable[[], float],
    ) -> None:
        self._config = config
        self._contents = contents
        self._environment = environment
        self._day = day or DailyBudget(0, clock)
        self._clock = clock

    async def update(self) -> int:
        """Send missing passages within the spending limit of a run; as a batch, if possible.

        Returns:
            How many passages the model has replied on.

        Raises:
            ScheduleSkipped: the API or the disk fails, or the tokens of the day are used up.
        """
        settings = self._config.model
        seconds = max(settings.reply_seconds, SILENT_SECONDS)
        api = make_client(settings, self._environment, seconds)
        if api is None:
            raise ScheduleSkipped(describe_obstacle(settings, self._environment) or "")
        run = EnrichmentRun(
            self._config,
            self._read,
            api,
            now=lambda: datetime.fromtimestamp(self._clock(), UTC),
            report=lambda did: _log.info("content.enriching", did=did),
            progress=lambda _done: None,
        )
        try:
            await run.finish_earlier()
            missing = await asyncio.to_thread(run.list_missing)
            groups = limit_by_cost(
                missing, settings, self._config.enrich.run_dollars, batch=settings.has_batches
            )
            failed = await self._send(run, groups) if groups else 0
        except ModelFailed as error:
            raise ScheduleSkipped(f"The model's API failed: {error.reason}.") from error
        except OSError as error:
            raise ScheduleSkipped(f"enriched.jsonl cannot be written: {error.strerror}.") from error
        finally:
            await api.close()
        left = sum(map(len, missing[len(groups) :]))
        if failed or left or run.dropped:
            _log.warning(
                "content.enriched_in_part",
                failed_requests=failed,
                passages_left=left,
                dropped=len(run.dropped),
            )
        return run.taken

    async def _send(self, run: EnrichmentRun, groups: Sequence[Group]) -> int:
        """Send groups within the tokens of the day; see :meth:`EnrichmentRun.send`."""
        told = estimate(groups, self._config.model, batch=self._config.model.has_batches)
        tokens = told.read + told.written
        try:
            await self._day.refresh()
            counted_on = self._day.reserve(tokens)
        except DailyBudgetSpent as error:
            raise ScheduleSkipped(
                "The tokens left for today (model.day_tokens) are too few."
            ) from error
        try:
            return await run.send(groups)
        except ModelFailed:
            if not run.is_pending:  # nothing was sent
                self._day.settle(counted_on, tokens, Usage())
            raise

    def _read(self) -> list[Coverage]:
        return [
            Coverage(folder, knowledge.editions.passages()) for folder, knowledge in self._contents
        ]
