"""Renders the media and files that a page declares: video, audio, pictures, downloads.

Media that the desk serves appear in the page; others are links, because nothing is loaded from
another site.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aitp_desk.knowledge.media.payloads import Resource
from aitp_desk.model.calls.action import AUDIO, DOWNLOAD, IMAGE, VIDEO
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import Texts


def render_offers(resources: Sequence[Resource], texts: Texts) -> Markup:
    """Render all that a page declares, below its text; empty where it declares nothing."""
    shown = [
        *(_recording(resource, texts) for resource in resources if resource.content_type == VIDEO),
        *(_recording(resource, texts) for resource in resources if resource.content_type == AUDIO),
        *(
            _picture(image)
            for resource in resources
            if resource.content_type == IMAGE
            for image in resource.payload["images"]
        ),
    ]
    files = [_file(resource, texts) for resource in resources if resource.content_type == DOWNLOAD]
    if files:
        shown.append(
            fill_template(
                texts.template("<h2>{{page.download}}</h2>\n<ul>\n$files\n</ul>"),
                files=join_markup(files),
            )
        )
    return (
        fill_template('<div class="offers">\n$shown\n</div>', shown=join_markup(shown))
        if shown
        else Markup()
    )


def _recording(resource: Resource, texts: Texts) -> Markup:
    payload = resource.payload
    if not payload["stream_url"].startswith("/"):
        return _figure(
            _link(payload["stream_url"], texts.say("page.play", title=resource.title)), ""
        )
    if resource.content_type == AUDIO:
        player = fill_template(
            '<audio controls preload="none" src="$url"></audio>', url=payload["stream_url"]
        )
        return _figure(player, resource.title)
    player = fill_template(
        '<video controls preload="none" src="$url" width="$width" height="$height"$poster>\n'
        "$tracks\n</video>",
        url=payload["stream_url"],
        width=str(payload["width"]),
        height=str(payload["height"]),
        poster=_poster(payload["thumbnail_url"]),
        tracks=join_markup(map(_track, payload["subtitles"])),
    )
    return _figure(player, resource.title)


def _poster(url: str | None) -> Markup:
    return fill_template(' poster="$url"', url=url) if url and url.startswith("/") else Markup()


def _track(subtitle: dict[str, Any]) -> Markup:
    if not subtitle["url"].startswith("/"):
        return Markup()
    track = '<track kind="subtitles" srclang="$lang" label="$lang" src="$url">'
    return fill_template(track, lang=subtitle["lang"], url=subtitle["url"])


def _picture(image: dict[str, Any]) -> Markup:
    if not image["url"].startswith("/"):
        return _figure(_link(image["url"], image["alt"]), "")
    shown = fill_template(
        '<img src="$url" alt="$alt" width="$width" height="$height" loading="lazy">',
        url=image["url"],
        alt=image["alt"],
        width=str(image["width"]),
        height=str(image["height"]),
    )
    return _figure(shown, image["title"] or "")


def _file(resource: Resource, texts: Texts) -> Markup:
    payload = resource.payload
    return fill_template(
        texts.template("<li>$link ({{page.file}})</li>"),
        link=_link(payload["url"], payload["filename"]),
        kind=payload["mime_type"],
        size=f"{payload['size_bytes']:,}",
    )


def _link(url: str, words: str) -> Markup:
    return fill_template('<a href="$url">$words</a>', url=url, words=words)


def _figure(shown: Markup, caption: str) -> Markup:
    words = (
        fill_template("<figcaption>$caption</figcaption>", caption=caption) if caption else Markup()
    )
    return fill_template("<figure>\n$shown\n$words\n</figure>", shown=shown, words=words)
