"""Spans: how long the parts of an answer took, for OpenTelemetry.

Until it is enabled nothing is imported and the cost is close to none. Collection and export are set
up outside of the desk (``docs/run/running.md``): only OpenTelemetry's API is used here. Names and
attributes follow its semantic conventions, where they exist. No attribute holds what callers said,
or an id that opens something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from aitp_desk import own_version

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span as ApiSpan
    from opentelemetry.trace import SpanKind, Tracer

Attributes = Mapping[str, str | int]
Kind = Literal["internal", "server", "client"]
NO_ATTRIBUTES: Attributes = {}
VARIABLES = "OTEL_"
"""Prefix of the environment variables that configure the collection of spans."""
OFF = "OTEL_SDK_DISABLED"


class Span:
    """A started span; without effect while tracing is disabled.

    Parameters:
        span: OpenTelemetry's.
    """

    __slots__ = ("_span",)

    def __init__(self, span: ApiSpan | None) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        """Add attributes."""
        if self._span is not None:
            self._span.set_attributes(attributes)

    def fail(self, reason: str) -> None:
        """Mark the span as failed.

        Parameters:
            reason: a word of a closed list (``error.type``).
        """
        if self._span is not None:
            from opentelemetry.trace import StatusCode

            self._span.set_attribute("error.type", reason)
            self._span.set_status(StatusCode.ERROR)

    def end(self) -> None:
        """End the span, if :func:`begin_span` started it."""
        if self._span is not None:
            self._span.end()


class _Switch:
    """Whether this process makes spans."""

    tracer: Tracer | None = None


_NONE = Span(None)


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Return whether the environment configures the collection of spans."""
    if environment.get(OFF, "").lower() == "true":
        return False
    return any(name.startswith(VARIABLES) for name in environment)


@contextmanager
def tracing(is_on: bool) -> Iterator[bool]:
    """Enable spans for as long as the context lasts.

    Yields:
        Whether they are enabled.
    """
    tracer = None
    if is_on:
        from opentelemetry import trace

        tracer = trace.get_tracer("aitp_desk", own_version())
    before, _Switch.tracer = _Switch.tracer, tracer
    try:
        yield is_on
    finally:
        _Switch.tracer = before


@contextmanager
def span(
    name: str,
    attributes: Attributes = NO_ATTRIBUTES,
    *,
    kind: Kind = "internal",
    caller: Mapping[str, str] | None = None,
) -> Iterator[Span]:
    """Make a span of the context; spans that begin within it are its children.

    Parameters:
        caller: headers of the caller, if they may name the trace that this belongs to (W3C Trace
            Context).
    """
    if _Switch.tracer is None:
        yield _NONE
        return
    with _Switch.tracer.start_as_current_span(
        name,
        context=None if caller is None else _trace_of(caller),
        kind=_kind(kind),
        attributes=attributes,
        record_exception=False,  # its message may hold what a caller said
        set_status_on_exception=False,
    ) as made:
        yield Span(made)


def begin_span(
    name: str, attributes: Attributes = NO_ATTRIBUTES, *, kind: Kind = "internal"
) -> Span:
    """Start a span that ends elsewhere; later spans are not its children."""
    if _Switch.tracer is None:
        return _NONE
    return Span(_Switch.tracer.start_span(name, kind=_kind(kind), attributes=attributes))


def _kind(kind: Kind) -> SpanKind:
    from opentelemetry.trace import SpanKind

    return SpanKind[kind.upper()]


def _trace_of(headers: Mapping[str, str]) -> Context:
    from opentelemetry.propagate import extract

    return extract(headers)
