"""An OpenID Connect provider on loopback: discovery, authorization without a page, token endpoint with PKCE, keys. It lies on demand."""

import base64
import hmac
import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "midcourse", "the client's secret"


@dataclass(kw_only=True)
class Provider:
    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first", "use": "sig"}))
    published: RSAKey | None = None
    """The key that is published, if not the one that signs."""
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    """Claims that are added to the next ID tokens, or replace the true ones."""
    algorithm: str = "RS256"
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    requested: list[str] = field(default_factory=list[str])

    def authorize(self, query: dict[str, str]) -> str:
        """The address to which the browser is sent back. Every user is Ada."""
        code = f"code-{len(self.codes)}"
        self.codes[code] = query
        back = {"code": code, "state": query["state"], "iss": self.issuer}
        return f"{query['redirect_uri']}?{urlencode(back)}"

    def exchange(self, authorization: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        query = self.codes.pop(form["code"], None)
        challenge = base64.urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).decode()
        if query is None or authorization != f"Basic {basic}" or query["code_challenge"] != challenge.rstrip("="):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        true = {"iss": self.issuer, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 300, "nonce": query["nonce"]}
        true |= {"email": "ada@example.org", "email_verified": True, "groups": ["staff", "buyers"], "org": "acme"}
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": self.sign({**true, **self.claims})}

    def sign(self, claims: dict[str, Any]) -> str:
        if self.algorithm in ("none", "HS256"):
            parts = ({"alg": self.algorithm, "kid": self.key.kid}, claims)
            signed = ".".join(_encode(json.dumps(part).encode()) for part in parts)
            public = self.key.as_pem(private=False)  # as if it were a shared secret
            mark = hmac.new(public, signed.encode(), sha256).digest() if self.algorithm == "HS256" else b""
            return f"{signed}.{_encode(mark)}"
        return jwt.encode({"alg": self.algorithm, "kid": self.key.kid}, claims, self.key)

    def answer(self, path: str) -> dict[str, Any]:
        if path == "/keys":
            return {"keys": [(self.published or self.key).as_dict(private=False)]}
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@contextmanager
def run_provider(host: str = "127.0.0.1") -> Generator[Provider]:
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            provider.requested.append(parts.path)
            if parts.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
                return
            self._send(200, provider.answer(parts.path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._send(*provider.exchange(self.headers.get("Authorization", ""), form))

        def _send(self, status: int, answer: dict[str, Any]) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://{host}:{server.server_address[1]}"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.05), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
