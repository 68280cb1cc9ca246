"""The base class of declarations."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import update_wrapper
from inspect import isfunction
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

noted: ContextVar[list[Declared[..., Any]] | None] = ContextVar("noted", default=None)
"""Collects declarations while a site's code is imported."""


class Declared(Generic[P, R]):
    """A declared function. Calling it calls the function.

    Raises:
        TypeError: it is not a function.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        if not isfunction(function):
            raise TypeError("only a function can be declared: def or async def")
        update_wrapper(self, function)
        self.function: Callable[P, R] = function
        if (found := noted.get()) is not None:
            found.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, without checks, records and questions."""
        return self.function(*args, **kwargs)
