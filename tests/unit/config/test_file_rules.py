"""Where uploaded files may be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.config.test_rules import told

BUCKET = "files.store=s3://shop-files/desk"


@pytest.mark.parametrize(
    "store",
    [
        "database",
        "s3://shop-files",
        "s3://shop-files/",
        "s3://shop.files-2/a/b_c",
        "s3://abc/desk/",
    ],
)
def test_files_are_kept_in_the_database_or_a_bucket(tmp_path: Path, store: str) -> None:
    assert told(tmp_path, f"files.store={store}") == {}


@pytest.mark.parametrize(
    "store",
    [
        *("s3:shop", "s3://", "s3://ab", "s3://Shop", "s3://shop_files", "s3://-shop"),
        *("s3://shop/../other", "s3://shop/a//b", "s3://shop/a b", "s3://shop/é", "s3://shop?x=1"),
        *("s3://key:secret@shop", "gs://shop", "https://s3.example.com/shop", "files"),
    ],
)
def test_anything_else_is_refused_without_being_repeated(tmp_path: Path, store: str) -> None:
    message = told(tmp_path, f"files.store={store}")["files.store"]
    assert "a bucket is named such as s3://my-bucket/desk" in message
    assert "secret" not in message


@pytest.mark.parametrize(
    ("endpoint", "wrong"),
    [
        ("s3.example.com", "is not a web address"),
        ("https://s3.example.com/?x=1", "is not a web address"),
        ("https://key:hunter2@s3.example.com", "contains a user name or password"),
        ("http://s3.example.com", "is not encrypted"),
        ("http://10.0.0.7:9000", "is not encrypted"),
    ],
)
def test_an_endpoint_is_encrypted_and_has_no_credential(
    tmp_path: Path, endpoint: str, wrong: str
) -> None:
    message = told(tmp_path, BUCKET, f"files.s3.endpoint={endpoint}")["files.s3.endpoint"]
    assert wrong in message
    assert "hunter2" not in message


@pytest.mark.parametrize(
    "settings",
    [
        ("files.s3.endpoint=https://s3.example.com",),
        ("files.s3.endpoint=http://127.0.0.1:9000",),
        ("files.s3.endpoint=http://10.0.0.7:9000", "files.s3.allow_http=true"),
        ("files.s3.encryption=aws:kms", "files.s3.kms_key=alias/desk"),
    ],
)
def test_a_service_on_this_machine_or_a_private_network_may_do_without(
    tmp_path: Path, settings: tuple[str, ...]
) -> None:
    assert told(tmp_path, BUCKET, *settings) == {}


def test_a_key_of_an_encryption_that_takes_none_is_refused(tmp_path: Path) -> None:
    assert "files.s3.kms_key" in told(tmp_path, BUCKET, "files.s3.kms_key=alias/desk")


def test_files_of_the_service_exist_and_are_not_published(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    content = "content.folder=content"
    absent = told(tmp_path, BUCKET, content, "files.s3.credentials_file=s3.key")
    assert absent["files.s3.credentials_file"] == "there is no such file."
    for name in ("content/access.txt", "s3.key", "content/.s3"):
        (tmp_path / name).write_text("[default]\n")
    published = told(tmp_path, BUCKET, content, "files.s3.credentials_file=content/access.txt")
    assert "would be published" in published["files.s3.credentials_file"]
    for name in ("s3.key", "content/.s3"):
        assert told(tmp_path, BUCKET, content, f"files.s3.credentials_file={name}") == {}
