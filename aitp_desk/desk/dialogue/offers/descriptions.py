"""Describes a resource as text, for readers of the answer without its payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aitp_desk.knowledge.media.payloads import Resource
from aitp_desk.model.calls.action import AUDIO, DATA, DOWNLOAD, IMAGE, VIDEO
from aitp_desk.model.text import write_count

_MOST_PICTURES = 4
_MOST_CHAPTERS = 8


def describe(resource: Resource, payload: Mapping[str, Any], page_url: str) -> str:
    """Describe a resource in a few sentences, with its address.

    Parameters:
        payload: the resource's, with absolute addresses.
        page_url: of the page that declares it.
    """
    match resource.content_type:
        case kind if kind in {VIDEO, AUDIO}:
            thing = "video" if kind == VIDEO else "recording"
            lasts = _lasts(payload["duration_seconds"])
            said = [f"The {thing} “{resource.title}” ({lasts}) is at {payload['stream_url']}."]
            said += [_ended(resource.description), *_of_recording(payload)]
        case kind if kind == IMAGE:
            said = _pictures(payload["images"])
        case kind if kind == DOWNLOAD:
            what = f"{payload['mime_type']}, {_bytes(payload['size_bytes'])}"
            said = [f"The file {payload['filename']} ({what}) is at {payload['url']}."]
            said.append(_ended(resource.description))
        case kind if kind == DATA:
            records = payload["data"].get("records")
            count = f" {write_count(len(records), 'record')}." if isinstance(records, list) else ""
            said = [f"“{resource.title}” as data.{count}", _ended(resource.description)]
            said.append(f"It belongs to the page {page_url}.")
        case _:
            said = [f"“{resource.title}”, at {page_url}.", _ended(resource.description)]
    return " ".join(filter(None, said))


def _of_recording(payload: Mapping[str, Any]) -> list[str]:
    said = []
    if subtitles := payload.get("subtitles"):
        said.append(f"Subtitles: {', '.join(one['lang'] for one in subtitles)}.")
    if transcript := payload.get("transcript_url"):
        said.append(f"A transcript is at {transcript}.")
    if chapters := payload["chapters"]:
        named = [f"{_clock(one['start_seconds'])} {one['title']}" for one in chapters]
        more = ", …" if len(named) > _MOST_CHAPTERS else ""
        said.append(f"Chapters: {', '.join(named[:_MOST_CHAPTERS])}{more}.")
    return said


def _pictures(images: list[dict[str, Any]]) -> list[str]:
    named = [f"{image['alt']} ({image['url']})" for image in images[:_MOST_PICTURES]]
    if len(images) == 1:
        return [f"The picture shows: {named[0]}."]
    more = f"; and {len(images) - len(named)} more" if len(images) > len(named) else ""
    return [f"{len(images)} pictures: {'; '.join(named)}{more}."]


def _lasts(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def _bytes(size: int) -> str:
    if size < 1000:
        return write_count(size, "byte")
    power = 1 if size < 999_500 else 2 if size < 999_500_000 else 3
    value = size / 1000**power
    said = f"{value:.3g}" if value < 100 else f"{value:.0f}"
    return f"{said} {('kB', 'MB', 'GB')[power - 1]}"


def _ended(text: str) -> str:
    """Return a description as a sentence."""
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."
