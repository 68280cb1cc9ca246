"""Content types of the site's own: where agents and people read what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients.ahp import CONTENT, MANIFEST, Visitor, visiting
from tests.support.specs.ahp_schemas import AhpSchemas

KIND = "x-acme/recipe"
_RECIPE = f"""---
title: Pumpkin soup
content_type: {KIND}
payload: {{serves: 4}}
---
Friday is soup day.
"""
_SECTION = "## Content types of this site"


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    """A site with a recipe for machines, and no word on what that is."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "soup.md").write_text(_RECIPE)
    return folder


async def links_of(visitor: Visitor) -> dict[str, str]:
    async with visitor.http.get(MANIFEST) as response:
        links: dict[str, str] = (await response.json())["links"]
        return links


async def text_of(visitor: Visitor, address: str, accept: str = "*/*") -> str:
    async with visitor.http.get(address, headers={"Accept": accept}) as response:
        assert response.status == 200
        return await response.text()


@pytest.mark.requirement("AHP-C.3-4")
@pytest.mark.parametrize(
    ("describes", "told"),
    [
        (KIND, "For whom writes an agent."),
        (f"[x-acme/menu, {KIND}]", "For whom writes an agent."),
        (f"{{{KIND}: How many a dish feeds.}}", "How many a dish feeds."),
    ],
)
async def test_a_type_that_a_page_describes_is_led_to_from_the_manifest_and_llms_txt(
    tmp_path: Path, kitchen: Path, shared_folder: Path, describes: str, told: str
) -> None:
    (kitchen / "for agents.md").write_text(
        f"---\ntitle: Developers\ndescription: For whom writes an agent.\ndescribes: {describes}\n"
        "---\n`serves` is for how many a dish is.\n"
    )
    async with visiting(tmp_path / "data", folder=kitchen) as visitor:
        async with visitor.http.get(MANIFEST) as response:
            manifest = await response.json()
        AhpSchemas(shared_folder).check_manifest(manifest)
        given = [kind for one in manifest["capabilities"] for kind in one["response_types"]]
        assert KIND in given
        page = manifest["links"][KIND]
        assert page == f"{visitor.desk.url}/for%20agents"
        assert "for how many a dish is" in await text_of(visitor, page, "text/html")
        _, _, types = (await text_of(visitor, CONTENT)).partition(_SECTION)
        assert f"- [{KIND}]({page}.md): {told}\n" in types
        assert "for how many a dish is" in await text_of(visitor, f"{page}.md")


@pytest.mark.requirement("AHP-C.3-4")
async def test_a_type_is_described_as_soon_as_a_page_does_and_no_longer(
    tmp_path: Path, kitchen: Path
) -> None:
    page = kitchen / "recipes.md"
    async with visiting(tmp_path / "data", folder=kitchen) as visitor:
        knowledge = visitor.desk.desk.knowledge
        assert KIND not in await links_of(visitor)
        assert _SECTION not in await text_of(visitor, CONTENT)
        page.write_text(f"---\ndescribes: {KIND}\n---\n# Recipes\n\nHow many a dish feeds.\n")
        await knowledge.refresh()
        assert (await links_of(visitor))[KIND] == f"{visitor.desk.url}/recipes"
        assert f"- [{KIND}]({visitor.desk.url}/recipes.md): Recipes\n" in await text_of(
            visitor, CONTENT
        )
        page.write_text("---\ndescribes: a dish\n---\n# Recipes\n\nHow many a dish feeds.\n")
        await knowledge.refresh()
        assert KIND not in await links_of(visitor)
        assert knowledge.library.problems == ()


async def test_of_two_pages_that_describe_a_type_the_first_does_and_the_other_is_reported(
    tmp_path: Path, kitchen: Path
) -> None:
    for name in ("a", "b"):
        (kitchen / f"{name}.md").write_text(f"---\ntitle: {name}\ndescribes: {KIND}\n---\nText.\n")
    async with visiting(tmp_path / "data", folder=kitchen) as visitor:
        assert (await links_of(visitor))[KIND] == f"{visitor.desk.url}/a"
        (problem,) = visitor.desk.desk.knowledge.library.problems
    assert str(problem) == f"b.md:3: {KIND} is already described by /a."


async def test_a_type_that_no_page_offers_is_not_announced(tmp_path: Path, kitchen: Path) -> None:
    describes = f"describes: [x-acme/menu, {KIND}]"
    (kitchen / "types.md").write_text(f"---\ntitle: Types\n{describes}\n---\nText.\n")
    async with visiting(tmp_path / "data", folder=kitchen) as visitor:
        assert not {"x-acme/menu"} & (await links_of(visitor)).keys()
        assert KIND in await links_of(visitor)
        assert "x-acme/menu" not in (await text_of(visitor, CONTENT)).partition(_SECTION)[2]


async def test_the_page_in_the_site_s_own_language_is_named_where_there_are_several(
    tmp_path: Path, kitchen: Path
) -> None:
    for name in ("recipes.md", "recipes.fr.md"):
        (kitchen / name).write_text(f"---\ntitle: {name}\ndescribes: {KIND}\n---\nText.\n")
    offers = "describes: x-acme/menu\ncontent_type: x-acme/menu\npayload: {soup: 4}"
    (kitchen / "menu.fr.md").write_text(f"---\ntitle: Menu\n{offers}\n---\nTexte.\n")
    async with visiting(tmp_path / "data", folder=kitchen) as visitor:
        links = await links_of(visitor)
        problems = visitor.desk.desk.knowledge.editions.problems
    assert links[KIND] == f"{visitor.desk.url}/recipes"
    assert links["x-acme/menu"].startswith(f"{visitor.desk.url}/")
    assert problems == ()
