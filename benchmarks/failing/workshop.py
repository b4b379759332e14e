"""A folder with files to fail on, servers that misbehave, and a database: what the programs run into."""

import gzip
import io
import os
import re
import socket
import ssl
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

FILES = """
mkdir -p folder full frozen empty newer engines
echo words > words.txt; echo '{"a": 1}' > words.json; printf 'caf\\351\\n' > latin.txt; printf 'b\\na\\nz\\n' > unsorted.txt
echo 'int main(void) { return 0; }' > good.c
tar -cf good.tar words.txt; touch full/x locked.txt; chmod 000 locked.txt; chmod 555 frozen; ln -sf loop loop
export GIT_AUTHOR_NAME=ann GIT_AUTHOR_EMAIL=ann@shop.example GIT_COMMITTER_NAME=ann GIT_COMMITTER_EMAIL=ann@shop.example
git config --global init.defaultBranch main; git config --global user.name ann; git config --global user.email ann@shop.example
git init -q empty; git init -q repo; cd repo; echo a > a; git add a; git commit -qm a
git clone -q --bare . ../good.git; git commit -q --allow-empty --amend -m b
git checkout -q --orphan unrelated; git commit -qm unrelated; git checkout -q main; cd ..
git init -q conflict; cd conflict; echo a > a; git add a; git commit -qm a; git checkout -qb other; echo b > a; git commit -qam b
git checkout -q main; echo c > a; git commit -qam c; cd ..
printf -- '--- words.txt\\n+++ words.txt\\n@@ -1 +1 @@\\n-sword\\n+shield\\n' > clash.patch
echo '0000000000000000000000000000000000000000000000000000000000000000  words.txt' > sums.txt
echo '00000000000000000000000000000000  words.txt' > md5s.txt
echo '0000000000000000000000000000000000000000  words.txt' > sha1s.txt
openssl genrsa -out good.pem 2048 2>/dev/null; openssl rsa -in good.pem -pubout -out public.pem 2>/dev/null
echo other | openssl dgst -sha256 -sign good.pem -out other.sig
openssl rsa -in good.pem -aes256 -passout pass:right -out secret.pem 2>/dev/null
openssl enc -aes-256-cbc -pbkdf2 -in words.txt -out secret.enc -pass pass:right
zip -q -P right secret.zip words.txt
ssh-keygen -q -t ed25519 -N right -f secret.key; ssh-keygen -q -t ed25519 -N '' -f open.key
gpg --batch --quiet --passphrase right --pinentry-mode loopback -c -o secret.gpg words.txt
echo '{"name": "x", "version": "1.0.0", "engines": {"node": ">=99"}, "dependencies": {}}' > engines/package.json
printf 'public class T { public static void main(String[] a) {} }' > newer/T.java; (cd newer; javac T.java; printf '\\000\\144' | dd of=T.class bs=1 seek=6 conv=notrunc 2>/dev/null; rm T.java)
"""

SQL = """CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (id integer PRIMARY KEY, customer integer REFERENCES customers (id), amount integer CHECK (amount > 0));
INSERT INTO customers VALUES (1, 'Ada');"""

NOBODY = 65534
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/usr/lib/postgresql/15/bin"


@contextmanager
def workshop(folder: Path) -> Iterator[dict[str, str]]:
    """What programs find in their environment, while it lasts."""
    with ExitStack() as stack:
        env = {"PATH": PATH, "HOME": str(folder), "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"}
        _archives(folder)
        _wheel(folder)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        run(FILES, folder, env)
        env |= _servers(folder, stack)
        run(f'sqlite3 shop.db "{SQL}"; sqlite3 busy.db "CREATE TABLE t (n)"', folder, env)
        yield env


