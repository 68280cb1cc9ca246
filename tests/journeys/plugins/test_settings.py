"""Enabling capabilities in desk.toml: what cannot be used is told before the desk starts."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from aitp_desk.capability import GROUP, INTERFACE
from aitp_desk.config import ConfigError
from tests.support.desk.command import run_here
from tests.support.desk.server import serving
from tests.support.plugins.packages import installed, loyalty

POINTS = {
    "loyalty": "loyalty:Loyalty",
    "again": "loyalty:Loyalty",
    "card": "loyalty:Card",
    "gone": "loyalty:Gone",
    "broken": "broken:Broken",
    "strict": "broken:Strict",
    "newer": "broken:Newer",
    "later": "broken:Later",
    "older": "broken:Older",
}
BROKEN = """
from aitp_desk.capability import Capability

class Strict(Capability):
    slug = "strict"

    def __init__(self, chosen):
        raise ValueError("the rewards and the stamps do not go together.")

class Newer(Capability):
    slug = "newer"
    interface = "2.0"

class Later(Capability):
    slug = "later"
    interface = "1.999"

class Older(Capability):
    slug = "older"
    interface = "0.9"

class Broken(Capability):
    slug = "broken"

    def schemas(self):
        raise RuntimeError("no till")
"""
COMES_WITH_IT = {point.name for point in entry_points(group=GROUP)}
UNKNOWN = (
    "no installed package has a capability of this name (entry point group"
    " aitp_desk.capabilities); installed are:"
    f" {', '.join(sorted({*POINTS, *COMES_WITH_IT}))}."
)

UPGRADE = "Upgrade aitp-desk, or install an older version of its package."


def refusal(interface: str, cure: str) -> str:
    """What is told of a capability that was written for another interface."""
    return (
        f"it was written for version {interface} of the interface of capabilities, and this desk"
        f" has {INTERFACE}. {cure}"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "key", "message"),
    [
        (
            ["capabilities.stamps.n=1"],
            "capabilities.stamps",
            UNKNOWN,
        ),
        (
            ["capabilities.loyalty.stanps=1"],
            "capabilities.loyalty",
            "there is no setting 'stanps'; the settings are: from_visitors, rewards, stamps.",
        ),
        (
            ['capabilities.loyalty.stamps="ten"'],
            "capabilities.loyalty",
            "Expected `int`, got `str` - at `$.stamps`.",
        ),
        (
            ["capabilities.loyalty.stamps=1", "capabilities.again.stamps=1"],
            "capabilities.again",
            "two capabilities have the slug loyalty.",
        ),
        (
            ["capabilities.card={}"],
            "capabilities.card",
            "loyalty:Card is not a subclass of aitp_desk.capability.Capability.",
        ),
        (
            ["capabilities.gone={}"],
            "capabilities.gone",
            "cannot be used: AttributeError: module 'loyalty' has no attribute 'Gone'",
        ),
        (
            ["capabilities.broken={}"],
            "capabilities.broken",
            "cannot be used: RuntimeError: no till",
        ),
        (
            ["capabilities.strict={}"],
            "capabilities.strict",
            "the rewards and the stamps do not go together.",
        ),
        (["capabilities.newer={}"], "capabilities.newer", refusal("2.0", UPGRADE)),
        (["capabilities.later={}"], "capabilities.later", refusal("1.999", UPGRADE)),
        (
            ["capabilities.older={}"],
            "capabilities.older",
            refusal("0.9", "Install a newer version of its package."),
        ),
    ],
)
async def test_what_cannot_be_used_is_reported_and_the_desk_does_not_start(
    settings: list[str], key: str, message: str, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    modules = {"loyalty": loyalty(), "broken": BROKEN}
    with installed(package, modules, POINTS), pytest.raises(ConfigError) as told:
        async with serving(tmp_path / "data", *settings):
            pass
    assert [(one.key, one.message) for one in told.value.problems] == [(key, message)]


def test_check_tells_what_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "index.md").write_text("# A shop\n", encoding="utf-8")
    (tmp_path / "desk.toml").write_text("[capabilities.stamps]\n", encoding="utf-8")
    package = tmp_path / "package"
    package.mkdir()
    modules = {"loyalty": loyalty(), "broken": BROKEN}
    with installed(package, modules, POINTS):
        told = run_here("check", tmp_path)
        assert (told.code, told.err) == (1, f"capabilities.stamps: {UNKNOWN}\n")
        (tmp_path / "desk.toml").write_text("[capabilities.loyalty]\n", encoding="utf-8")
        assert run_here("check", tmp_path).code == 0


async def test_the_report_at_the_start_names_what_is_enabled(tmp_path: Path) -> None:
    with installed(tmp_path, {"loyalty": loyalty()}, POINTS):
        async with serving(tmp_path / "data", "capabilities.loyalty={}") as desk:
            assert "  messages   loyalty" in desk.report
