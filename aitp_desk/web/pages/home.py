"""Renders the home page: description, chat, pages, protocols."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.config import Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.documents.titles import folder_name
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.ahp.content import FULL_CONTENT_PATH
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH
from aitp_desk.web.pages.blocks.brand import PLAIN, Brand
from aitp_desk.web.pages.blocks.samples import write_samples
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import Texts, find_language_tag, find_texts
from aitp_desk.web.pages.renderer import NOTHING, read_template, render_ask, render_frame

MOST_IN_FOLDER = 60
"""How many pages a folder lists; ``/llms.txt`` lists them all."""

_HOME = read_template("home.html")
_AGENTS = read_template("agents.html")
_BAND = read_template("band.html")
_SHORT = '<p class="intro">{{home.programs}} <a href="$api">{{home.programs.more}}</a></p>'
_ADDRESSES = (
    ("GET", "/.well-known/agent.json", "agents.manifest"),
    ("GET", CONTENT_PATH, "agents.list"),
    ("GET", FULL_CONTENT_PATH, "agents.full"),
    ("POST", "/agent/converse", "agents.converse"),
    ("POST", "/v1/thread", "agents.open"),
    ("GET", "/v1/threads/{id}", "agents.read"),
    ("GET", "/v1/threads/{id}/messages", "agents.messages"),
    ("POST", "/v1/threads/{id}/messages", "agents.say"),
    ("GET", "/health", "agents.health"),
    ("GET", "/ready", "agents.ready"),
)


def render_home(
    site: Site,
    documents: Sequence[Document],
    examples: Sequence[str],
    rows: Sequence[tuple[str, str, str]] = (),
    api: str = "",
    acts: Sequence[Action] = (),
    brand: Brand = PLAIN,
    inspector: Markup = NOTHING,
    sign_in: str = "",
) -> bytes:
    """Render the home page.

    Parameters:
        documents: the site's content.
        examples: questions that the content answers.
        rows: method and path of further addresses, and the key of their text.
        api: the path of the page for developers; where there is none, the addresses are here.
        acts: the actions that the chat offers.
        inspector: the panel that shows how answers were found.
        sign_in: the page where visitors sign in; empty without one.
    """
    texts = find_texts(site.language)
    main = fill_template(
        texts.template(_HOME),
        site=site.name,
        description=site.description or texts.say("home.description", site=site.name),
        read=texts.count("home.read", len(documents)),
        ask=render_ask(texts, acts, sign_in, _find_contact(site)),
        inspector=inspector,
        pages=render_pages(texts, "home.pages", documents, MOST_IN_FOLDER),
        agents=render_agents(
            texts,
            fill_template(texts.template(_SHORT), api=api)
            if api
            else _render_addresses(site, texts, examples, rows),
        ),
    )
    return render_frame(
        site,
        main,
        title=texts.say("home.title", site=site.name),
        description=site.description or texts.say("home.preview", site=site.name),
        markdown=CONTENT_PATH,
        texts=texts,
        language=find_language_tag(site.language),
        brand=brand,
    )


def _find_contact(site: Site) -> str:
    email = site.contact.email
    return site.contact_url or (f"mailto:{email}" if email else "")


def _render_addresses(
    site: Site, texts: Texts, examples: Sequence[str], rows: Sequence[tuple[str, str, str]]
) -> Markup:
    """Render the addresses for programs, with examples of requests."""
    return fill_template(
        texts.template(_AGENTS),
        url=fill_template("<code>$url</code>", url=site.url),
        addresses=join_markup(_address(*row, texts) for row in (*_ADDRESSES, *rows)),
        **write_samples(site.url, examples),
    )


def render_pages(
    texts: Texts, title: str, documents: Sequence[Document], most: int | None = None
) -> Markup:
    """Render the part that lists the pages by folder.

    Parameters:
        title: key of its title.
        most: how many a folder lists; None for all.
    """
    folders = _folders(texts, documents, most)
    content = fill_template('<div class="folders">\n$folders\n</div>', folders=folders)
    return _band("desk.pages", texts.say(title), content)


def render_agents(texts: Texts, content: Markup) -> Markup:
    """Render the part that tells agents how to reach the desk."""
    return _band("desk.agents", texts.say("layout.agents"), content)


def _band(place: str, title: str, content: Markup) -> Markup:
    return fill_template(_BAND, place=place, title=title, content=content)


def _folders(texts: Texts, documents: Sequence[Document], most: int | None) -> Markup:
    if not documents:
        return fill_template(texts.template("<p>{{home.empty}}</p>"))
    folders: dict[str, list[Document]] = {}
    for document in documents:
        folders.setdefault(document.folder.partition("/")[0], []).append(document)
    return join_markup(_folder(texts, name, folders[name], most) for name in sorted(folders))


def _folder(texts: Texts, name: str, documents: Sequence[Document], most: int | None) -> Markup:
    entry = '<li><a href="$url">$title</a>$about</li>'
    entries = [
        fill_template(
            entry,
            url=document.url,
            title=document.title,
            about=fill_template("<span>$it</span>", it=document.description)
            if document.description
            else "",
        )
        for document in documents[:most]
    ]
    rest = len(documents) - len(entries)
    if rest > 0:
        entries.append(
            fill_template(
                '<li><a href="/llms.txt">$rest</a></li>', rest=texts.count("home.more", rest)
            )
        )
    return fill_template(
        '<section class="folder"><h3>$name</h3><ul>\n$entries\n</ul></section>',
        name=_heading(texts, name, documents[0]),
        entries=join_markup(entries),
    )


def _heading(texts: Texts, folder: str, first: Document) -> str:
    if first.is_elsewhere:
        return folder
    return folder_name(folder) if folder else texts.say("home.general")


def _address(method: str, path: str, purpose: str, texts: Texts) -> Markup:
    return fill_template(
        "<dt><code><b>$method</b> $path</code></dt><dd>$purpose</dd>",
        method=method,
        path=path,
        purpose=texts.say(purpose),
    )
