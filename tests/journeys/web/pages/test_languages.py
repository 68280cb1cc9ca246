"""Pages speak the site's language: the home page, content pages, errors, and the script."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.support.desk.server import serving

HTML = {"Accept": "text/html"}
SPOKEN = {
    "de": ("Zum Inhalt springen", "Diese Seite gibt es nicht", "Keine Seite gefunden."),
    "fr": ("Aller au contenu", "Cette page n’existe pas", "Aucune page trouvée."),
    "es": ("Ir al contenido", "Esta página no existe", "No se encontró ninguna página."),
    "it": ("Vai al contenuto", "Questa pagina non esiste", "Nessuna pagina trovata."),
    "nl": ("Naar de inhoud", "Deze pagina bestaat niet", "Geen pagina gevonden."),
    "pt": ("Ir para o conteúdo", "Esta página não existe", "Nenhuma página encontrada."),
    "ja": ("本文へ移動", "ページが見つかりません", "ページが見つかりません。"),
    "zh": ("跳到正文", "没有这个页面", "没有找到页面。"),
    "de-AT": ("Zum Inhalt springen", "Diese Seite gibt es nicht", "Keine Seite gefunden."),
}


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_page_and_the_script_speak_the_site_s_language(
    tmp_path: Path, language: str
) -> None:
    skip, missing, none_found = SPOKEN[language]
    async with (
        serving(tmp_path / "data", f"site.language={language}") as desk,
        aiohttp.ClientSession(desk.url, headers=HTML) as http,
    ):
        for path, words in (("/", skip), ("/policies/returns", skip), ("/no", missing)):
            async with http.get(path) as response:
                page = LexborHTMLParser(await response.text())
            html = page.css_first("html")
            assert html is not None
            assert html.attributes["lang"] == language, path
            assert words in page.text(), path
            assert "Skip to the content" not in page.text()
            (script,) = page.css("script[src^='/assets/']")
            async with http.get(str(script.attributes["src"])) as response:
                assert f'"searchNone":"{none_found}"' in await response.text()


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
        assert "Skip to the content" in page.text()
