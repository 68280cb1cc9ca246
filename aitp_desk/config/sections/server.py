"""Settings of the HTTP server, its timeouts, and of event streams."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Bytes, Count, Line, Seconds


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """Where the desk listens, and how long it waits."""

    host: Annotated[
        Line,
        Meta(extra={"unit": "an address"}, description="Address to listen on."),
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="Port to listen on; 0 lets the system choose one.")
    ] = 8080
    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "networks"},
            description="Proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8.",
        ),
    ] = ()
    header_seconds: Annotated[
        Seconds, Meta(description="How long a request's headers may take to arrive.")
    ] = 10
    body_idle_seconds: Annotated[
        Seconds, Meta(description="How long a request's body may pause while it arrives.")
    ] = 20
    slowest_rate: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            extra={"unit": "bytes a second"},
            description="How fast a body must arrive and an answer be taken, on the whole.",
        ),
    ] = 1000
    max_body_bytes_under_way: Annotated[
        Bytes,
        Meta(
            description="How much of all requests' bodies may be in memory at once, beside the"
            " first 64 KiB of each.",
        ),
    ] = 128 * 1024**2
    max_unsent_bytes: Annotated[
        Bytes,
        Meta(
            description="How much of all answers may wait in memory to be taken, beside the first"
            " 64 KiB of each.",
        ),
    ] = 128 * 1024**2
    max_unsent_bytes_per_address: Annotated[
        Bytes,
        Meta(
            description="How much of them one address may have; trusted proxies have no such"
            " bound.",
        ),
    ] = 16 * 1024**2
    max_connections: Annotated[
        Count,
        Meta(
            extra={"unit": "connections"},
            description="How many may be open at once, beside as many as events.max_streams.",
        ),
    ] = 1000
    max_connections_per_address: Annotated[
        Count,
        Meta(
            extra={"unit": "connections"},
            description="How many of them one address may have, beside as many as"
            " events.max_streams_per_caller; trusted proxies have no such bound.",
        ),
    ] = 100
    shutdown_seconds: Annotated[
        Seconds, Meta(description="How long requests may take to finish when the desk stops.")
    ] = 20


class Events(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the streams on which threads are followed."""

    max_streams: Annotated[
        Count, Meta(extra={"unit": "streams"}, description="How many may be open at once.")
    ] = 4000
    max_streams_per_caller: Annotated[
        Count,
        Meta(
            extra={"unit": "streams"},
            description="How many of them one caller may have, or one address without a"
            " credential.",
        ),
    ] = 100
    max_behind: Annotated[
        Count,
        Meta(
            extra={"unit": "events"},
            description="How far back a stream may begin; who is further behind reads the thread.",
        ),
    ] = 10_000
    heartbeat_seconds: Annotated[
        Seconds,
        Meta(
            description="How often something is sent where nothing happens, and access is checked"
            " anew.",
        ),
    ] = 15
