"""Settings of the HTTP server, its timeouts, and of event streams."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Bytes, Count, Line, Seconds


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """The HTTP server: address, time limits and memory."""

    host: Annotated[
        Line,
        Meta(extra={"unit": "an address"}, description="Address to listen on."),
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="Port to listen on; 0 lets the system choose one.")
    ] = 8080
    worker_port: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description=(
                "With several worker processes (serve --workers), the port of 127.0.0.1 where the"
                " first one alone can be reached, such as by Prometheus; the second one has the"
                " next port, and so on. 0 for none."
            ),
        ),
    ] = 0
    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "networks"},
            description="Proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8.",
        ),
    ] = ()
    header_seconds: Annotated[
        Seconds, Meta(description="The time limit for a request's headers.")
    ] = 10
    body_idle_seconds: Annotated[
        Seconds, Meta(description="The longest pause within a request's body.")
    ] = 20
    slowest_rate: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            extra={"unit": "bytes a second"},
            description="The minimum average speed of request bodies and of reading responses.",
        ),
    ] = 1000
    max_body_bytes_under_way: Annotated[
        Bytes,
        Meta(
            description=(
                "The most memory for all request bodies, in addition to the first 64 KiB of each."
            ),
        ),
    ] = 128 * 1024**2
    max_unsent_bytes: Annotated[
        Bytes,
        Meta(
            description=(
                "The most memory for unsent responses, in addition to the first 64 KiB of each."
            ),
        ),
    ] = 128 * 1024**2
    max_unsent_bytes_per_address: Annotated[
        Bytes,
        Meta(
            description=("The most of this memory for one address; trusted proxies have no limit."),
        ),
    ] = 16 * 1024**2
    max_connections: Annotated[
        Count,
        Meta(
            extra={"unit": "connections"},
            description="The most open connections, in addition to events.max_streams.",
        ),
    ] = 1000
    max_connections_per_address: Annotated[
        Count,
        Meta(
            extra={"unit": "connections"},
            description="The most connections of one address, in addition to "
            "events.max_streams_per_address; trusted proxies have no limit.",
        ),
    ] = 100
    shutdown_seconds: Annotated[
        Seconds,
        Meta(description="The time that running requests have to finish when the desk stops."),
    ] = 20


class Events(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of event streams."""

    max_streams: Annotated[
        Count, Meta(extra={"unit": "streams"}, description="The most open streams.")
    ] = 4000
    max_streams_per_caller: Annotated[
        Count,
        Meta(
            extra={"unit": "streams"},
            description="The most open streams per caller; without a credential, per thread and"
            " address.",
        ),
    ] = 100
    max_streams_per_address: Annotated[
        Count,
        Meta(
            extra={"unit": "streams"},
            description="The most open streams of the callers without a credential at one address,"
            " such as the visitors of an office, who each have a thread.",
        ),
    ] = 1000
    max_behind: Annotated[
        Count,
        Meta(
            extra={"unit": "events"},
            description="The most past messages that a stream may start with; clients that missed "
            "more read the thread.",
        ),
    ] = 10_000
    heartbeat_seconds: Annotated[
        Seconds,
        Meta(
            description="The time between keep-alive messages, and between two checks of access.",
        ),
    ] = 15
