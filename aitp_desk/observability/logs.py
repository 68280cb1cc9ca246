"""The desk's log: lines on a terminal, JSON elsewhere, one line an event.

It records events, never content: no message, no credential, no id that opens something. Log calls
pass names and numbers; ids of anonymous threads only as keyed hashes.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from functools import partial
from typing import Any

import structlog

from aitp_desk.config import Log
from aitp_desk.model.redaction import redact_text

_SECRET_KEYS = frozenset(
    {"authorization", "cookie", "token", "secret", "x-ahp-key", "body", "query"}
)


def set_up_logs(settings: Log, *, quiet: bool = False, worker: str | None = None) -> None:
    """Send every log of this process, its libraries' too, to standard error.

    Parameters:
        quiet: for a command that prints a result: omits the level info.
        worker: the label of this process, for every line; None for the only process of a desk.
    """
    plain = settings.format == "console" or (settings.format == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        *([] if worker is None else [partial(_add_worker, worker)]),
        _redact,
    ]
    level = getattr(logging, settings.level.upper())
    if quiet and level == logging.INFO:
        level = logging.WARNING
    written: Any = (
        # the default shows the local variables of a traceback: messages, credentials, all
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if plain
        else structlog.processors.JSONRenderer()
    )

    def renderer(logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
        return redact_text(str(written(logger, method, event)))

    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *([] if plain else [structlog.processors.format_exc_info]),
            renderer,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # a client's malformed form is logged as an error with a traceback; it is neither
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    # it logs every request, and repeats the faulty parts of one
    logging.getLogger("mcp").setLevel(logging.ERROR)
    # at the level debug these log what is sent to the model, including visitors' messages; the
    # module that imports the SDK also resets the SDK's own level
    for name in ("anthropic", "openai", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _add_worker(
    worker: str, _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    event.setdefault("worker", worker)
    return event


def _redact(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Redact values that must never be logged, in case a log call passes them."""
    for key in event.keys() & _SECRET_KEYS:
        event[key] = "[redacted]"
    return event
