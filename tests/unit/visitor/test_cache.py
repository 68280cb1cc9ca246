"""Responses are kept within bounds, and without a folder where it cannot be written."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

import pytest
from multidict import CIMultiDict

from aitp_desk.egress import Fetched
from aitp_desk.visitor import cache as cache_module
from aitp_desk.visitor.cache import ResponseCache

URL = "https://shop.example/llms.txt"


def response(body: bytes = b"hello", **headers: str) -> Fetched:
    return Fetched(200, CIMultiDict(headers), body, URL)


def keep(cache: ResponseCache, key: str, found: Fetched) -> None:
    cache.keep(key, found, default_seconds=60)


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = ResponseCache(tmp_path / "file" / "visits", clock=lambda: 1000.0)
    keep(cache, "a", response())
    found = cache.find("a")
    assert found is not None
    assert found.body == b"hello"
    assert cache.first_seen("shop.example") == 1000.0
    cache.forget("a")
    assert cache.find("a") is None


def test_a_folder_that_vanishes_is_done_without(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "visits", clock=lambda: 1000.0)
    keep(cache, "a", response())
    rmtree(tmp_path / "visits")
    (tmp_path / "visits").write_text("a file now")
    cache.forget("a")
    keep(cache, "b", response())
    assert (cache.find("a"), cache.find("b") is None) == (None, False)
    assert cache.first_seen("shop.example") == 1000.0


def test_half_a_file_is_not_left(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    (tmp_path / "a.response").mkdir()  # so that the file cannot take its place
    keep(cache, "a", response())
    assert cache.find("a") is not None
    assert [path.name for path in tmp_path.iterdir()] == ["a.response"]


def test_a_file_that_another_process_drops_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "gone.response").symlink_to(tmp_path / "nowhere")
    keep(ResponseCache(tmp_path), "a", response())
    assert ResponseCache(tmp_path).find("a") is not None


@pytest.mark.parametrize("is_read", [False, True])
def test_memory_has_a_bound_in_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_read: bool
) -> None:
    monkeypatch.setattr(cache_module, "MAX_BYTES", 1000)
    kept = ResponseCache(tmp_path)
    for key in "abc":
        keep(kept, key, response(key.encode() * 400))
    cache = ResponseCache(tmp_path) if is_read else kept
    for key in "abc" if is_read else "":
        assert cache.find(key) is not None
    rmtree(tmp_path)
    assert [cache.find(key) is not None for key in "abc"] == [False, True, True]


def test_what_is_larger_than_memory_is_still_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "MAX_BYTES", 100)
    cache = ResponseCache(tmp_path)
    keep(cache, "a", response(b"x" * 400))
    found = cache.find("a")
    assert found is not None
    assert len(found.body) == 400


def test_of_a_folder_no_more_than_the_bound_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "MAX_ENTRIES", 2)
    for key in "abc":
        keep(ResponseCache(tmp_path / key), key, response())
        (tmp_path / key / f"{key}.response").rename(tmp_path / f"{key}.response")
    cache = ResponseCache(tmp_path)
    assert all(cache.find(key) for key in "abc")
    for path in tmp_path.glob("*.response"):
        path.unlink()
    assert [cache.find(key) is not None for key in "abc"] == [False, True, True]
