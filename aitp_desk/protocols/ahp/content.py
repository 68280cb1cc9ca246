"""``/llms.txt``: the site's content document (AHP 0.1, section 5.1; the llms.txt convention).

A title, a summary, how to ask instead of reading, and the pages by folder with what each is about.
Pages from elsewhere stand below their server's name, with their own addresses.
"""

from __future__ import annotations

from aitp_desk.config import Site
from aitp_desk.knowledge.base import Document


def write_llms_txt(site: Site, documents: tuple[Document, ...]) -> str:
    """The content document in Markdown."""
    lines = [f"# {_line(site.name)}", ""]
    if site.description:
        lines += [f"> {_line(site.description)}", ""]
    lines += [
        "You need not read these pages: ask. This site speaks the Agent Handshake Protocol.",
        f"Its manifest is at {site.url}/.well-known/agent.json.",
        f"Questions go to POST {site.url}/agent/converse.",
        "",
    ]
    folders: dict[str, list[Document]] = {}
    for document in documents:
        folders.setdefault(document.folder, []).append(document)
    for folder in sorted(folders):
        named = folder if folders[folder][0].is_elsewhere else _heading(folder)
        lines += [f"## {named}", ""]
        for document in folders[folder]:
            url = document.url if document.is_elsewhere else site.url + document.url
            about = f": {_line(document.description)}" if document.description else ""
            lines.append(f"- [{_link_text(document.title)}]({_link_url(url)}){about}")
        lines.append("")
    return "\n".join(lines)


def _heading(folder: str) -> str:
    return folder.replace("/", " / ").replace("-", " ").capitalize() if folder else "Pages"


def _line(text: str) -> str:
    return " ".join(text.split())


def _link_text(text: str) -> str:
    return _line(text).replace("[", "(").replace("]", ")")


def _link_url(url: str) -> str:
    """An address within the parentheses of a link, which it must not end."""
    return url.replace("(", "%28").replace(")", "%29")
