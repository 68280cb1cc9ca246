"""How the URL of a PostgreSQL database is read."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.postgres.address import PASSWORD, read_address


@pytest.mark.parametrize(
    ("url", "is_verified"),
    [
        ("postgresql://db.example/desk", True),
        ("postgresql://desk@10.0.0.5:5432/desk", True),
        ("postgresql://localhost,db.example/desk", True),
        ("postgresql:///desk?host=db.example", True),
        ("postgresql://localhost/desk", False),
        ("postgresql://127.0.0.1:5433/desk", False),
        ("postgresql://[::1]:5433/desk", False),
        ("postgresql:///desk?host=/run/postgresql", False),
        ("postgresql:///desk", False),
        ("postgresql://db.example/desk?sslmode=require", False),
        ("postgresql://db.example/desk?sslmode=verify-full&sslrootcert=system", True),
    ],
)
def test_another_host_must_prove_its_name_unless_the_url_says_otherwise(
    url: str, is_verified: bool
) -> None:
    arguments = read_address(url, {}).arguments
    context = arguments.get("ssl")
    assert (context is not None) == is_verified
    if context is not None:
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname


def test_a_mode_of_the_environment_counts() -> None:
    given = read_address("postgresql://db.example/desk", {"PGSSLMODE": "require"})
    assert "ssl" not in given.arguments


@pytest.mark.parametrize(
    ("url", "host", "is_verified"),
    [
        ("postgresql:///desk", "db.example", True),
        ("postgresql:///desk?host=", "db.example", True),
        ("postgresql:///desk?sslmode=", "db.example", True),
        ("postgresql:///desk", "127.0.0.1,db.example", True),
        ("postgresql:///desk", "/run/postgresql", False),
        ("postgresql:///desk", "127.0.0.1", False),
        ("postgresql://127.0.0.1/desk", "db.example", False),
    ],
)
def test_a_host_of_the_environment_counts(url: str, host: str, is_verified: bool) -> None:
    assert ("ssl" in read_address(url, {"PGHOST": host}).arguments) == is_verified


def test_no_service_of_libpq_hides_the_host() -> None:
    with pytest.raises(StoreError, match=r"write its host and parameters in store\.url"):
        read_address("postgresql:///?service=prod", {})
    for name in ("PGSERVICE", "PGSERVICEFILE"):
        with pytest.raises(StoreError, match=f"{name} .* write its host and parameters"):
            read_address("postgresql:///desk", {name: "prod"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PGHOST", "db.example,,db.example"),
        ("PGPORT", "abc"),
        ("PGPORT", "99999"),
        ("PGTARGETSESSIONATTRS", "fastest"),
    ],
)
def test_an_impossible_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(StoreError, match=name):
        read_address("postgresql:///desk", {name: value})


def test_what_libpq_knows_is_passed_on() -> None:
    url = "postgresql://desk@db.example:5433/desk?sslmode=verify-ca"
    assert read_address(url, {}).arguments["dsn"] == url
    given = read_address(f"{url}&connect_timeout=3", {}).arguments
    assert (given["dsn"], given["timeout"]) == (url, 3)


def test_a_password_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    url = "postgresql://desk@db.example/desk"
    assert "password" not in read_address(url, {}).arguments
    assert read_address(url, {PASSWORD: "hunter2"}).arguments["password"] == "hunter2"
    file = tmp_path / "password"
    file.write_text("hunter3\n")
    environment = {f"{PASSWORD}_FILE": str(file)}
    assert read_address(url, environment).arguments["password"] == "hunter3"
    with pytest.raises(StoreError, match="both set"):
        read_address(url, {PASSWORD: "hunter2", **environment})
    with pytest.raises(StoreError, match="cannot be read"):
        read_address(url, {f"{PASSWORD}_FILE": str(tmp_path / "none")})


def test_people_see_where_it_is_and_no_credential() -> None:
    url = "postgresql://desk@db.example:5433/threads?sslmode=require"
    assert read_address(url, {PASSWORD: "hunter2"}).name == "PostgreSQL, db.example:5433 threads"
