"""Serves files at the addresses of the OpenAI Files API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.protocols.aitp import files_wire, wire
from aitp_desk.protocols.base.multipart import OVERHEAD
from aitp_desk.protocols.base.protocol import FORM, Call, Reply, Route


async def upload_file(desk: Desk, call: Call) -> Reply:
    """``POST /v1/files``."""
    # in a thread: parsing many megabytes would block all other requests
    content_type = call.headers.get("Content-Type")
    given = await asyncio.to_thread(files_wire.decode_upload, content_type, call.body)
    file = await desk.files.save_file(
        call.principal, given.name, given.purpose, given.data, given.seconds
    )
    return files_wire.encode_file(file)


async def list_files(desk: Desk, call: Call) -> Reply:
    """``GET /v1/files``."""
    part = files_wire.decode_list(call.query)
    page = await desk.files.list_files(call.principal, part, call.query.get("purpose", ""))
    return files_wire.encode_files(page)


async def retrieve_file(desk: Desk, call: Call) -> Reply:
    """``GET /v1/files/{id}``."""
    return files_wire.encode_file(await desk.files.get_file(call.principal, call.params["file_id"]))


async def read_content(desk: Desk, call: Call) -> Reply:
    """``GET /v1/files/{id}/content``."""
    file, pieces = await desk.files.read_content(call.principal, call.params["file_id"])
    return files_wire.encode_content(file, pieces)


async def delete_file(desk: Desk, call: Call) -> Reply:
    """``DELETE /v1/files/{id}``."""
    await desk.files.delete_file(call.principal, call.params["file_id"])
    return wire.encode_deleted(call.params["file_id"], "file")


def _admit_upload(desk: Desk, principal: Principal) -> Callable[[], None]:
    return desk.files.admit_upload(principal)


def make_routes(max_bytes: int) -> tuple[Route, ...]:
    """Return the routes of files.

    Parameters:
        max_bytes: the largest file.
    """
    file = "/v1/files/{file_id}"
    return (
        Route(
            "POST",
            "/v1/files",
            upload_file,
            "converse",
            max_bytes + OVERHEAD,
            media_type=FORM,
            admit=_admit_upload,
        ),
        Route("GET", "/v1/files", list_files, "static"),
        Route("GET", file, retrieve_file, "static"),
        Route("GET", f"{file}/content", read_content, "static"),
        Route("DELETE", file, delete_file, "converse"),
    )
