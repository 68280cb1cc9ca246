"""A visitor names a language, and is answered from the pages that are there in it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.config import load_config
from aitp_desk.web.export.site import export_site
from tests.support.clients.ahp import CONTENT, Said, Visitor, visiting
from tests.support.doubles.agent import ScriptedAgent
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import Refuse, Reply, said_in, say, search_results

SITE = Path(__file__).parents[2] / "support" / "sites" / "multilingual"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    async with visiting(tmp_path_factory.mktemp("pins"), folder=SITE) as visitor:
        yield visitor


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def named_visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    """A visitor of a site that names itself and a further language."""
    settings = ("site.name=Pins", 'site.languages=["fr"]')
    async with visiting(tmp_path_factory.mktemp("named"), *settings, folder=SITE) as visitor:
        yield visitor


def pages(said: Said) -> list[str]:
    """Where an answer comes from, without the desk's own address."""
    sources: list[dict[str, Any]] = said.body["response"]["sources"]
    return ["/" + source["url"].split("/", 3)[3] for source in sources]


def locale(said: Said) -> Any:
    return said.body["meta"]["locale"]


@pytest.mark.parametrize(
    ("asked", "served", "page", "says"),
    [
        ("fr", "fr", "/returns.fr#délai-de-retour", "dans les 14 jours"),
        ("FR-ch", "fr", "/returns.fr#délai-de-retour", "dans les 14 jours"),
        ("fr-CA", "fr-CA", "/returns.fr-CA#délai-de-retour", "dans les 30 jours"),
        ("fr-ca", "fr-CA", "/returns.fr-CA#délai-de-retour", "dans les 30 jours"),
    ],
)
async def test_a_question_in_french_is_answered_from_the_french_page(
    visitor: Visitor, asked: str, served: str, page: str, says: str
) -> None:
    said = await visitor.ask("Quel est le délai de retour d'un livre ?", locale=asked)
    assert says in said.answer
    assert pages(said)[0] == page
    assert locale(said) == served


async def test_a_question_in_german_is_answered_from_the_german_page(visitor: Visitor) -> None:
    said = await visitor.ask("Wie lange ist die Rückgabefrist?", locale="de-AT")
    assert "14 Tagen" in said.answer
    assert pages(said)[0] == "/returns.de#rückgabefrist"
    assert locale(said) == "de"


@pytest.mark.parametrize("asked", [None, "en", "en-GB", "it"])
async def test_others_are_answered_from_the_sites_own_language_alone(
    visitor: Visitor, asked: str | None
) -> None:
    context: dict[str, Any] = {"locale": asked} if asked else {}
    for question in ("How long may I return a book?", "Quel est le délai de retour d'un livre ?"):
        said = await visitor.ask(question, **context)
        assert not any(".fr" in page or ".de" in page for page in pages(said))
    said = await visitor.ask("How long may I return a book?", **context)
    assert "within 14 days" in said.answer
    assert locale(said) == "en"


async def test_a_page_without_a_version_is_answered_from_as_it_is_and_named_so(
    visitor: Visitor,
) -> None:
    said = await visitor.ask("Gift wrapping?", locale="fr")
    assert "2 EUR" in said.answer
    assert pages(said)[0] == "/guides/gift-wrapping#what-it-costs"
    assert locale(said) == "en"
    said = await visitor.ask("Frais de port?", locale="fr-CA")
    assert pages(said)[0] == "/shipping.fr#frais-de-port"
    assert locale(said) == "fr"


