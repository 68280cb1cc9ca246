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

    def take(self, tokens: int) -> int:
        """Count tokens that are about to be used.

        Returns:
            The day on which they were counted, for :meth:`settle`.

        Raises:
            BudgetSpent: so many are not left; nothing was counted.
        """
        today = int(self._clock() // DAY_SECONDS)
        if today != self._today:
            self._today, self._used = today, 0
        if self._most and self._used + tokens > self._most:
            raise BudgetSpent
        self._used += tokens
        return today

    def settle(self, day: int, taken: int, used: int) -> None:
        """Put what was used in the place of what was taken for it, unless that day is over."""
        if day == self._today:
            self._used += used - taken


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
        room = self.room - prompt
        if self.calls == self._settings.reply_calls or room < min(LEAST_ANSWER, longest):
            raise BudgetSpent
        longest = min(longest, room)
        call = Call(self, self._day, prompt + longest, longest)
        self.calls += 1
        return call

    @property
    def room(self) -> int:
        """How many tokens the reply has left."""
        return self._settings.reply_tokens - self.usage.total

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
    """One call that is counted before it is made.

    Parameters:
        taken: how many tokens it is taken to use.

    Attributes:
        longest: how many tokens the model may write.

    Raises:
        BudgetSpent: the day has no room for it.
    """

    def __init__(self, spending: Spending, day: Day, taken: int, longest: int) -> None:
        self._spending = spending
        self._day = day
        self._taken = taken
        self._taken_on = day.take(taken)
        self._used = Usage()
        self.longest = longest

    def add(self, used: Usage) -> None:
        """Count what one try used."""
        self._used = self._used.plus(used)

    @property
    def may_repeat(self) -> bool:
        """Whether the reply has room for another try, after what the tries so far have used."""
        return self._used.total + self._taken <= self._spending.room

    def end(self) -> None:
        """Put what was used in the place of what was counted before."""
        self._day.settle(self._taken_on, self._taken, self._used.total)
        self._spending.usage = self._spending.usage.plus(self._used)
