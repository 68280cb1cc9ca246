"""The client of S3 services: its access key, its certificates, and what it asks for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aitp_desk.config.sections.files import S3
from aitp_desk.store.base import StoreError
from aitp_desk.store.contents.access_key import AccessKey, read_access_key
from aitp_desk.store.contents.faults import BucketFault
from aitp_desk.store.contents.s3 import S3Bucket
from tests.support.servers.certificates import Authority
from tests.support.store.s3_process import ACCESS_KEY, SECONDS, URL, S3Process

KEY = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hunter2"}


def test_an_access_key_comes_from_the_environment() -> None:
    assert read_access_key(S3(), Path(), {}) is None
    assert read_access_key(S3(), Path(), KEY) == AccessKey("id", "hunter2")
    token = {**KEY, "AWS_SESSION_TOKEN": "temporary"}
    assert read_access_key(S3(), Path(), token) == AccessKey("id", "hunter2", "temporary")
    named = S3(access_key_env="ID", secret_key_env="SECRET")
    assert read_access_key(named, Path(), {"ID": "1", "SECRET": "2"}) == AccessKey("1", "2")


@pytest.mark.parametrize("present", list(KEY))
def test_half_an_access_key_is_refused(present: str) -> None:
    (absent,) = KEY.keys() - {present}
    with pytest.raises(StoreError, match=f"{absent} is empty") as refused:
        read_access_key(S3(), Path(), {present: KEY[present]})
    assert "hunter2" not in str(refused.value)


def test_an_access_key_comes_from_a_file(tmp_path: Path) -> None:
    settings = S3(credentials_file="s3.key")
    file = tmp_path / "s3.key"
    with pytest.raises(StoreError, match="cannot be read"):
        read_access_key(settings, tmp_path, KEY)
    file.write_text("[default]\naws_access_key_id = a\naws_secret_access_key = b%c\n")
    assert read_access_key(settings, tmp_path, KEY) == AccessKey("a", "b%c")
    for wrong in ("hunter2", "[default]\nhunter2", "[other]\naws_access_key_id = hunter2", ""):
        file.write_text(wrong)
        with pytest.raises(StoreError, match="has no section") as refused:
            read_access_key(settings, tmp_path, KEY)
        assert "hunter2" not in str(refused.value)


@asynccontextmanager
async def listening(heads: list[str]) -> AsyncIterator[int]:
    """A server that notes the heads of requests and confirms each; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b'HTTP/1.1 200 OK\r\nETag: "x"\r\nContent-Length: 0\r\n\r\n')
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    ("settings", "line", "headers"),
    [
        ({}, "PUT /desk-files/shop/files/1 HTTP/1.1", {}),
        ({"path_style": False}, "PUT /shop/files/1 HTTP/1.1", {}),
        ({"encryption": "AES256"}, "PUT /desk-", {"x-amz-server-side-encryption": "AES256"}),
        (
            {"encryption": "aws:kms", "kms_key": "k1"},
            "PUT /desk-",
            {
                "x-amz-server-side-encryption": "aws:kms",
                "x-amz-server-side-encryption-aws-kms-key-id": "k1",
            },
        ),
        ({"region": "eu-south-2"}, "PUT /desk-", {"authorization": "/eu-south-2/s3/aws4_request"}),
    ],
)
async def test_settings_are_part_of_requests(
    settings: dict[str, object], line: str, headers: dict[str, str]
) -> None:
    heads: list[str] = []
    async with listening(heads) as port:
        service = S3(endpoint=f"http://127.0.0.1:{port}", seconds=5, **settings)  # type: ignore[arg-type]
        bucket = S3Bucket(URL, service, folder=Path(), environment=KEY)
        await bucket.write("files/1", b"Notes.")
    (head,) = heads
    assert head.startswith(line)
    sent = dict(one.split(": ", 1) for one in head.splitlines()[1:] if one)
    sent = {name.lower(): value for name, value in sent.items()}
    assert "hunter2" not in head
    for name, value in headers.items():
        assert value in sent[name]


@pytest.mark.servers
async def test_a_certificate_is_verified(tmp_path: Path) -> None:
    authority, other = Authority(tmp_path, "authority"), Authority(tmp_path, "other")
    server = S3Process(tmp_path / "objects")
    server.start(certificate=authority.sign("server", "127.0.0.1"))
    try:
        for trusted, is_accepted in ((None, False), (other, False), (authority, True)):
            service = S3(
                endpoint=f"https://127.0.0.1:{server.port}",
                seconds=SECONDS,
                ca_file="" if trusted is None else str(trusted.file),
            )
            bucket = S3Bucket(URL, service, folder=tmp_path, environment=ACCESS_KEY)
            if is_accepted:
                await bucket.try_requests()
            else:
                with pytest.raises(BucketFault, match="does not answer"):
                    await bucket.try_requests()
    finally:
        server.kill()


def test_an_authority_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"files\.s3\.ca_file cannot be read"):
        S3Bucket(URL, S3(ca_file="absent.pem"), folder=tmp_path, environment=KEY)