def run(command: str, folder: Path, env: dict[str, str], *, ourselves: bool = False) -> str:
    """As nobody in particular, or as whoever we are. All that was said on standard error; if nothing was, on standard output."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env | {name: os.environ[name] for name in ("HOME", "PATH")} if ourselves else env,
        user=None if ourselves else NOBODY,
        group=None if ourselves else NOBODY,
        extra_groups=None if ourselves else [],
        capture_output=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    said = done.stderr.decode(errors="replace").strip() or done.stdout.decode(errors="replace").strip()
    signal = f"\nkilled by signal {-done.returncode}" if done.returncode < 0 else ""
    return said + signal


def _archives(folder: Path) -> None:
    noise = os.urandom(3000)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        info = tarfile.TarInfo("words.txt")
        info.size = len(noise)
        archive.addfile(info, io.BytesIO(noise))
    (folder / "short.tar.gz").write_bytes(gzip.compress(tar.getvalue())[:900])
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("words.txt", b"words" * 200)
    (folder / "short.zip").write_bytes(zipped.getvalue()[:400])
    (folder / "damaged.zip").write_bytes(zipped.getvalue().replace(b"wordswords", b"swordsword", 1))
    damaged = bytearray(gzip.compress(b"words" * 200))
    damaged[-8] ^= 0xFF
    (folder / "damaged.gz").write_bytes(damaged)
    packed = subprocess.run(["xz", "-c"], input=noise, capture_output=True, check=True).stdout
    (folder / "short.xz").write_bytes(packed[:900])
    (folder / "damaged.xz").write_bytes(packed[:500] + bytes([packed[500] ^ 0xFF]) + packed[501:])


def _wheel(folder: Path) -> None:
    """A package that wants a Python that nobody has, and a list with a hash that is not its own."""
    wheels = folder / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "future-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("future.py", "")
        wheel.writestr(
            "future-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: future\nVersion: 1\nRequires-Python: >=99\n"
        )
        wheel.writestr("future-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("future-1.dist-info/RECORD", "")
    with zipfile.ZipFile(wheels / "present-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("present-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: present\nVersion: 1\n")
        wheel.writestr("present-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("present-1.dist-info/RECORD", "")
    (folder / "hashed.txt").write_text(f"./wheels/present-1-py3-none-any.whl --hash=sha256:{'0' * 64}\n")


# --- servers


class Plain(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0].removesuffix("/info/refs")
        self.send_response(302 if path == "/again" else int((re.findall(r"\d{3}", path) or ["200"])[0]))
        if path == "/again":
            self.send_header("Location", path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def _servers(folder: Path, stack: ExitStack) -> dict[str, str]:
    authority = _certificates(folder)
    ports = {"PLAIN": _http(stack, None)}
    for name in ("self", "expired", "elsewhere"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / f"{name}.pem", folder / "server.key")
        ports[name.upper()] = _http(stack, context)
    ports["SILENT"], ports["RUDE"] = _bare(stack, rude=False), _bare(stack, rude=True)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        ports["CLOSED"] = closed.getsockname()[1]
    assert authority
    return {name: str(port) for name, port in ports.items()}


class _Silent(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever breaks off is meant to."""


def _http(stack: ExitStack, tls: ssl.SSLContext | None) -> int:
    server = _Silent(("127.0.0.1", 0), Plain)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stack.callback(server.shutdown)
    return server.server_address[1]


def _bare(stack: ExitStack, *, rude: bool) -> int:
    """Takes everybody in, and then says nothing, or goodbye."""
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    guests: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                guest, _ = listener.accept()
            except OSError:
                return
            if rude:
                guest.settimeout(2)
                with suppress(OSError):
                    guest.recv(65536)
                guest.close()
            else:
                guests.append(guest)

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def _certificates(folder: Path) -> x509.Certificate:
    now = datetime.now(UTC)
    authority_key, key = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    (folder / "server.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )

    def sign(
        name: str, host: str, until: datetime, by: str, signer: rsa.RSAPrivateKey, own: rsa.RSAPrivateKey
    ) -> x509.Certificate:
        builder = x509.CertificateBuilder(
            subject_name=x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]),
            issuer_name=x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, by)]),
            public_key=own.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - timedelta(days=90),
            not_valid_after=until,
        ).add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        ca = x509.BasicConstraints(ca=name == "authority", path_length=None)
        made = builder.add_extension(ca, critical=True).sign(signer, hashes.SHA256())
        (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return made

    later, past = now + timedelta(days=90), now - timedelta(days=30)
    sign("self", "localhost", later, "localhost", key, key)
    sign("expired", "localhost", past, "authority.example", authority_key, key)
    sign("elsewhere", "elsewhere.example", later, "authority.example", authority_key, key)
    return sign("authority", "authority.example", later, "authority.example", authority_key, authority_key)
