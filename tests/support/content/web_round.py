"""Pages of a website and rounds over them, for tests."""

from pathlib import Path
from typing import Any

from aitp_desk.config import Web
from aitp_desk.egress import Egress
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.sources.loader import parse_content
from aitp_desk.knowledge.web.schedule import ReadingSchedule
from tests.support.doubles.website import Website


class Reading:
    """Rounds over one website.

    Parameters:
        site: whose pages are read.
        data: the data folder.
        settings: of ``content.web``; addresses are paths on the site.
    """

    def __init__(self, site: Website, egress: Egress, data: Path, **settings: Any) -> None:
        for name in ("urls", "sitemaps"):
            listed = settings.get(name, ())
            settings[name] = tuple(
                address if "://" in address else site.url + address for address in listed
            )
        self._site = site.url
        self.rounds = ReadingSchedule(Web(**settings), egress, data)

    async def gather(self) -> dict[str, str]:
        """Read once; what is wrong afterwards, by path."""
        tally = await self.rounds.run_once()
        kept = self.rounds.copies.read()
        assert (tally.kept, tally.problems) == (len(kept.copies), len(kept.problems))
        return {
            problem.source.removeprefix(self._site): problem.message for problem in kept.problems
        }

    @property
    def documents(self) -> dict[str, Document]:
        """What is known, by path."""
        content = parse_content(self.rounds.copies.raw())
        return {document.path.removeprefix(self._site): document for document in content.documents}

    @property
    def titles(self) -> dict[str, str]:
        """The titles of what is known, by path."""
        return {path: document.title for path, document in self.documents.items()}


def page(title: str, text: str = "Some text.") -> str:
    return f"<html><title>{title}</title><body><h1>{title}</h1><p>{text}</p></body></html>"


def sitemap(*addresses: str) -> str:
    listed = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    return f"<urlset>{listed}</urlset>"


def sitemap_index(*addresses: str) -> str:
    listed = "".join(f"<sitemap><loc>{address}</loc></sitemap>" for address in addresses)
    return f"<sitemapindex>{listed}</sitemapindex>"
