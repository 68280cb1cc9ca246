"""Processes of one desk share the files of a bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients.threads import Talker
from tests.support.desk.desk_cluster import serving_cluster
from tests.support.store.postgres import PostgresServer
from tests.support.store.s3_process import S3Process

pytestmark = pytest.mark.servers


async def read(who: Talker, file: str) -> bytes:
    path, headers = f"/v1/files/{file}/content", dict(who.credentials)
    async with who.http.get(path, headers=headers) as response:
        assert response.status == 200
        return await response.read()


async def test_a_file_is_uploaded_at_one_process_and_used_at_another(
    postgres: PostgresServer, s3_server: S3Process, tmp_path: Path
) -> None:
    async with serving_cluster(
        postgres, tmp_path, *s3_server.settings, database="shared_files"
    ) as cluster:
        assert any("files      new ones in s3://" in line for line in cluster.served.report)
        key = await cluster.make_key("threads", name="owner")
        first, second = cluster.talkers(key)
        file = (await first.upload(data=b"Of the first.")).id
        other = (await second.upload(data=b"Of the second.")).id
        assert await read(second, file) == b"Of the first."
        assert await read(first, other) == b"Of the second."
        opened = await second.open({"content": "Look.", "attachments": [{"file_id": file}]})
        assert opened.ok
        assert (await second.send("DELETE", f"/v1/files/{file}")).ok
        gone = await first.send("GET", f"/v1/files/{file}/content")
        assert gone.refusal == (404, "file_not_found", "file_id")
        assert await read(first, other) == b"Of the second."
