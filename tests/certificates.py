"""Certificate authorities for tests, and the certificates they issue, as files."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, kw_only=True)
class Issued:
    certificate: Path
    key: Path


class Authority:
    """A certificate authority. Its certificate is in `file`, and those that it issues are beside it."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._name = _make_name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / f"{name}.pem"
        certificate = _make_builder(self._name, self._name, self._key.public_key(), days=1)
        certificate = certificate.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.file.write_bytes(certificate.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def issue(self, name: str, *, days: int = 1) -> Issued:
        """Issue a certificate for a server or client of this name. With negative `days` it has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        draft = _make_builder(_make_name(name), self._name, key.public_key(), days=days)
        draft = draft.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        kind = f"{self.file.stem}-{name}{days}"
        issued = Issued(certificate=self._folder / f"{kind}.pem", key=self._folder / f"{kind}.key")
        issued.certificate.write_bytes(draft.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))
        issued.key.touch(mode=0o600)
        issued.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return issued


def _make_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _make_builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, *, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now + timedelta(days=days))
    )
