"""An agent that signs its requests with a key of its domain (docs/build/authentication.md)."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms
from multidict import CIMultiDict

from aitp_desk.auth.jwt.jwk import make_thumbprint
from aitp_desk.auth.web_bot_auth.directories import MEDIA_TYPE
from aitp_desk.auth.web_bot_auth.message_signature import Request
from tests.support.desk.server import SHOP

_nonces = count(1)


class Bot(msgspec.Struct, frozen=True):
    """The agent.

    Parameters:
        origin: of its key directory.
    """

    origin: str
    key: Ed25519PrivateKey
    key_id: str

    def make_known(self, folder: Path) -> Path:
        """Write a copy of the shop that knows it, and return its folder."""
        shutil.copytree(SHOP, folder, ignore=shutil.ignore_patterns(".desk", "shop.db*"))
        with (folder / "desk.toml").open("a", encoding="utf-8") as file:
            file.write(f'\n[[signature_agents]]\norigin = "{self.origin}"\nscopes = ["threads"]\n')
        return folder

    def sign(self, url: str, method: str, path: str, body: bytes) -> dict[str, str]:
        """The headers that sign a request as a whole.

        Parameters:
            url: of the desk.
        """
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        headers = CIMultiDict(
            {
                "Signature-Agent": f'me="{self.origin}"',
                "Content-Digest": f"sha-256=:{digest}:",
            }
        )
        created = datetime.datetime.now(datetime.UTC)
        keys = MappingKeyResolver(public_keys={}, private_keys={self.key_id: self.key})
        HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=keys).sign(
            Request(method, url + path, headers),
            key_id=self.key_id,
            created=created,
            expires=created + datetime.timedelta(minutes=5),
            nonce=f"nonce {next(_nonces)}",
            label="me",
            tag="web-bot-auth",
            use_existing_digest=True,
            covered_component_ids=(
                *("@method", "@target-uri"),
                *('"signature-agent";key="me"', "content-digest"),
            ),
        )
        return dict(headers)


@contextmanager
def bot() -> Iterator[Bot]:
    """An agent whose directory is there until the context ends."""
    key = Ed25519PrivateKey.generate()
    public = base64.urlsafe_b64encode(key.public_key().public_bytes_raw()).rstrip(b"=")
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": public.decode()}

    class Directory(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"keys": [jwk]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", MEDIA_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Directory) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Bot(f"http://127.0.0.1:{server.server_port}", key, make_thumbprint(jwk))
        server.shutdown()
