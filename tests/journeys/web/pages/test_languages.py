"""Pages speak the site's language: the home page, content pages, errors, and the script."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.support.desk.server import serving

HTML = {"Accept": "text/html"}
SPOKEN = {
    "de": ("Ihre Frage", "Diese Seite gibt es nicht", "Quellen"),
    "fr": ("Votre question", "Cette page n’existe pas", "Sources"),
    "es": ("Su pregunta", "Esta página no existe", "Fuentes"),
    "it": ("La tua domanda", "Questa pagina non esiste", "Fonti"),
    "nl": ("Uw vraag", "Deze pagina bestaat niet", "Bronnen"),
    "pt": ("A sua pergunta", "Esta página não existe", "Fontes"),
    "ja": ("ご質問", "ページが見つかりません", "出典"),
    "zh": ("您的问题", "没有这个页面", "出处"),
    "de-AT": ("Ihre Frage", "Diese Seite gibt es nicht", "Quellen"),
}


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_page_and_the_script_speak_the_site_s_language(
    tmp_path: Path, language: str
) -> None:
    question, missing, sources = SPOKEN[language]
    async with (
        serving(tmp_path / "data", f"site.language={language}") as desk,
        aiohttp.ClientSession(desk.url, headers=HTML) as http,
    ):
        for path, words in (("/", question), ("/policies/returns", question), ("/no", missing)):
            async with http.get(path) as response:
                page = LexborHTMLParser(await response.text())
            html = page.css_first("html")
            assert html is not None
            assert html.attributes["lang"] == language, path
            assert words in page.text(), path
            assert "Skip to the content" not in page.text()
            (script,) = page.css("script[src]")
            async with http.get(str(script.attributes["src"])) as response:
                assert f'"sources":"{sources}"' in await response.text()


async def test_a_language_without_translation_is_spoken_to_in_english(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", "site.language=sv") as desk,
        aiohttp.ClientSession(desk.url, headers=HTML) as http,
        http.get("/") as response,
    ):
        page = LexborHTMLParser(await response.text())
        html = page.css_first("html")
        assert html is not None
        assert html.attributes["lang"] == "en"
        assert "Your question" in page.text()
