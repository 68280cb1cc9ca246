"""Encodes readiness as JSON."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.desk.maintenance.readiness import Readiness
from aitp_desk.model.component import Component
from aitp_desk.protocols.health import objects

HEALTHY = msgspec.json.encode(objects.Health("ok"))


def render(readiness: Readiness, *, is_full: bool) -> bytes:
    """Encode readiness, with the state of each component where ``is_full``."""
    components: list[objects.Component] | UnsetType = UNSET
    if is_full and not isinstance(readiness.components, UnsetType):
        components = [_write_component(one) for one in readiness.components]
    known = msgspec.structs.asdict(readiness) | {"components": components}
    return msgspec.json.encode(objects.Readiness(**known))


def _write_component(component: Component) -> objects.Component:
    """Return a component for its JSON."""
    return objects.Component(
        component.name,
        component.state,
        datetime.fromtimestamp(component.since, UTC),
        component.reason,
    )