async def test_languages_share_answers_as_far_as_they_share_pages(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", folder=SITE, agent=agent) as visitor:
        for tag, is_known in (
            ("fr", False),
            ("fr-FR", True),
            ("FR", True),
            ("fr-CA", False),
            ("de", False),
            ("de-CH", True),
            ("it-IT", False),
            ("it-it", True),
        ):
            assert (await visitor.ask("Prix ?", locale=tag)).is_cached == is_known, tag
        assert not (await visitor.ask("Prix ?")).is_cached
    assert [turn.locale for turn in agent.turns] == ["fr", "fr-CA", "de", "it-IT", None]


async def test_a_change_of_one_language_is_known_to_the_next_question(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nTea costs 2 EUR a cup.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        knowledge = visitor.desk.desk.knowledge
        assert "2 EUR" in (await visitor.ask("Tea?", locale="fr")).answer
        (folder / "tea.fr.md").write_text("# Tisane (tea)\n\nLa tisane vaut 3 EUR la tasse.\n")
        assert await knowledge.refresh()
        said = await visitor.ask("Tea?", locale="fr")
        assert (locale(said), pages(said)[0]) == ("fr", "/tea.fr#tisane-tea")
        assert "2 EUR" in (await visitor.ask("Tea?")).answer
        (folder / "tea.fr.md").write_text("# Tisane (tea)\n\nLa tisane vaut 4 EUR la tasse.\n")
        assert await knowledge.refresh()
        assert "4 EUR" in (await visitor.ask("Tea?", locale="fr")).answer
        (folder / "tea.fr.md").write_text("---\ndraft: true\n---\n# Tisane\n\nRien encore.\n")
        assert await knowledge.refresh()
        said = await visitor.ask("Tea?", locale="fr")
        assert (locale(said), pages(said)[0]) == ("en", "/tea#tea")
        assert "2 EUR" in said.answer


async def test_the_index_of_a_language_goes_with_its_last_version(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(SITE, folder)
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        indexes = {file.name for file in (tmp_path / "data").glob("knowledge*.sqlite")}
        assert indexes == {f"knowledge{tag}.sqlite" for tag in ("", ".de", ".fr", ".fr-CA")}
        (folder / "returns.de.md").unlink()
        assert await visitor.desk.desk.knowledge.refresh()
        assert not (tmp_path / "data" / "knowledge.de.sqlite").exists()
        assert locale(await visitor.ask("Return window?", locale="de")) == "en"
        assert (tmp_path / "data" / "knowledge.fr.sqlite").exists()


async def test_the_owner_names_the_sites_own_language_and_folders_of_others(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    (folder / "fr").mkdir(parents=True)
    (folder / "it").mkdir()
    (folder / "preis.md").write_text("# Preis\n\nDer Preis beträgt 2 EUR.\n")
    (folder / "fr" / "preis.md").write_text("# Prix\n\nLe prix est de 3 EUR.\n")
    (folder / "it" / "server.md").write_text("# Server\n\nDer Server steht im Keller.\n")
    settings = ("site.language=de", 'site.languages=["fr"]')
    async with visiting(tmp_path / "data", *settings, folder=folder) as visitor:
        said = await visitor.ask("Preis?")
        assert (pages(said), locale(said)) == (["/preis#preis"], "de")
        said = await visitor.ask("Prix?", locale="fr")
        assert (pages(said), locale(said)) == (["/fr/preis#prix"], "fr")
        said = await visitor.ask("Server?", locale="it")
        assert (pages(said), locale(said)) == (["/it/server#server"], "de")


async def test_the_pages_name_their_language_and_their_versions(visitor: Visitor) -> None:
    url = visitor.desk.desk.site.url
    links = [
        f'<link rel="alternate" hreflang="{tag}" href="{url}/returns{ending}">'
        for tag, ending in (
            ("de", ".de"),
            ("en", ""),
            ("fr", ".fr"),
            ("fr-CA", ".fr-CA"),
            ("x-default", ""),
        )
    ]
    for path, tag in (("/returns", "en"), ("/returns.fr", "fr"), ("/returns.fr-CA", "fr-CA")):
        async with visitor.http.get(path) as response:
            assert response.status == 200
            page = await response.text()
        assert f'<html lang="{tag}">' in page
        assert [line for line in page.splitlines() if "hreflang" in line] == links
        assert (f' lang="{tag}"></aitp-chat>' in page) == (tag != "en")
    async with visitor.http.get("/guides/gift-wrapping") as response:
        page = await response.text()
    assert '<html lang="en">' in page
    assert "hreflang" not in page


async def test_the_content_document_lists_each_page_once_with_its_versions(
    visitor: Visitor,
) -> None:
    url = visitor.desk.desk.site.url
    async with visitor.http.get(CONTENT) as response:
        lines = (await response.text()).splitlines()
    [line] = [line for line in lines if "/returns" in line]
    assert line.startswith("- [Returns](")
    assert f"[de]({url}/returns.de" in line
    assert f"[fr]({url}/returns.fr" in line
    assert f"[fr-CA]({url}/returns.fr-CA" in line
    assert len([line for line in lines if line.startswith("- [Guides](")]) == 1


QUESTIONS = [
    ("fr", "Combien coûte l’envoi d’un colis ?", "4 EUR", "/shipping.fr#frais-de-port"),
    ("fr", "Combien de temps met un colis pour arriver ?", "2 jours", "/shipping.fr#durée"),
    ("fr", "Puis-je rendre un livre d'occasion ?", "avoir", "/returns.fr#livres-doccasion"),
    ("fr", "quel est le delai de retour", "14 jours", "/returns.fr#délai-de-retour"),
    ("fr", "Qui est l'éditeur du site ?", "rue des Pins", "/mentions.fr#mentions-légales"),
    ("de", "Wird der volle Preis erstattet?", "14 Tagen", "/returns.de#rückgabefrist"),
    ("de", "Brauche ich den Kassenbon?", "Kassenbon", "/returns.de#rückgabefrist"),
    ("de", "Kann ich gebrauchte Bücher tauschen?", "Gutschein", "/returns.de#gebrauchte-bücher"),
]


@pytest.mark.parametrize(("tag", "question", "says", "page"), QUESTIONS)
async def test_questions_are_understood_as_they_are_asked_in_their_language(
    named_visitor: Visitor, tag: str, question: str, says: str, page: str
) -> None:
    said = await named_visitor.ask(question, locale=tag)
    assert says in said.answer
    assert pages(said)[0] == page
    assert locale(said) == tag


async def test_a_follow_up_is_understood_in_its_language(visitor: Visitor) -> None:
    first = await visitor.ask("Wie lange kann ich ein Buch zurückgeben?", locale="de")
    assert "14 Tagen" in first.answer
    then = await visitor.ask("Und gebrauchte?", session_id=first.session_id, locale="de")
    assert "7 Tagen" in then.answer
    recalled = await visitor.ask("Was habe ich gefragt?", session_id=first.session_id, locale="de")
    assert recalled.answer == "Sie haben gefragt: „Und gebrauchte?“"


@pytest.mark.parametrize(
    ("tag", "question", "says"),
    [
        (
            "fr",
            "Vendez-vous des vélos ?",
            "Je n'ai rien trouvé sur « vendez » ou « vélos » dans les pages de Pins.",
        ),
        (
            "de-CH",
            "Verkaufen Sie Fahrräder?",
            "Über „verkaufen“ oder „Fahrräder“ habe ich auf den Seiten von Pins nichts gefunden.",
        ),
        ("en", "Do you sell Fahrräder?", "I found nothing"),
        ("", "Est-ce que vous vendez des vélos ?", "Je n'ai rien trouvé"),
    ],
)
async def test_what_is_not_found_is_said_in_the_visitors_language(
    named_visitor: Visitor, tag: str, question: str, says: str
) -> None:
    context: dict[str, Any] = {"locale": tag} if tag else {}
    said = await named_visitor.ask(question, **context)
    reach = await named_visitor.ask("Contact?", "contact", **context)
    assert said.answer.startswith(says)
    assert locale(said) == (tag or "fr").partition("-")[0]
    assert locale(reach) == (tag or "en").partition("-")[0]


@pytest.mark.parametrize("tag", ["fr", "fr-CA", "de"])
@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What does a parcel within the country cost?", "costs 4 EUR"),
        # pages in that language speak of periods and of books as well, but of nothing else of it
        ("What is the return period?", "within 14 days"),
        ("How long do I have to return a book?", "within 14 days"),
    ],
)
async def test_what_is_asked_in_the_sites_own_language_is_answered_in_it(
    visitor: Visitor, question: str, told: str, tag: str
) -> None:
    said = await visitor.ask(question, locale=tag)
    assert told in said.answer
    assert locale(said) == "en"


async def test_a_site_in_one_language_is_asked_in_it_without_naming_it(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "retours.md").write_text((SITE / "returns.fr.md").read_text("utf-8"), "utf-8")
    setting = "site.language=fr"
    async with visiting(tmp_path / "data", setting, folder=folder) as visitor:
        said = await visitor.ask("Quel est le délai de retour d'un livre ?")
        assert "14 jours" in said.answer
        assert locale(said) == "fr"
        assert (await visitor.ask("Vendez-vous des vélos ?")).answer.startswith("Je n'ai rien")


async def test_a_model_gets_the_language_and_the_pages_in_it(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        return say("Quatorze jours.", 0)

    setting = f"content.folder={SITE}"
    async with meeting(tmp_path, answer, setting) as met:
        said = await met.visitor.ask("Quel est le délai de retour ?", locale="fr-be")
        [sent] = met.api.requests
    assert search_results(sent)[0]["source"] == "/returns.fr#délai-de-retour"
    assert said_in(sent)[-1] == (
        "user",
        {"visitor": "Quel est le délai de retour ?", "language": "fr"},
    )
    assert pages(said) == ["/returns.fr#délai-de-retour"]
    assert locale(said) == "fr"


async def test_an_exported_site_has_the_versions_and_names_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    written = export_site(load_config(SITE, ("site.url=https://books.example",)), out)
    assert not written.problems
    page = (out / "returns.fr" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="fr">' in page
    assert '<link rel="alternate" hreflang="en" href="https://books.example/returns">' in page
    content = (out / "llms.txt").read_text(encoding="utf-8")
    assert content.count("- [Returns](") == 1
    assert "Also in [de](https://books.example/returns.de" in content


async def test_the_start_tells_the_languages_and_what_is_wrong_in_any_of_them(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "site"
    shutil.copytree(SITE, folder)
    (folder / "shipping.de.md").write_bytes("# Versandgeb\xfchr\n".encode("latin-1"))
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        report = visitor.desk.report
    assert "  languages  en, and some in de, fr, fr-CA" in report
    [problem] = [line for line in report if line.startswith("  problem")]
    assert "shipping.de.md:1" in problem


async def test_the_sites_own_form_of_a_language_is_answered_from_its_own_pages(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nTea costs 2 pounds a cup.\n")
    (folder / "tea.en.md").write_text("# Tea\n\nTea costs 3 dollars a cup.\n")
    (folder / "pot.en.md").write_text("# Pots\n\nA pot costs 9 dollars.\n")
    setting = "site.language=en-GB"
    async with visiting(tmp_path / "data", setting, folder=folder) as visitor:
        for tag, served, page in ((None, "en-GB", "/tea#tea"), ("en", "en", "/tea.en#tea")):
            context: dict[str, Any] = {"locale": tag} if tag else {}
            said = await visitor.ask("Tea?", **context)
            assert (pages(said), locale(said)) == ([page], served)
        assert pages(await visitor.ask("Pots?")) == ["/pot.en#pots"]


async def test_two_files_at_the_address_of_a_version_are_one_page_of_its_language(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "site"
    (folder / "tea.fr").mkdir(parents=True)
    (folder / "tea.md").write_text("# Tea\n\nTea costs 2 EUR a cup.\n")
    (folder / "tea.fr.md").write_text("# Tisane\n\nLa tisane vaut 3 EUR.\n")
    (folder / "tea.fr" / "index.md").write_text("# Tisane\n\nLa tisane vaut 4 EUR.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        said = await visitor.ask("Tisane ?", locale="fr")
        assert ("3 EUR" in said.answer, pages(said)) == (True, ["/tea.fr#tisane"])
        assert pages(await visitor.ask("Tisane ?")) == []
        [problem] = visitor.desk.desk.knowledge.editions.problems
        assert "tea.fr.md has the same address" in problem.message


async def test_extraction_in_a_models_place_looks_into_the_sites_own_language_too(
    tmp_path: Path,
) -> None:
    setting = f"content.folder={SITE}"
    async with meeting(
        tmp_path, lambda _body: Refuse(400, "invalid_request_error"), setting
    ) as met:
        said = await met.visitor.ask("What does a parcel within the country cost?", locale="fr")
    assert said.body["meta"]["fallback"] == "model_failed"
    assert "costs 4 EUR" in said.answer
    assert (pages(said)[0], locale(said)) == ("/shipping#cost", "en")


async def test_a_session_goes_from_language_to_language(visitor: Visitor) -> None:
    first = await visitor.ask("How long may I return a book?")
    then = await visitor.ask("Et les livres d'occasion ?", session_id=first.session_id, locale="fr")
    last = await visitor.ask("How long may I return a book?", session_id=then.session_id)
    assert [locale(said) for said in (first, then, last)] == ["en", "fr", "en"]
    assert pages(then)[0] == "/returns.fr#livres-doccasion"
    assert last.answer == first.answer


@pytest.mark.parametrize(
    ("tag", "question", "says"),
    [
        ("en", "Do you sell bicycles?", "I found nothing about “bicycles” in the pages of Pins"),
        ("de", "Haben Sie Fahrräder?", "Über „Fahrräder“ habe ich auf den Seiten von Pins"),
        ("fr", "Avez-vous des vélos ?", "Je n'ai rien trouvé sur « vélos » dans les pages"),
        ("it", "Avete biciclette?", "Non ho trovato nulla su «biciclette» nelle pagine di Pins."),
        ("es", "¿Tienen bicicletas?", "No he encontrado nada sobre «bicicletas» en las páginas"),
        ("pt", "Tem bicicletas?", "Não encontrei nada sobre “bicicletas” nas páginas de Pins."),
        (
            "pl",
            "Czy mają Państwo rowery?",
            "Na stronach serwisu Pins nie ma nic na temat: „rowery”.",
        ),
        (
            "ja",
            "自転車はありますか？",
            "Pinsのページには、「自転車」についての記載が見つかりませんでした。サイトの担当者",
        ),
        ("nl", "Hebt u fietsen?", "Ik heb op de pagina's van Pins niets gevonden over ‘fietsen’."),
    ],
)
async def test_what_is_not_found_is_named_as_it_was_said_in_every_language(
    tmp_path: Path, tag: str, question: str, says: str
) -> None:
    """It is no word of English misspelt, such as ``fifteen``."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "alpha.md").write_text("# Alpha\n\nAlpha, beta, gamma.\n")
    settings = ("site.name=Pins", f"site.language={tag}", "site.contact.email=pins@example.org")
    async with visiting(tmp_path / "data", *settings, folder=folder) as visitor:
        said = await visitor.ask(question)
    assert said.answer.startswith(says)
    assert locale(said) == tag
