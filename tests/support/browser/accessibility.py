"""What axe-core finds wrong with a page, for people who cannot see it, or not well."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page


async def find_flaws(page: Page) -> list[str]:
    """Each rule that a page breaks, with the elements that break it.

    Rules of every level are looked at, best practices too; animations are over, since the
    browser of the tests asks for reduced motion.
    """
    from axe_playwright_python.async_playwright import Axe

    found = (await Axe().run(page)).response["violations"]
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]
