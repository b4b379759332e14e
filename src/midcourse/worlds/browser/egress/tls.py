"""The certificate that makes Chromium trust the proxy, so that requests under TLS can be read as well.

Each browser gets a new key, which never leaves this process. Chromium accepts this certificate, and no other, for any name.
The proxy checks the certificates of servers.
"""

import ssl
import tempfile
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

_VALID = timedelta(days=365)


class Certificate:
    """A new certificate. `context` is for the proxy's side of a connection, `flag` for Chromium's command line."""

    def __init__(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self.flag = f"--ignore-certificate-errors-spki-list={b64encode(sha256(public).digest()).decode()}"
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.set_alpn_protocols(["http/1.1"])
        with (
            tempfile.NamedTemporaryFile() as file
        ):  # a private, short-lived file, because OpenSSL reads certificates from files only
            file.write(secret + _self_sign(key).public_bytes(Encoding.PEM))
            file.flush()
            self.context.load_cert_chain(file.name)


def _self_sign(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "the proxy of a Midcourse browser")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _VALID,
        not_valid_after=now + _VALID,
    )
    return builder.sign(key, hashes.SHA256())
