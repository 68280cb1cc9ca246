"""Maps of trails, sold and paid at the desk."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, Literal

from msgspec import Struct

from aitp_desk.actions import Example, action

from .pricing import dollars

Trail = Literal["Larkspur Loop", "Tarn Traverse", "Cinder Rim"]
PRICE: Final = dollars(Decimal("4.90"))


class Waypoint(Struct, frozen=True):
    """A place on a trail.

    Parameters:
        latitude, longitude: in degrees (WGS 84), north and east.
        elevation: in metres.
        note: a remark about it.
    """

    name: str
    latitude: float
    longitude: float
    elevation: int
    note: str


class TrailMap(Struct, frozen=True):
    """A trail, from its start to its end.

    Parameters:
        kilometres: its length.
    """

    trail: Trail
    kilometres: float
    waypoints: tuple[Waypoint, ...]


MAPS: Final[Mapping[str, TrailMap]] = {
    "Larkspur Loop": TrailMap(
        "Larkspur Loop",
        9.5,
        (
            Waypoint("Meadow trailhead", 44.0312, -121.6518, 1480, "Parking for twelve cars."),
            Waypoint("Larkspur spring", 44.0467, -121.6731, 1710, "Water until August."),
            Waypoint("Old lookout", 44.0524, -121.6602, 1865, "Lightning comes after noon."),
        ),
    ),
    "Tarn Traverse": TrailMap(
        "Tarn Traverse",
        21.0,
        (
            Waypoint("North gate", 44.1190, -121.7764, 1620, "The road opens in July."),
            Waypoint("Upper tarn", 44.0958, -121.7895, 2040, "Camp 60 metres from the shore."),
            Waypoint("South gate", 44.0661, -121.7702, 1590, "A bus leaves at five."),
        ),
    ),
    "Cinder Rim": TrailMap(
        "Cinder Rim",
        13.2,
        (
            Waypoint("Quarry", 43.9125, -121.4013, 1390, "No water from here on."),
            Waypoint("Rim", 43.9037, -121.3826, 1985, "Loose stone: poles help."),
        ),
    ),
}


def tell_map(sold: TrailMap) -> str:
    lines = [
        f"{n}. {one.name}, {one.latitude}, {one.longitude}, {one.elevation} m. {one.note}"
        for n, one in enumerate(sold.waypoints, 1)
    ]
    return "\n".join([f"{sold.trail}, {sold.kilometres} km:", *lines])


def read_trail(text: str) -> Mapping[str, str] | None:
    named = [trail for trail in MAPS if trail.casefold() in text.casefold()]
    return {"trail": named[0]} if len(named) == 1 else None


@action(
    open_to="anyone",
    cost=PRICE,
    prepaid=True,
    says=tell_map,
    from_text=read_trail,
    examples=[Example("The map of the Cinder Rim, please.", {"trail": "Cinder Rim"})],
)
def buy_trail_map(trail: Trail) -> TrailMap:
    """Sells the map of a trail: its waypoints, with where there is water.

    It is paid here and sent at once.

    Args:
        trail: which one.
    """
    return MAPS[trail]
