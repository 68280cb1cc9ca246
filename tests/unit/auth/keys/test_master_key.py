"""The master key: found or made once, kept to oneself, and good for wrapping data keys alone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aitp_desk.auth.keys.master_key import (
    KEY_FILE,
    MASTER_KEY,
    KeyFileError,
    MasterKey,
    derive,
    find_master_key,
    make_master_key,
    open_master_key,
)

SECRET = bytes(range(32))
MASTER = MasterKey(SECRET, "here")


def test_the_first_start_makes_a_key_that_only_its_owner_can_read(tmp_path: Path) -> None:
    data = tmp_path / "site" / ".desk"
    assert find_master_key(data, {}) is None
    made = make_master_key(data)
    assert (data / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert data.stat().st_mode & 0o777 == 0o700
    assert len(bytes.fromhex((data / KEY_FILE).read_text())) == 32
    assert [path.name for path in data.iterdir()] == [KEY_FILE]
    assert made.origin == str(data / KEY_FILE)


def test_the_next_start_reads_the_same_key(tmp_path: Path) -> None:
    first = make_master_key(tmp_path)
    again = find_master_key(tmp_path, {})
    assert again is not None
    assert again.unwrap(1, first.wrap(1, SECRET)) == SECRET


def test_starts_at_the_same_time_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(open_master_key, [tmp_path] * 32))
    assert len({key.fingerprint for key in keys}) == 1
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


@pytest.mark.parametrize("text", ["", "not hexadecimal", "00" * 31, "00" * 33, "é" * 64])
def test_what_is_no_key_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / KEY_FILE
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    for environment in ({}, {MASTER_KEY: text}, {f"{MASTER_KEY}_FILE": str(path)}):
        with pytest.raises(
            KeyFileError, match="must contain the key as 64 hexadecimal digits"
        ) as caught:
            find_master_key(tmp_path, environment)
        assert not text or text not in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    make_master_key(tmp_path)
    (tmp_path / KEY_FILE).chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        find_master_key(tmp_path, {})


def test_a_data_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeyFileError, match="cannot be used"):
        make_master_key(tmp_path / "file" / "data")


def test_the_environment_goes_before_the_key_file(tmp_path: Path) -> None:
    make_master_key(tmp_path)
    mounted = tmp_path / "mounted"
    mounted.write_text(f"{SECRET.hex()}\n")
    for environment, origin in (
        ({MASTER_KEY: SECRET.hex().upper()}, MASTER_KEY),
        ({f"{MASTER_KEY}_FILE": str(mounted)}, str(mounted)),
    ):
        found = find_master_key(tmp_path, environment)
        assert found is not None
        assert (found.fingerprint, found.origin) == (MASTER.fingerprint, origin)


def test_an_environment_that_says_two_things_or_names_nothing_is_refused(tmp_path: Path) -> None:
    both = {MASTER_KEY: SECRET.hex(), f"{MASTER_KEY}_FILE": str(tmp_path / "key")}
    with pytest.raises(KeyFileError, match="both set"):
        find_master_key(tmp_path, both)
    with pytest.raises(KeyFileError, match="cannot be used"):
        find_master_key(tmp_path, {f"{MASTER_KEY}_FILE": str(tmp_path / "key")})


def test_a_wrapped_key_opens_only_as_it_was_wrapped() -> None:
    wrapped = MASTER.wrap(2, b"d" * 32)
    assert MASTER.unwrap(2, wrapped) == b"d" * 32
    assert wrapped != MASTER.wrap(2, b"d" * 32)
    changed = [
        wrapped[:at] + bytes([wrapped[at] ^ 1]) + wrapped[at + 1 :] for at in range(len(wrapped))
    ]
    for version, text in [(1, wrapped), *((2, each) for each in (*changed, b"", wrapped[:-1]))]:
        with pytest.raises(KeyFileError, match="was changed"):
            MASTER.unwrap(version, text)
    with pytest.raises(KeyFileError):
        MasterKey(bytes(32), "there").unwrap(2, wrapped)


def test_each_purpose_and_version_has_a_separate_key() -> None:
    derived = {derive(SECRET, "a"), derive(SECRET, "b"), derive(SECRET, "a", 2)}
    derived.add(derive(bytes(32), "a"))
    assert len(derived) == 4
    assert {len(secret) for secret in derived} == {32}
    assert derive(SECRET, "a") == derive(bytes(range(32)), "a")


def test_the_text_form_of_a_key_does_not_show_it() -> None:
    for text in (repr(MASTER), str(MASTER), MASTER.fingerprint):
        assert SECRET.hex() not in text
        assert repr(SECRET) not in text
