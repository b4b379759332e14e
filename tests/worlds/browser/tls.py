"""A certificate for 127.0.0.1 from a test authority."""

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def loopback_tls() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The context of the server, and that of a client that trusts it."""
    key, signed = _key_and_certificate()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:
        file.write(key + signed)
        file.flush()
        server.load_cert_chain(file.name)
    return server, ssl.create_default_context(cadata=signed.decode())


def certificate_files(folder: Path) -> tuple[Path, Path]:
    """A certificate and its key, each in a file."""
    key, signed = _key_and_certificate()
    (folder / "certificate.pem").write_bytes(signed)
    (folder / "key.pem").write_bytes(key)
    return folder / "certificate.pem", folder / "key.pem"


def _key_and_certificate() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a site of the tests")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), signed
