"""Encodes readiness as JSON."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
from msgspec import UnsetType

from aitp_desk.desk.maintenance.readiness import Readiness
from aitp_desk.model.component import Component, ComponentState


class ComponentObject(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of the desk.

    Parameters:
        since: since when it is in this state.
        reason: why it is not up, or what else is to be known; absent where nothing is.
    """

    name: str
    status: ComponentState
    since: datetime
    reason: str = ""


def render(readiness: Readiness, *, is_full: bool) -> bytes:
    """Encode readiness, with the state of each part where ``is_full``."""
    told = msgspec.structs.asdict(readiness)
    components = told.pop("components")
    if is_full and not isinstance(components, UnsetType):
        told["components"] = [component_object(one) for one in components]
    return msgspec.json.encode(told)


def component_object(component: Component) -> ComponentObject:
    """Return a part of the desk for its JSON."""
    return ComponentObject(
        component.name,
        component.state,
        datetime.fromtimestamp(component.since, UTC),
        component.reason,
    )
