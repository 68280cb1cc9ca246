"""The files of the desk's messages, as a platform gets them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Attachment
from aitp_desk.model.errors import FileNotFound
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.messages import Bounds, OutgoingFile

_MARKS = re.compile(r"([\\\[\]*_`<>])")
"""What means something within the label of a link in Markdown."""


async def read_attachments(
    desk: Desk,
    principal: Principal,
    attachments: Sequence[Attachment],
    *,
    bounds: Bounds,
    language: str,
) -> tuple[tuple[OutgoingFile, ...], str]:
    """Return the files of a message, and what its text says of others.

    Parameters:
        principal: the reader.
        bounds: of the platform; of a file that it does not take there is a link.
        language: of the text (BCP 47).

    Raises:
        Unavailable: a file cannot be read now.
    """
    files: list[OutgoingFile] = []
    lines: list[str] = []
    room = bounds.file_bytes
    for attachment in attachments:
        try:
            file = await desk.files.get_file(principal, attachment.file_id)
            most = bounds.file_types.get(file.media_type, 0) if bounds.file_types else room
            if not 0 < file.size <= min(room, most):
                url = f"{desk.site.url}{desk.base_path}/v1/files/{file.id}/content"
                label = _MARKS.sub(r"\\\1", file.name)
                lines.append(f"[{label}]({url})")
                continue
            _, pieces = await desk.files.read_content(principal, file.id)
        except FileNotFound:  # it was deleted, has expired, or belongs to somebody else
            lines.append(say("file_missing", language))
            continue
        data = b"".join([piece async for piece in pieces])
        room -= len(data)
        files.append(OutgoingFile(name=file.name, content_type=file.media_type, data=data))
    return tuple(files), "\n\n".join(dict.fromkeys(lines))
