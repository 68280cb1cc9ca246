"""What a model may cost: tokens a reply, tokens a day, and what they come to in money."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.agent.base import Usage
from aitp_desk.config import Claude

DAY_SECONDS = 24 * 60 * 60
LEAST_ANSWER = 32
"""With less room than this, in tokens, the model is not called."""
MILLION = 1_000_000


class BudgetSpent(Exception):
    """Another call would go past what a reply, or the desk on one day, may use."""


class Day:
    """The tokens that the desk has used today (UTC), since it was started.

    What is being used is counted before it is known, so that replies at once stay within it too.

    Parameters:
        most: tokens a day; 0 sets no limit.
        clock: Unix seconds.
    """

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._today = 0
        self._used = 0

    def take(self, tokens: int) -> None:
        """Count tokens that are about to be used.

        Raises:
            BudgetSpent: so many are not left; nothing was counted.
        """
        today = int(self._clock() // DAY_SECONDS)
        if today != self._today:
            self._today, self._used = today, 0
        if self._most and self._used + tokens > self._most:
            raise BudgetSpent
        self._used += tokens

    def settle(self, taken: int, used: int) -> None:
        """Put what was used in the place of what was taken for it."""
        self._used = max(0, self._used + used - taken)


class Spending:
    """What one reply has used, and may still use."""

    def __init__(self, settings: Claude, day: Day) -> None:
        self._settings = settings
        self._day = day
        self.usage = Usage()
        self.calls = 0

    def begin(self, prompt: int, longest: int) -> Call:
        """Begin a call of the model.

        Parameters:
            prompt: about how many tokens it is given.
            longest: how many it may write at most.

        Raises:
            BudgetSpent: there is no room for it.
        """
        room = self._settings.reply_tokens - self.usage.total - prompt
        if self.calls == self._settings.reply_calls or room < min(LEAST_ANSWER, longest):
            raise BudgetSpent
        longest = min(longest, room)
        self._day.take(prompt + longest)
        self.calls += 1
        return Call(self, self._day, prompt + longest, longest)

    @property
    def is_last_call(self) -> bool:
        """Whether there may be but one more call."""
        return self.calls + 1 >= self._settings.reply_calls

    @property
    def cost(self) -> float:
        """What was used, in US dollars by the configured prices."""
        used, prices = self.usage, self._settings
        return (
            (used.prompt - used.cached) * prices.price_in
            + used.cached * prices.price_cached
            + used.completion * prices.price_out
        ) / MILLION


class Call:
    """One call that was counted before it was made.

    Attributes:
        longest: how many tokens the model may write.
    """

    def __init__(self, spending: Spending, day: Day, taken: int, longest: int) -> None:
        self._spending = spending
        self._day = day
        self._taken = taken
        self._used = Usage()
        self.longest = longest

    def add(self, used: Usage) -> None:
        """Count what one try used."""
        self._used = self._used.plus(used)

    def end(self) -> None:
        """Put what was used in the place of what was counted before."""
        self._day.settle(self._taken, self._used.total)
        self._spending.usage = self._spending.usage.plus(self._used)
