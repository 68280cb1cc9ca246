"""Writes the component's settings: the loader's, and those of the open chat."""

from __future__ import annotations

import html
from collections.abc import Sequence

import msgspec

from aitp_desk.config import Files, Site, Widget
from aitp_desk.model.web_address import origin_of, web_address
from aitp_desk.web.bundle import put_constants
from aitp_desk.web.cards.assets import list_schemas
from aitp_desk.web.javascript.minifier import minify
from aitp_desk.web.widget.assets import (
    COMPONENT,
    ENGLISH,
    LAUNCHER_TEXTS,
    LOADER,
    LOADER_STYLE,
    PAGE,
    read_texts,
    squeeze_style,
)
from aitp_desk.web.widget.palette import make_palette

LOGO_PATH = "/widget/logo"
_KINDS = {
    "application/gzip": "GZ",
    "application/octet-stream": "…",
    "text/plain": "TXT",
    "image/webp": "WebP",
}


def list_languages(widget: Widget) -> tuple[str, ...]:
    """Return the languages that the chat may speak."""
    return widget.languages or tuple(read_texts())


def list_greeted(widget: Widget, site: Site) -> tuple[str, ...]:
    """Return the languages that visitors' browsers may choose.

    Those that the owner has set; else the site's, if it names one besides English; else all.
    """
    languages = list_languages(widget)
    own = {tag.partition("-")[0].lower() for tag in (site.language, *site.languages)}
    stated = tuple(language for language in languages if language in own)
    return languages if widget.languages or own == {ENGLISH} else stated or languages


def find_language(wanted: str, widget: Widget, site: Site) -> str:
    """Return the chat's language for a language tag: that, or the site's, or its first."""
    languages = list_languages(widget)
    for tag in (wanted, site.language):
        language = tag.partition("-")[0].lower()
        if language in languages:
            return language
    return languages[0]


def write_loader(version: str, widget: Widget, site: Site) -> bytes:
    """Return ``/widget.js``: a constant with what the button needs, then the loader.

    It has the button's texts in English and the site's language; it fetches others.
    """
    catalogue = read_texts()
    languages = list_languages(widget)
    own = find_language("", widget, site)
    told = {
        "version": version,
        "corner": widget.corner,
        "language": own,
        "languages": languages,
        "greeted": list_greeted(widget, site),
        "texts": {
            language: [catalogue[language][name] for name in LAUNCHER_TEXTS]
            for language in dict.fromkeys((own, ENGLISH))
            if language in languages
        },
        "style": squeeze_style((COMPONENT / LOADER_STYLE).read_bytes()).decode()
        + _write_palette(widget.accent),
    }
    return b"const DESK = %s;\n%s" % (
        msgspec.json.encode(told),
        minify(put_constants((COMPONENT / LOADER).read_text("utf-8"))).encode(),
    )


def _write_palette(accent: str) -> str:
    """Return the owner's colours as a rule; empty for the chat's own."""
    if not accent:
        return ""
    palette = make_palette(accent)
    return (
        f":host{{--accent:{palette.accent};--on-accent:{palette.on_accent};"
        f"--link-light:{palette.light};--link-dark:{palette.dark}}}"
    )


def write_settings(
    widget: Widget,
    site: Site,
    suggestions: Sequence[str],
    files: Files,
    *,
    retention_days: int = 0,
    answer_minutes: int = 0,
    has_people: bool = False,
) -> bytes:
    """Return what the open chat shows besides its texts.

    Parameters:
        suggestions: questions from the content, for an owner who has set none.
        files: limits of uploads.
        retention_days: how long messages are kept; 0 for no limit.
        has_people: whether visitors may ask for a person.
        answer_minutes: how long visitors wait for a person before an address is asked for.
    """
    return msgspec.json.encode(
        {
            "site": site.name,
            "desk": site.url,
            "capabilities": [{"schema": schema} for schema in list_schemas(site.url)],
            "title": widget.title or site.name,
            "greeting": widget.greeting,
            "placeholder": widget.placeholder,
            "suggestions": widget.suggestions or suggestions,
            "sign_in": _on_site(widget.sign_in_url, site),
            "privacy": _on_site(widget.privacy_url, site),
            "consent": widget.consent,
            "paths": widget.paths,
            "logo": _find_logo_address(widget),
            "logo_alt": widget.logo_alt,
            "kept_days": retention_days if widget.show_retention else 0,
            "sound": widget.sound,
            "files": _write_upload_limits(files),
            "answer_minutes": answer_minutes,
            "people": has_people and widget.ask_person,
        }
    )


def _write_upload_limits(files: Files) -> dict[str, object]:
    """Return the limits of uploads: for the chat, for people, and for the browser's dialog."""
    mega = files.max_bytes / 1024**2
    size = f"{mega:.3g} MB" if mega >= 1 else f"{files.max_bytes // 1024} KB"
    kinds = (_KINDS.get(kind) or kind.partition("/")[2].upper() for kind in files.types)
    return {
        "anonymous": files.anonymous,
        "max_bytes": files.max_bytes,
        "rules": {"size": size, "kinds": ", ".join(kinds)},
        # many kinds of text have a type of their own, which the desk accepts as text
        "accept": ",".join(files.types).replace("text/plain", "text/*"),
    }


def write_visitor(caller: str | None, chat: tuple[str, int] | None) -> bytes:
    """Return who the visitor is to the desk.

    Parameters:
        caller: id of the known caller; None without a credential.
        chat: the thread of its open chat, and the number of its newest event.
    """
    thread_id, last_event = chat or (None, 0)
    return msgspec.json.encode({"caller": caller, "thread_id": thread_id, "last_event": last_event})


def write_page(version: str, widget: Widget, site: Site, wanted: str) -> bytes:
    """Return the page that other sites frame: the chat fills it.

    Parameters:
        wanted: the language that the frame's address names.
    """
    language = find_language(wanted, widget, site)
    title = html.escape(widget.in_language(language).title or site.name)
    page = (COMPONENT / PAGE).read_text("utf-8")
    page = page.replace("$language", language).replace("$version", version)
    return page.replace("$title", title).encode()


def write_tag(url: str) -> str:
    """Return the tags that put the chat on a page."""
    return f'<script type="module" src="{url}/widget.js"></script>\n<aitp-chat></aitp-chat>'


def write_frame(url: str, title: str) -> str:
    """Return the frame for pages that allow no script."""
    return (
        f'<iframe src="{url}/widget" title="{html.escape(title)}"'
        ' width="100%" height="640" frameborder="0"></iframe>'
    )


def write_policy(origin: str, logo: str = "") -> str:
    """Return what a page's Content-Security-Policy has to allow.

    Parameters:
        origin: of the desk.
        logo: as in the settings.
    """
    pictures = " ".join(dict.fromkeys((origin, *find_logo_origin(logo))))
    return f"script-src {origin}; connect-src {origin}; img-src {pictures}"


def find_logo_origin(logo: str) -> tuple[str, ...]:
    """Return the origin of a logo on another site; none for a file."""
    address = web_address(logo)
    return () if address is None else (origin_of(address),)


def _find_logo_address(widget: Widget) -> str:
    """Return where browsers find the logo: a path of the desk, or a URL; empty without one."""
    is_file = widget.logo and web_address(widget.logo) is None
    return LOGO_PATH if is_file else widget.logo


def _on_site(address: str, site: Site) -> str:
    return site.url + address if address.startswith("/") else address
