"""Renders whole pages as bytes: the common frame, content pages, errors.

Pure functions. Every page carries the three marks by which agents find the desk: the link tag, the
meta tag and the in-page notice (AHP 0.1, sections 3.3 and 3.4; whitepaper, section 2.4.1).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from urllib.parse import unquote

import msgspec

from aitp_desk.config import Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.documents.languages import group_versions
from aitp_desk.knowledge.documents.titles import folder_name
from aitp_desk.knowledge.media.payloads import Resource
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.base.discovery_links import write_head_tags, write_notice
from aitp_desk.web.pages.assets import ICON, SCRIPTS, STYLE
from aitp_desk.web.pages.blocks.action_forms import render_actions
from aitp_desk.web.pages.blocks.article import write_article
from aitp_desk.web.pages.blocks.brand import PLAIN, Brand
from aitp_desk.web.pages.blocks.contents import Contents
from aitp_desk.web.pages.blocks.offers import render_offers
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import ENGLISH, Texts, find_language_tag, find_texts


def read_template(name: str) -> str:
    """Read a template of this package."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


NOTHING = Markup()


class PageIndex(msgspec.Struct, frozen=True):
    """Indexes of all documents, made once for many pages.

    Parameters:
        urls: addresses by source, for links from file to file.
        by_path: documents by path, for the breadcrumbs.
        versions: of documents in several languages, the versions by language.
    """

    urls: Mapping[str, str]
    by_path: Mapping[str, Document]
    versions: Mapping[str, Mapping[str, Document]]


class Frame(msgspec.Struct, frozen=True):
    """The frame of a page: one for a desk, another for a static site.

    Parameters:
        home: the name of the home page.
        here: the menu's label for screen readers.
        nav: the menu.
        script: the element that loads the script; empty for none.
        policy: the CSP as an element; empty where a header has it.
        promise: the footer's sentence; ``$site`` is the site's name.
        notice: to agents.
        search: the form of the search, with ``$query``; empty for none.
    """

    home: str
    here: str
    nav: Markup
    script: Markup
    policy: Markup
    promise: str
    notice: Markup
    search: str = ""


_SEARCH = read_template("search.html")


@cache
def desk_frame(texts: Texts) -> Frame:
    """Return the frame of a desk's pages."""
    nav = (
        '<a href="/#desk.ask">{{layout.ask}}</a>\n<a href="/#desk.pages">{{layout.pages}}</a>\n'
        '<a href="/#desk.agents">{{layout.agents}}</a>'
    )
    url = SCRIPTS[texts.language].url
    return Frame(
        home=texts.say("page.home"),
        here=texts.say("layout.here"),
        nav=fill_template(texts.template(nav)),
        script=fill_template('<script type="module" src="$url"></script>', url=url),
        policy=NOTHING,
        promise=texts.template("{{layout.promise}}"),
        notice=Markup(write_notice()),
        search=texts.template(_SEARCH),
    )


_LAYOUT = read_template("layout.html")
_ASK = read_template("ask.html")
_KEY = read_template("key.html")
_PAGE = read_template("page.html")
_ERROR = read_template("error.html")


def render_frame(
    site: Site,
    main: Markup,
    *,
    title: str,
    description: str,
    markdown: str = "",
    texts: Texts,
    frame: Frame | None = None,
    language: str,
    versions: Markup = NOTHING,
    query: str = "",
    brand: Brand = PLAIN,
) -> bytes:
    """Render a whole page around its main part.

    Parameters:
        main: the part between header and footer.
        title: for the browser's tab.
        description: for search engines and previews.
        markdown: the address of the page as Markdown; empty where there is none.
        frame: by default that of a desk.
        language: tag of the language of the page's text.
        versions: links to the page in other languages.
        query: what the search box holds.
    """
    alternate = '<link rel="alternate" type="text/markdown" href="$it">'
    frame = frame or desk_frame(texts)
    return fill_template(
        texts.template(_LAYOUT),
        language=language,
        versions=versions,
        title=title,
        description=description,
        site=site.name,
        main=main,
        contact=_contact(site, texts),
        alternate=_line(alternate, markdown),
        tags=Markup(write_head_tags()),
        icon=ICON.url,
        style=STYLE.url,
        brand_style=brand.style_tag,
        logo=brand.logo_tag,
        script=frame.script,
        policy=frame.policy,
        search=fill_template(frame.search, query=query) if frame.search else NOTHING,
        here=frame.here,
        nav=frame.nav,
        promise=fill_template(frame.promise, site=site.name),
        notice=frame.notice,
    ).encode()


def render_ask(
    texts: Texts, acts: Sequence[Action], sign_in: str = "", contact: str = ""
) -> Markup:
    """Render the chat of the home page, and what it offers to do.

    Parameters:
        acts: the actions that it offers; if one needs a key, there is a form for it.
        sign_in, contact: as of :func:`render_actions`.
    """
    needs_key = any(act.open_to != "anyone" for act in acts)
    return fill_template(
        texts.template(_ASK),
        acts=render_actions(acts, texts, sign_in, contact),
        key=fill_template(texts.template(_KEY)) if needs_key else NOTHING,
    )


def render_chat(document: Document, topics: Sequence[str]) -> Markup:
    """Render the chat of a page: a button in a corner.

    Parameters:
        topics: what it suggests to ask about.
    """
    told = [topic for topic in topics if topic != document.title]
    asked = "|".join(f"{document.title}: {topic}".replace("|", "/") for topic in told)
    return fill_template(
        '<script type="module" src="/widget.js"></script>\n'
        "<aitp-chat$suggestions$language></aitp-chat>",
        suggestions=_line(' data-suggestions="$it"', asked),
        language=_line(' lang="$it"', document.language),
    )


