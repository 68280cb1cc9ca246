"""Builds the routes that need only desks and settings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from aitp_desk.app.doors.a2a import make_a2a_doors
from aitp_desk.app.doors.announcement import (
    build_overview,
    find_integrations,
    find_protocol_links,
    list_endpoints,
    make_agents_txt_doors,
)
from aitp_desk.config import Config
from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.ahp.answer_wire import AnswerEncoder
from aitp_desk.protocols.ahp.error_wire import render_error as render_ahp_error
from aitp_desk.protocols.ahp.objects import AHPResponse
from aitp_desk.protocols.ahp.routes import AhpDoor
from aitp_desk.protocols.aitp.routes import make_door as make_aitp_door
from aitp_desk.protocols.aitp.wire import render_error as render_aitp_error
from aitp_desk.protocols.base.door import Door
from aitp_desk.protocols.health.routes import make_door as make_health_door
from aitp_desk.protocols.openapi.routes import OpenApiDoor, Served
from aitp_desk.web.pages.resources import make_resource_doors
from aitp_desk.web.pages.routes import PagesDoor


def make_site_doors(
    desk: Desk,
    further: Sequence[Desk],
    config: Config,
    served: Served | None = None,
    speaks: Sequence[str] = (),
) -> tuple[Door, ...]:
    """Return the routes of AITP, AHP, A2A, agents.txt, OpenAPI, health and the pages.

    Parameters:
        desk: the site's main one.
        further: those of further site agents.
        config: the site's.
        served: returns every route of the process; None disables OpenAPI.
        speaks: slugs of the capabilities that the site has enabled.
    """
    ahp = AhpDoor(desk, find_protocol_links(config), find_integrations(config), speaks)
    openapi = _make_openapi_doors((desk, *further), config, served) if served else ()
    pages = PagesDoor(
        config.site,
        render_json=render_aitp_error,
        data=config.data,
        described=openapi[0].document if openapi else None,
        rows=list_endpoints(config),
        overview=build_overview(config),
    )
    return (
        *(described.door() for described in openapi),
        make_aitp_door(config.threads.max_body, config.files.max_bytes),
        *(
            make_aitp_door(config.threads.max_body, config.files.max_bytes, other)
            for other in further
        ),
        ahp.door(),
        *make_a2a_doors((desk, *further), config),
        *make_agents_txt_doors(desk, further, config),
        pages.content_door(render_ahp_error, desk),
        make_health_door(render_aitp_error),
        *make_resource_doors(pages, (*further, desk), calls=config.rest.enabled),
        *(
            pages.door_below(other.name, other, own.document if own else None)
            for other, own in zip_longest(further, openapi[1:])
        ),
        pages.door(),
    )


def _make_openapi_doors(
    desks: Sequence[Desk], config: Config, served: Served
) -> tuple[OpenApiDoor, ...]:
    """Return the OpenAPI routes of each desk; empty where REST is disabled."""
    if not config.rest.enabled:
        return ()
    return tuple(
        OpenApiDoor(desk, served, AnswerEncoder(desk.site.url, desk.signals).encode, AHPResponse)
        for desk in desks
    )
