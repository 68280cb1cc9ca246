"""Assembles what the processes of a desk share through a Valkey server."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk import own_version
from aitp_desk.config import Config, Server
from aitp_desk.desk.dialogue.shared_answers import SharedAnswers
from aitp_desk.desk.events.answer_feed import PUBLISH_SECONDS, AnswerFeed
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.jobs.background_task import repeat
from aitp_desk.desk.limits.shared_counts import SharedCounts
from aitp_desk.store.valkey import ValkeyServer

EXCHANGE_SECONDS = 0.2
"""How often counts and answers are exchanged."""

Digest = Callable[[bytes], bytes]


class SharedState(msgspec.Struct, frozen=True):
    """Holds what the processes of a desk share.

    Parameters:
        counts: counts requests of all processes together.
        answers: the cached answers of all; None without a server.
        background: the work of sharing, to run while the desk serves.
    """

    counts: SharedCounts
    answers: SharedAnswers | None = None
    background: tuple[Callable[[], Coroutine[Any, Any, None]], ...] = ()


def build_shared_state(
    config: Config,
    valkey: ValkeyServer | None,
    events: Broadcaster,
    *,
    process: str,
    digest: Digest,
) -> SharedState:
    """Build what the processes of a desk share.

    Parameters:
        valkey: None for a desk that has no server; then nothing is shared.
        events: where answers in progress are shown.
        process: id of this process.
        digest: a keyed digest; the same in all processes of the desk, and in no other's.
    """
    counts = SharedCounts(valkey, digest)
    if valkey is None:
        return SharedState(counts)
    answers = SharedAnswers(
        valkey,
        table=f"aitp-desk:answers:{_digest_settings(config, digest)}",
        digest=digest,
        ttl=config.cache.ttl_seconds,
    )
    channel = f"aitp-desk:progress:{digest(b'progress').hex()}"
    feed = AnswerFeed(valkey, events, channel=channel, process=process)
    return SharedState(
        counts,
        answers,
        (
            partial(repeat, counts.exchange, EXCHANGE_SECONDS),
            partial(repeat, answers.write, EXCHANGE_SECONDS),
            partial(repeat, feed.publish, PUBLISH_SECONDS),
            feed.receive_regularly,
        ),
    )


def _digest_settings(config: Config, digest: Digest) -> str:
    """Name this version and these settings: processes with others have other answers."""
    here = {"folder": Path(), "data": Path(), "server": Server()}
    settings = msgspec.json.encode(msgspec.structs.replace(config, **here), enc_hook=str)
    return digest(f"{own_version()}\n".encode() + settings).hex()