def make_page_index(site: Site, documents: Sequence[Document]) -> PageIndex:
    """Index the documents of a site, for rendering each of them."""
    return PageIndex(
        urls={document.source: document.url for document in documents},
        by_path={document.path: document for document in documents},
        versions=group_versions(documents, site.language),
    )


def render_page(
    site: Site,
    document: Document,
    neighbours: PageIndex,
    topics: Sequence[str] | None,
    frame: Frame | None = None,
    offers: Sequence[Resource] = (),
    pictures: Collection[str] = (),
    brand: Brand = PLAIN,
) -> bytes:
    """Render a page of the content.

    Parameters:
        neighbours: all documents, this one too.
        topics: headings of the page to ask about; None for a page without a chat.
        offers: what the page declares in addition to its text.
        pictures: the addresses of the files that are served.
    """
    texts = find_texts(site.language)
    article = write_article(document, neighbours.urls, pictures, marks_code=True)
    contents = Contents(article.headings, texts)
    home = (frame or desk_frame(texts)).home
    main = fill_template(
        texts.template(_PAGE),
        layout=" with-contents" if contents.adjacent else "",
        crumbs=_crumbs(document, neighbours.by_path, home),
        adjacent=contents.adjacent,
        folded=contents.folded,
        title=article.title,
        anchor=fill_template(' id="$anchor"', anchor=article.anchor) if article.anchor else "",
        description=_line('<p class="lead">$it</p>', document.description),
        updated=_updated(document.updated, texts),
        body=article.body,
        offers=render_offers(offers, texts),
        chat=NOTHING if topics is None else render_chat(document, topics),
    )
    return render_frame(
        site,
        main,
        title=f"{document.title} · {site.name}",
        description=document.description
        or texts.say("page.description", title=document.title, site=site.name),
        texts=texts,
        frame=frame,
        markdown=document.markdown_url,
        language=document.language or site.language,
        versions=_versions(site, document, neighbours),
        brand=brand,
    )


def render_error_page(
    site: Site,
    *,
    status: int,
    words: str,
    message: str,
    is_needed: bool,
    home: str = "/",
    brand: Brand = PLAIN,
) -> bytes:
    """Render a refusal or a fault for a person.

    Parameters:
        words: key of a short description; with ``.advice``, of what to do now.
        message: the desk's message about this case, in English.
        is_needed: whether the message adds to the page's own text.
        home: the address of the desk.
    """
    texts = find_texts(site.language)
    heading, is_english = texts.say(words), texts.language == ENGLISH
    lead = '<p class="lead">$it</p>' if is_english else '<p class="lead" lang="en">$it</p>'
    main = fill_template(
        texts.template(_ERROR),
        status=str(status),
        heading=heading,
        message=_line(lead, message if is_english or is_needed else ""),
        advice=texts.say(f"{words}.advice"),
        home=home,
    )
    return render_frame(
        site,
        main,
        title=f"{heading} · {site.name}",
        description=message if is_english else heading,
        texts=texts,
        language=find_language_tag(site.language),
        brand=brand,
    )


def _updated(date: str | None, texts: Texts) -> Markup:
    """Render the date of a page's update, if it has one."""
    if not date:
        return NOTHING
    time = fill_template('<time datetime="$it">$it</time>', it=date)
    return fill_template(texts.template('<p class="updated">{{page.updated}}</p>'), date=time)


def _crumbs(document: Document, by_path: Mapping[str, Document], home: str) -> Markup:
    """Render the path from the top to the page; missing folders stay unlinked."""
    steps = [fill_template('<li><a href="/">$home</a></li>', home=home)]
    above = document.path.split("/")[:-1]
    for depth, segment in enumerate(above, start=1):
        folder = by_path.get("/".join(above[:depth]))
        if folder is None:
            steps.append(fill_template("<li>$name</li>", name=folder_name(unquote(segment))))
        else:
            link = '<li><a href="$url">$name</a></li>'
            steps.append(fill_template(link, url=folder.url, name=folder.title))
    steps.append(fill_template('<li aria-current="page">$name</li>', name=document.title))
    return join_markup(steps)


def _versions(site: Site, document: Document, neighbours: PageIndex) -> Markup:
    """Link a page's versions by language, itself included; the site's language is the default.

    Search engines require absolute URLs, and the same links on every version.
    """
    link = '<link rel="alternate" hreflang="$language" href="$url">'
    found = neighbours.versions.get(document.version_of or document.path, {})
    urls = {tag: site.url + version.url for tag, version in found.items()}
    if site.language in urls:
        urls["x-default"] = urls[site.language]
    return join_markup(
        (fill_template(link, language=tag, url=url) for tag, url in urls.items()), "\n"
    )


def _line(template: str, value: str | None) -> Markup:
    return fill_template(template, it=value) if value else Markup()


def _contact(site: Site, texts: Texts) -> Markup:
    """Render the site's contact data, as far as it is set."""
    ways = []
    if site.contact.email:
        ways.append(fill_template('<a href="mailto:$mail">$mail</a>', mail=site.contact.email))
    if site.contact.phone:
        dialled = "".join(sign for sign in site.contact.phone if sign in "+0123456789")
        ways.append(
            fill_template(
                '<a href="tel:$number">$phone</a>', number=dialled, phone=site.contact.phone
            )
        )
    if site.contact.url.startswith(("https://", "http://", "/")):
        contact = '<a href="$url">{{layout.contact}}</a>'
        ways.append(fill_template(texts.template(contact), url=site.contact.url))
    return fill_template("<p>$ways</p>", ways=join_markup(ways, " · ")) if ways else Markup()
