"""Fixtures of the console in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Expect


@pytest.fixture
def expect() -> Expect:
    """Playwright's assertions, which wait for what they assert."""
    from playwright.async_api import expect

    expect.set_options(timeout=15_000)
    return expect
