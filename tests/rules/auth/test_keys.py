"""The master key: made once, kept to oneself, a key of its own for each purpose."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aitp_desk.auth.keys import KEY_FILE, KeyFileError, MasterKey, open_master_key


def test_the_first_start_makes_a_key_that_only_its_owner_can_read(tmp_path: Path) -> None:
    data = tmp_path / "site" / ".desk"
    open_master_key(data)
    assert (data / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert data.stat().st_mode & 0o777 == 0o700
    assert len(bytes.fromhex((data / KEY_FILE).read_text())) == 32
    assert [path.name for path in data.iterdir()] == [KEY_FILE]


def test_the_next_start_reads_the_same_key(tmp_path: Path) -> None:
    first = open_master_key(tmp_path)
    assert open_master_key(tmp_path).derive("x") == first.derive("x")


def test_starts_at_the_same_time_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(open_master_key, [tmp_path] * 32))
    assert len({key.derive("x") for key in keys}) == 1
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


@pytest.mark.parametrize("text", ["", "not hexadecimal", "00" * 31, "00" * 33, "é" * 64])
def test_a_damaged_key_file_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / KEY_FILE
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KeyFileError, match="holds no key"):
        open_master_key(tmp_path)
    assert path.read_text(encoding="utf-8") == text


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    open_master_key(tmp_path)
    (tmp_path / KEY_FILE).chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        open_master_key(tmp_path)


def test_a_data_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeyFileError, match="cannot be used"):
        open_master_key(tmp_path / "file" / "data")


def test_each_purpose_and_version_has_a_key_of_its_own() -> None:
    key, other = MasterKey(bytes(32)), MasterKey(bytes(31) + b"\1")
    derived = {key.derive("a"), key.derive("b"), key.derive("a", 2), other.derive("a")}
    assert len(derived) == 4
    assert {len(secret) for secret in derived} == {32}
    assert key.derive("a") == MasterKey(bytes(32)).derive("a")


def test_the_text_form_of_a_key_does_not_show_it() -> None:
    secret = bytes(range(32))
    for text in (repr(MasterKey(secret)), str(MasterKey(secret))):
        assert secret.hex() not in text
        assert repr(secret) not in text
