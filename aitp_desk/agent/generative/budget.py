"""Limits what a model may cost: tokens a reply, tokens a day, and their price."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from aitp_desk.agent.base import Usage
from aitp_desk.config import Model, ModelChoice
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.observability.figures import Figure, counter, counters, gauge
from aitp_desk.observability.tracing import begin_span

MIN_ANSWER = 32
"""With fewer tokens left than this the model is not called."""
MILLION = 1_000_000

Keep = Callable[[int, int], None]
"""Called with the day, since 1970-01-01 (UTC), and the tokens that are added to its count."""
ReadUsed = Callable[[], Awaitable[int | None]]
"""Reads the tokens that all processes have used today; None while that cannot be read."""

_log = structlog.get_logger()


class BudgetSpent(Exception):
    """Another call would exceed the budget of the reply or of the day."""


class DailyBudgetSpent(BudgetSpent):
    """The desk has used its daily budget."""


class ModelCounts:
    """Counts the calls of models since the desk started.

    Attributes:
        calls: how many.
        usage: the tokens of all calls that have ended.
        refused: how many were not made, because the daily budget was used up.
    """

    __slots__ = ("calls", "refused", "usage")

    def __init__(self) -> None:
        self.calls = 0
        self.usage = Usage()
        self.refused = 0


class DailyBudget:
    """The tokens that the desk uses today (UTC).

    Tokens are reserved before a call, so that concurrent replies stay within the budget too.

    Parameters:
        most: tokens a day; 0 sets no limit.
        clock: Unix seconds.
        used: tokens used today before.
        keep: called with all that is counted.
        read_used: reads what other processes have used too; None for one process alone.

    Attributes:
        counts: the calls of models, to be read only.
    """

    def __init__(
        self,
        most: int,
        clock: Callable[[], float],
        *,
        used: int = 0,
        keep: Keep = lambda _day, _tokens: None,
        read_used: ReadUsed | None = None,
    ) -> None:
        self._most = most
        self._clock = clock
        self._keep = keep
        self._read_used = read_used
        self._today = self._find_today()
        self._used = used
        self._refused: int | None = None
        self.counts = ModelCounts()

    @property
    def used(self) -> int:
        """The tokens used today, including reserved ones."""
        self._begin_day()
        return self._used

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left, or too little for the call that was refused last."""
        self._begin_day()
        if self._most and self._used >= self._most:
            return True
        return self._refused is not None and self._used + self._refused > self._most

    def figures(self) -> tuple[Figure, ...]:
        """Return the calls and their tokens as figures."""
        usage = self.counts.usage
        return (
            counter(
                "aitp_desk_model_calls_total",
                "Calls of a model that have ended.",
                self.counts.calls,
            ),
            counters(
                "aitp_desk_model_tokens_total",
                "Tokens counted by models. Tokens read from a cache are counted as read, too.",
                "kind",
                {"read": usage.prompt, "cached": usage.cached, "written": usage.completion},
            ),
            counter(
                "aitp_desk_model_refused_total",
                "Calls that were not made because the daily budget of tokens was used up.",
                self.counts.refused,
            ),
            gauge("aitp_desk_model_day_tokens", "Tokens used since midnight, UTC.", self.used),
            gauge(
                "aitp_desk_model_day_limit_tokens",
                "The daily budget of tokens (model.day_tokens); 0 for no limit.",
                self._most,
            ),
        )

    async def refresh(self) -> None:
        """Count what other processes have used; they may still reserve at the same moment."""
        if self._read_used is None or not self._most:
            return
        self._begin_day()
        day = self._today
        used = await self._read_used()
        if used is not None and day == self._today:
            self._used = used

    def reserve(self, tokens: int, *, is_begun: bool = False) -> int:
        """Reserve tokens for a call.

        Parameters:
            is_begun: whether the reply has begun already: it may then be finished.

        Returns:
            The day on which they were counted, for :meth:`settle`.

        Raises:
            DailyBudgetSpent: too few are left; nothing was counted.
        """
        self._begin_day()
        if self._most and not is_begun and self._used + tokens > self._most:
            if self._refused is None:
                _log.warning("day_tokens_spent", day_tokens=self._most, used=self._used)
            self._refused = tokens
            self.counts.refused += 1
            raise DailyBudgetSpent
        self._used += tokens
        self._keep(self._today, tokens)
        return self._today

    def settle(self, day: int, taken: int, used: Usage) -> None:
        """Replace the tokens reserved for a call with those that it used."""
        self.counts.calls += 1
        self.counts.usage = self.counts.usage.plus(used)
        self._keep(day, used.total - taken)
        if day == self._today:
            self._used += used.total - taken

    def _begin_day(self) -> None:
        today = self._find_today()
        if today != self._today:
            self._today, self._used, self._refused = today, 0, None

    def _find_today(self) -> int:
        return int(self._clock() // DAY_SECONDS)


class ReplyBudget:
    """Counts the tokens of one reply, and limits them.

    Parameters:
        is_begun: whether the reply continues after earlier calls.

    Attributes:
        cost: of the calls that have ended, in US dollars by the configured prices.
    """

    def __init__(self, settings: Model, day: DailyBudget, *, is_begun: bool = False) -> None:
        self._settings = settings
        self._day = day
        self._is_begun = is_begun
        self.usage = Usage()
        self.calls = 0
        self.cost = 0.0

    async def refresh(self) -> None:
        """Count what other processes have used of the day's budget; call it before a call."""
        await self._day.refresh()

    def begin(self, prompt: int, longest: int, model: ModelChoice) -> CountedCall:
        """Begin a call of the model.

        Parameters:
            prompt: estimated input tokens.
            longest: the most output tokens.

        Raises:
            BudgetSpent: the budget does not suffice.
        """
        room = self.room - prompt
        if self.calls == self._settings.reply_calls or room < min(MIN_ANSWER, longest):
            raise BudgetSpent
        longest = min(longest, room)
        taken = prompt + longest
        call = CountedCall(self, self._day, taken, longest, model, is_begun=self._is_begun)
        self.calls += 1
        self._is_begun = True
        return call

    @property
    def room(self) -> int:
        """The tokens that the reply has left."""
        return self._settings.reply_tokens - self.usage.total

    @property
    def is_last_call(self) -> bool:
        """Whether only one more call is possible."""
        return self.calls + 1 >= self._settings.reply_calls


class CountedCall:
    """A call that is counted before it is made.

    Parameters:
        taken: the tokens reserved for it.
        model: the called model.
        is_begun: whether its reply has begun already.

    Attributes:
        longest: the most tokens that the model may write.

    Raises:
        DailyBudgetSpent: the daily budget does not suffice.
    """

    def __init__(
        self,
        budget: ReplyBudget,
        day: DailyBudget,
        taken: int,
        longest: int,
        model: ModelChoice,
        *,
        is_begun: bool,
    ) -> None:
        self._budget = budget
        self._day = day
        self._taken = taken
        self._taken_on = day.reserve(taken, is_begun=is_begun)
        self._used = Usage()
        self._model = model
        self.longest = longest
        self._span = begin_span(
            f"chat {model.name}",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": model.provider,
                "gen_ai.request.model": model.name,
                "gen_ai.request.max_tokens": longest,
            },
            kind="client",
        )

    def add(self, used: Usage) -> None:
        """Count the tokens of one try."""
        self._used = self._used.plus(used)

    @property
    def may_repeat(self) -> bool:
        """Whether the budget allows another try after those so far."""
        return self._used.total + self._taken <= self._budget.room

    def end(self) -> None:
        """Replace the reserved tokens with the used ones."""
        self._span.note(
            {
                "gen_ai.usage.input_tokens": self._used.prompt,
                "gen_ai.usage.output_tokens": self._used.completion,
            }
        )
        self._span.end()
        self._day.settle(self._taken_on, self._taken, self._used)
        self._budget.usage = self._budget.usage.plus(self._used)
        self._budget.cost += _price(self._used, self._model)


def _price(used: Usage, prices: ModelChoice) -> float:
    """Return the price of a call in US dollars."""
    return (
        (used.prompt - used.cached) * prices.price_in
        + used.cached * prices.price_cached
        + used.completion * prices.price_out
    ) / MILLION
