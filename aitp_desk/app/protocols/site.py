"""Builds the routes that need only desks and settings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import zip_longest

from aitp_desk.agent.journal import AnswerJournal
from aitp_desk.app.protocols.a2a import make_a2a_routes
from aitp_desk.app.protocols.announcement import (
    build_overview,
    find_integrations,
    find_protocol_links,
    list_endpoints,
    make_agents_txt_routes,
)
from aitp_desk.app.protocols.catalog import list_catalog
from aitp_desk.app.protocols.nlweb import make_nlweb_routes
from aitp_desk.config import Config
from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.ahp.answer_wire import AnswerEncoder
from aitp_desk.protocols.ahp.error_wire import render_error as render_ahp_error
from aitp_desk.protocols.ahp.objects import AHPResponse
from aitp_desk.protocols.ahp.routes import AhpHandlers
from aitp_desk.protocols.aitp.routes import make_routes as make_aitp_routes
from aitp_desk.protocols.aitp.wire import render_error as render_aitp_error
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.health.routes import make_routes as make_health_routes
from aitp_desk.protocols.openapi.routes import OpenApiHandlers, Served
from aitp_desk.web.discovery.routes import DiscoveryHandlers
from aitp_desk.web.inspector.routes import InspectorHandlers
from aitp_desk.web.pages.blocks.brand import Brand, make_brand
from aitp_desk.web.pages.renderer import NOTHING
from aitp_desk.web.pages.resources import make_resource_routes
from aitp_desk.web.pages.routes import PagesHandlers
from aitp_desk.web.pages.search.routes import SearchHandlers
from aitp_desk.web.widget.palette import make_palette
from aitp_desk.web.widget.routes import WidgetHandlers
from aitp_desk.web.widget.wire import LOGO_PATH, find_logo_origin


def make_site_routes(
    desk: Desk,
    further: Sequence[Desk],
    config: Config,
    served: Served | None = None,
    speaks: Sequence[str] = (),
    journal: AnswerJournal | None = None,
) -> tuple[ProtocolRoutes, ...]:
    """Return the routes of AITP, AHP, A2A, agents.txt, OpenAPI, discovery and the pages.

    Parameters:
        desk: the site's main one.
        further: those of further site agents.
        config: the site's.
        served: returns every route of the process; None disables OpenAPI.
        speaks: slugs of the capabilities that the site has enabled.
        journal: has the answers that the home page explains; None explains none.
    """
    ahp = AhpHandlers(desk, find_protocol_links(config), find_integrations(config), speaks)
    openapi = _make_openapi_routes((desk, *further), config, served) if served else ()
    brand = _make_brand(config)
    pages = PagesHandlers(
        config.site,
        render_json=render_aitp_error,
        data=config.data,
        described=openapi[0].document if openapi else None,
        rows=list_endpoints(config),
        overview=build_overview(config),
        brand=brand,
        widget=config.widget,
    )
    discovery = DiscoveryHandlers(
        config.content_folder,
        tuple(list_catalog(config, desk, further)),
        time.time,
        render_ahp_error,
    )
    inspector = InspectorHandlers(journal) if journal is not None else None
    return (
        *(described.protocol() for described in openapi),
        make_aitp_routes(config.threads.max_body, config.files.max_bytes, further=further),
        *(
            make_aitp_routes(config.threads.max_body, config.files.max_bytes, other)
            for other in further
        ),
        ahp.protocol(),
        *make_a2a_routes((desk, *further), config),
        *make_nlweb_routes((desk, *further), config, pages),
        *make_agents_txt_routes(desk, further, config),
        pages.content_routes(render_ahp_error, desk),
        discovery.protocol(),
        make_health_routes(render_aitp_error),
        WidgetHandlers(config).protocol(pages.render_error),
        *make_resource_routes(pages, (*further, desk), calls=config.rest.enabled),
        *(
            pages.protocol_below(other.name, other, own.document if own else None)
            for other, own in zip_longest(further, openapi[1:])
        ),
        SearchHandlers(config.site, pages.get_page, brand).protocol(pages.render_error),
        *(() if inspector is None else (inspector.protocol(pages.render_error),)),
        pages.protocol(inspector.panel if inspector is not None else NOTHING),
    )


def _make_brand(config: Config) -> Brand:
    """Return the looks of the pages: those of the chat.

    A logo on another site stands in the chat alone.
    """
    widget = config.widget
    elsewhere = " ".join(find_logo_origin(widget.logo))
    logo = LOGO_PATH if widget.logo and not elsewhere else ""
    palette = make_palette(widget.accent) if widget.accent else None
    light, dark = (palette.light, palette.dark) if palette else ("", "")
    return make_brand(light, dark, logo, widget.logo_alt, elsewhere)


def _make_openapi_routes(
    desks: Sequence[Desk], config: Config, served: Served
) -> tuple[OpenApiHandlers, ...]:
    """Return the OpenAPI routes of each desk; empty where REST is disabled."""
    if not config.rest.enabled:
        return ()
    return tuple(
        OpenApiHandlers(
            desk, served, AnswerEncoder(desk.site.url, desk.signals).encode, AHPResponse
        )
        for desk in desks
    )
