"""Renders ``/llms.txt`` and ``/llms-full.txt``, the content documents (AHP 0.1, section 5.1).

The first follows the llms.txt convention (https://llmstxt.org): a title, a summary, how to ask
instead of reading, and the pages by folder with a line on each; the links lead to the pages as
Markdown. Pages of other servers are listed below their server's name, with their own addresses. The
section ``Optional`` has what may be left out where space is short.

The second contains all pages in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from aitp_desk.config import Signals, Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.documents.languages import drop_duplicates_by_language, group_versions
from aitp_desk.knowledge.documents.titles import folder_name
from aitp_desk.knowledge.media.payloads import ContentTypeText
from aitp_desk.protocols.ahp.manifest import NO_DESCRIPTIONS

FULL_CONTENT_PATH = "/llms-full.txt"


def write_llms_txt(
    site: Site,
    documents: tuple[Document, ...],
    described: Mapping[str, ContentTypeText] = NO_DESCRIPTIONS,
    *,
    asks: bool = True,
) -> str:
    """Render the content document in Markdown: a line on each page.

    Parameters:
        described: the site's own content types by name, as far as a page documents them.
        asks: whether the desk answers questions; else it only serves pages (MODE1).
    """
    lines = [
        *_opening(site),
        "",
        *(_how_to_ask(site) if asks else ()),
    ]
    versions = group_versions(documents, site.language)
    folders: dict[str, list[Document]] = {}
    for document in drop_duplicates_by_language(documents):
        folders.setdefault(document.folder, []).append(document)
    for folder in sorted(folders):
        named = folder if folders[folder][0].is_elsewhere else _heading(folder)
        lines += [f"## {named}", ""]
        for document in folders[folder]:
            others = versions.get(document.path, {})
            about = " ".join(filter(None, (_line(document.description), *_also(site, others))))
            url = _absolute(site, document.markdown_url)
            lines.append(_entry(document.title, url, about))
        lines.append("")
    if described:
        lines += ["## Content types of this site", ""]
        lines += [
            _entry(kind, _absolute(site, page.markdown_url), page.about)
            for kind, page in described.items()
        ]
        lines.append("")
    lines += [
        "## Optional",
        "",
        f"- [All pages in full]({site.url}{FULL_CONTENT_PATH}): all of the above, in one document",
        "",
    ]
    return "\n".join(lines)


def write_llms_full_txt(site: Site, pages: Iterable[str]) -> Iterator[str]:
    """Yield all pages as one Markdown document, in pieces.

    The document may be larger than memory.

    Parameters:
        pages: each in its standalone form, with front matter that has its title and address.
    """
    yield write_llms_full_head(site)
    yield from map(write_llms_full_page, pages)


def write_llms_full_head(site: Site) -> str:
    """Render the head of the document that holds all pages."""
    return "\n".join([*_opening(site), ""])


def write_llms_full_page(page: str) -> str:
    """Render one page within the document that holds all pages.

    Parameters:
        page: as for :func:`write_llms_full_txt`.
    """
    return f"\n{page.rstrip()}\n"


def write_content_signal(signals: Signals) -> str:
    """Return the value of a ``Content-Signal`` header.

    The header cannot express ``attribution_required``, which the manifest and every answer carry.

    Source: https://contentsignals.org; AHP 0.1, section 7.
    """
    said = {
        "ai-train": signals.ai_train,
        "search": signals.search,
        "ai-input": signals.ai_input,
    }
    return ", ".join(f"{name}={'yes' if allowed else 'no'}" for name, allowed in said.items())


def _opening(site: Site) -> list[str]:
    title = f"# {_line(site.name)}"
    return [title, "", f"> {_line(site.description)}"] if site.description else [title]


def _how_to_ask(site: Site) -> tuple[str, ...]:
    return (
        (
            "You can ask instead of reading these pages. This site supports the Agent Handshake"
            " Protocol."
        ),
        f"Its manifest is at {site.url}/.well-known/agent.json.",
        f"Questions go to POST {site.url}/agent/converse.",
        "",
    )


def _also(site: Site, versions: Mapping[str, Document]) -> Iterator[str]:
    """Yield links to a page in its other languages."""
    links = [
        f"[{tag}]({_link_url(_absolute(site, version.markdown_url))})"
        for tag, version in versions.items()
        if version.language not in {"", site.language}
    ]
    if links:
        yield f"Also in {', '.join(links)}."


def _absolute(site: Site, url: str) -> str:
    return site.url + url if url.startswith("/") else url


def _entry(name: str, url: str, about: str) -> str:
    return f"- [{_link_text(name)}]({_link_url(url)}){about and f': {about}'}"


def _heading(folder: str) -> str:
    return _line(" / ".join(map(folder_name, folder.split("/")))) if folder else "Pages"


def _line(text: str) -> str:
    return " ".join(text.split())


def _link_text(text: str) -> str:
    return _line(text).replace("[", "(").replace("]", ")")


def _link_url(url: str) -> str:
    """Escape an address for the parentheses of a Markdown link."""
    return url.replace("(", "%28").replace(")", "%29")
