"""What docs/run/installing.md and running.md give to copy works: units, alerts, servers."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import aiohttp
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.docs.snippets import ROOT, blocks
from tests.docs.tables import metrics
from tests.support.desk.command import COMMAND
from tests.support.desk.processes import free_port
from tests.support.desk.server import serving
from tests.support.http.web_servers import Kind

PAGE = ROOT / "docs/run/running.md"
MONITORING = ROOT / "docs/run/monitoring.md"
UNITS = sorted((ROOT / "examples" / "systemd").glob("aitp-desk*"))
ALERTS = ROOT / "examples" / "prometheus" / "alerts.yml"
HOST = "desk.example.com"
SECONDS = 60
MOST_EXPOSED = {"aitp-desk.service": 20, "aitp-desk-backup.service": 50}
"""Of 100, as ``systemd-analyze security`` counts."""


def output(command: Sequence[str | Path]) -> str:
    """What a command says that succeeds."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def rules() -> list[dict[str, str]]:
    found: list[dict[str, str]] = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"][0]["rules"]
    return found


def test_alerts_use_existing_figures_and_the_page_says_what_to_do() -> None:
    listed = metrics.described()
    known = {
        f"{name}_bucket" if kind == "histogram" else name for name, (kind, _) in listed.items()
    }
    for rule in rules():
        assert rule.keys() - {"for"} == {"alert", "expr", "labels", "annotations"}
        named = set(re.findall(r"\b(?:aitp_desk|process)_\w+", rule["expr"]))
        assert named <= known, rule["alert"]
        assert named or rule["alert"] == "DeskDown"
    if promtool := shutil.which("promtool"):
        output([promtool, "check", "rules", ALERTS])
    told = re.findall(r"`(Desk\w+)`", MONITORING.read_text("utf-8"))
    assert sorted(told) == sorted(rule["alert"] for rule in rules())


def test_what_the_page_says_is_logged_is_logged() -> None:
    table = MONITORING.read_text("utf-8").partition("| Event |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    events = {event for row in rows for event in re.findall(r"`([\w.]+)`", row)}
    code = "".join(path.read_text("utf-8") for path in (ROOT / "aitp_desk").rglob("*.py"))
    assert {event for event in events if f'"{event}"' not in code} == set()
    assert len(events) > 10


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="comes with systemd")
def test_the_units_are_understood_and_leave_the_desk_little(tmp_path: Path) -> None:
    script = ROOT / "examples" / "systemd" / "backup.sh"
    for unit in UNITS:
        text = unit.read_text("utf-8").replace("/opt/aitp-desk/bin/aitp-desk", str(COMMAND))
        text = text.replace("/usr/local/lib/aitp-desk/backup.sh", str(script))
        (tmp_path / unit.name).write_text(text)
    units = sorted(tmp_path.iterdir())
    assert output(["systemd-analyze", "verify", "--man=no", *units]) == ""
    offline = ["systemd-analyze", "security", "--offline=yes", "--no-pager"]
    for service, most in MOST_EXPOSED.items():
        output([*offline, f"--threshold={most}", tmp_path / service])


def test_the_script_drops_old_backups_and_what_killed_ones_left_and_nothing_else(
    tmp_path: Path,
) -> None:
    left, kept = f"a.db.{'0f' * 8}", ("a.db.gpg", "notes")
    for name in ("a.db", left, *kept):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "new.db").touch()
    given = {"AITP_DESK": "true", "DATA": "data", "BACKUPS": str(tmp_path), "KEEP_DAYS": "30"}
    script = ROOT / "examples" / "systemd" / "backup.sh"
    subprocess.run(["sh", script], env={**os.environ, **given}, check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"new.db", *kept}


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate that the host gives itself, and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


def command_of(kind: Kind, block: str, folder: Path, tls: int, plain: int) -> list[str]:
    """What runs a server of this block on ports of the loopback."""
    cert, key = certificate(folder)
    if kind == "nginx":
        block = block.replace("listen 443 ssl", f"listen 127.0.0.1:{tls} ssl")
        block = block.replace("listen 80;", f"listen 127.0.0.1:{plain};")
        block = re.sub(r"(ssl_certificate) .*;", rf"\1 {cert};", block)
        block = re.sub(r"(ssl_certificate_key) .*;", rf"\1 {key};", block)
        temporary = "".join(
            f"{name}_temp_path {folder}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"daemon off;\nmaster_process off;\npid {folder}/pid;\nevents {{ }}\n"
            f"http {{\naccess_log off;\n{temporary}{block}}}\n"
        )
        program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")
        assert program is not None, "apt install nginx-light"
        return [program, "-p", str(folder), "-e", str(folder / "errors"), "-c", "nginx.conf"]
    own = f"https://{HOST}:{tls} {{\n\tbind 127.0.0.1\n\ttls {cert} {key}"
    settings = f"{{\n\tadmin off\n\thttp_port {plain}\n}}\n"
    (folder / "Caddyfile").write_text(settings + block.replace(f"{HOST} {{", own, 1))
    program = shutil.which("caddy")
    assert program is not None, "apt install caddy"
    kept = [f"XDG_{where}_HOME={folder}" for where in ("CONFIG", "DATA")]
    config = ["--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    return ["env", *kept, program, "run", *config]


@contextmanager
def running(command: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.servers
@pytest.mark.parametrize("kind", ["nginx", "caddy"])
async def test_a_desk_behind_tls_as_the_page_has_it(tmp_path: Path, kind: Kind) -> None:
    (block,) = (found.code for found in blocks(PAGE) if found.language == kind)
    tls, plain = free_port(), free_port()
    settings = (f"site.url=https://{HOST}", "server.trusted_proxies=['127.0.0.1/32']")
    async with serving(tmp_path / "data", *settings) as desk:
        block = block.replace("http://127.0.0.1:8080", desk.url)
        block = block.replace("127.0.0.1:8080", desk.url.removeprefix("http://"))
        with running(command_of(kind, block, tmp_path, tls, plain), tmp_path / "log"):
            async with aiohttp.ClientSession(headers={"Host": HOST}) as client:
                asks = partial(client.get, ssl=False, server_hostname=HOST)
                address = f"https://127.0.0.1:{tls}"
                await until_it_answers(asks, f"{address}/health")
                async with asks(f"{address}/about") as response:
                    assert response.status == 200
                    assert len(response.headers["X-Request-Id"]) >= 32
                    assert response.headers["Strict-Transport-Security"] == "max-age=31536000"
                async with asks(f"{address}/metrics") as response:
                    assert response.status == 404
                for method in ("GET", "HEAD"):
                    there = f"http://127.0.0.1:{plain}/about"
                    async with client.request(method, there, allow_redirects=False) as response:
                        assert response.status in (301, 308)
                        assert response.headers["Location"].startswith(f"https://{HOST}")


async def until_it_answers(
    asks: Callable[[str], AbstractAsyncContextManager[aiohttp.ClientResponse]], url: str
) -> None:
    """Return when a server answers."""
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                async with asks(url) as response:
                    assert response.status == 200, await response.text()
                    return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.02)
