"""A small site that offers one thing of each content type, for tests of what pages declare."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

VIDEO_BYTES = bytes(range(256)) * 1200
SUBTITLES = "WEBVTT\n\n00:00.000 --> 00:04.000\nPut it on level.\n"
SIZES = "size,girth_cm\nS,52\nM,55\n"
GUIDE = b"PK not much of a guide"

_HELMET = """---
title: Fitting a helmet
description: How a helmet has to sit, step by step.
date: 2026-02-03
tags: [safety]
video:
  file: clips/helmet.mp4
  duration: 14:07
  width: 1280
  height: 720
  thumbnail: clips/level.png
  subtitles:
    - {lang: en, file: clips/helmet.en.vtt}
  chapters:
    - {title: Size, start: 0}
    - {title: Straps, start: "2:10"}
  alternate_formats:
    - {url: "https://cdn.example/helmet.m3u8", quality: adaptive}
images:
  - {file: clips/level.png, alt: A helmet that sits level}
  - {url: "https://cdn.example/tilted.jpg", alt: A tilted helmet, width: 640, height: 480}
---
A helmet sits level on the head, two fingers above the brows.
"""
_SIZES = """---
title: Helmet sizes
description: The girth of the head for each size.
downloads:
  - sizes.csv
  - {file: guide.epub, title: Printed guide, description: All of this on paper.}
  - {url: "https://cdn.example/all.zip", size_bytes: 9000000}
data: sizes.csv
schema: helmet-sizes
---
Measure your head with a tape above the brows.
"""
_TALK = """---
title: A talk with our fitter
audio:
  url: https://cdn.example/talk.mp3
  duration: 1:02:30
  transcript: talk.vtt
---
Our fitter talks about heads.
"""
_SOUP = """---
title: Pumpkin soup
description: What we cook on Fridays.
content_type: x-acme/recipe
payload:
  serves: 4
  ingredients: [pumpkin, salt]
  url: /not-completed
---
Friday is soup day in the shop.
"""


def picture(width: int, height: int) -> bytes:
    """A red PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\xff\0\0" * width) * height
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", head),
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        )
    )


def make_site(folder: Path) -> Path:
    """Write the site into a folder, which is made."""
    (folder / "guides" / "clips").mkdir(parents=True)
    (folder / "about.md").write_text("# About\n\nWe sell helmets and have done so since 1990.\n")
    (folder / "guides" / "helmet.md").write_text(_HELMET)
    (folder / "guides" / "sizes.md").write_text(_SIZES)
    (folder / "guides" / "talk.md").write_text(_TALK)
    (folder / "guides" / "talk.vtt").write_text(SUBTITLES)
    (folder / "soup.md").write_text(_SOUP)
    (folder / "guides" / "sizes.csv").write_text(SIZES)
    (folder / "guides" / "guide.epub.undeclared").write_bytes(b"nothing to see")
    (folder / "guides" / "guide.epub").write_bytes(GUIDE)
    clips = folder / "guides" / "clips"
    (clips / "helmet.mp4").write_bytes(VIDEO_BYTES)
    (clips / "helmet.en.vtt").write_text(SUBTITLES)
    (clips / "level.png").write_bytes(picture(8, 6))
    (clips / "undeclared.mp4").write_bytes(b"secret")
    return folder
