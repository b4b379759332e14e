"""A profile of Temporal's own client configuration: how to connect with TLS, a client certificate or an API key.

Temporal's command line and libraries read the same file (`temporal.toml`, or the one in TEMPORAL_CONFIG_FILE) and the same
variables (`TEMPORAL_…`), which take precedence over the file. A profile counts only if it is named: keys that are in the
environment for another server are not sent to this one.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from temporalio.envconfig import ClientConfigProfile, ClientConfigTLS
from temporalio.service import TLSConfig

from midcourse.errors import TaskInvalid

DEFAULT = "default"
"""The profile that needs no file: all of it may be in variables."""
NAMING = ("TEMPORAL_PROFILE",)
SECURING = ("TEMPORAL_API_KEY", "TEMPORAL_TLS")
"""Variables, or the beginnings of such, that secure a connection."""
SHORTEST_SECRET = 8
"""Shorter values are parts of ordinary words, and are not masked in logs."""
UNREACHABLE = ("tcp connect error", "dns error", "Deadline", "not healthy yet")
CLOSED = ("transport error", "BrokenPipe", "ConnectionReset", "UnexpectedEof")
"""What the library says if nothing answers, and if the server closes the connection. Of a rejected certificate it says either
that, or the alert that the server sent, depending on which arrives first.
"""
LINE = re.compile(r"at line (\d+)")


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How to connect. Its text shows no keys."""

    name: str
    address: str = ""
    namespace: str = ""
    tls: TLSConfig | None = field(default=None, repr=False)
    api_key: str = field(default="", repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def secrets(self) -> tuple[tuple[str, str], ...]:
        """The secrets by name, which must not appear in logs."""
        texts = (("TEMPORAL_API_KEY", self.api_key), *self.metadata.items())
        return tuple((name, text) for name, text in texts if len(text) >= SHORTEST_SECRET)


def read_profile(name: str) -> Profile:
    """Read a profile, and the files that it names. Raise `TaskInvalid`, without the values: they may be keys."""
    variables = {variable: value for variable, value in os.environ.items() if variable not in NAMING}
    try:
        found = ClientConfigProfile.load(None if name == DEFAULT else name, override_env_vars=variables)
    except RuntimeError as error:
        raise TaskInvalid(_describe_problem(name, str(error))) from None
    if found == ClientConfigProfile():  # the library ignores a misspelt file name, and would connect without TLS
        raise TaskInvalid(_describe_problem(name, "not found"))
    if found.api_key and found.tls and found.tls.disabled:
        raise TaskInvalid(f"temporal_profile '{name}': an API key is sent over TLS only, which the profile disables")
    return Profile(
        name=name,
        address=found.address or "",
        namespace=found.namespace or "",
        tls=_tls(name, found.tls or ClientConfigTLS(disabled=not found.api_key)),
        api_key=(found.api_key or "").strip(),
        metadata=found.grpc_meta,
    )


def describe_security(profile: Profile | None) -> str:
    """Describe shortly how the connection is secured, for users."""
    if profile is None or profile.tls is None:
        return "without TLS"
    parts = ("client certificate", profile.tls.client_cert), ("API key", profile.api_key)
    return ", ".join(("TLS", *(part for part, given in parts if given)))


def _describe_problem(name: str, message: str) -> str:
    """Describe why the profile cannot be read, without the line that Temporal's reader quotes, since it may contain the key."""
    file = os.environ.get("TEMPORAL_CONFIG_FILE", "Temporal's configuration file (TEMPORAL_CONFIG_FILE)")
    if "not found" in message:
        return f"temporal_profile '{name}': there is no [profile.{name}] in {file}"
    line = LINE.search(message)
    return f"temporal_profile '{name}': {file} cannot be read" + (f": see its line {line[1]}" if line else "")


def _tls(name: str, asked: ClientConfigTLS) -> TLSConfig | None:
    if asked.disabled:
        return None
    authority = _read_content(name, "server_ca_cert", asked.server_root_ca_cert)
    certificate = _read_content(name, "client_cert", asked.client_cert)
    key = _read_content(name, "client_key", asked.client_private_key)
    if bool(certificate) != bool(key):
        lacks = "client_key" if certificate else "client_cert"
        raise TaskInvalid(f"temporal_profile '{name}': {_say_option(lacks)} is missing; the other half is there")
    return TLSConfig(
        domain=asked.server_name or None,
        server_root_ca_cert=authority,
        client_cert=certificate,
        client_private_key=key,
    )


def _read_content(name: str, option: str, source: Path | str | bytes | None) -> bytes | None:
    """Read a certificate or key, and check that it is PEM, since the library's error does not say so."""
    try:
        content = source.read_bytes() if isinstance(source, Path) else source
    except OSError as error:
        why = f"{error.filename}: {error.strerror}"
        raise TaskInvalid(f"temporal_profile '{name}': {_say_option(option)} cannot be read ({why})") from None
    if not content:
        return None
    raw = content.encode() if isinstance(content, str) else content
    if b"-----BEGIN " not in raw:
        raise TaskInvalid(f"temporal_profile '{name}': {_say_option(option)} is not in the PEM format")
    return raw


def _say_option(option: str) -> str:
    return f"tls.{option}_path (TEMPORAL_TLS_{option.upper()}_PATH)"


# --- refused connections


def explain_failure(message: str, profile: Profile | None) -> str:
    """Explain what to change about a connection that failed; empty if the server does not answer."""
    tls = profile.tls if profile else None
    if "UnknownIssuer" in message or "BadEncoding" in message:
        return (
            f"its certificate has an unknown issuer: {_say_option('server_ca_cert')} names the file with the issuer's"
        )
    if "NotValidForName" in message:
        return "its certificate is for another name: tls.server_name (TEMPORAL_TLS_SERVER_NAME) says which to expect"
    if "InvalidCertificate(Expired" in message or "InvalidCertificate(NotValidYet" in message:
        return "its certificate has expired or is not valid yet"
    if "InvalidCertificate" in message:
        return f"its certificate is not valid; {_say_option('server_ca_cert')} names the file with its issuer's"
    if "InvalidContentType" in message:
        return "it does not use TLS, and the profile does"
    if "KeyMismatch" in message or "InconsistentKeys" in message:
        return f"{_say_option('client_key')} is not the key of {_say_option('client_cert')}"
    if "code: Unauthenticated" in message or "code: PermissionDenied" in message:
        return _explain_rejection(profile)
    if any(sign in message for sign in UNREACHABLE):
        return ""
    if tls is not None or any(sign in message for sign in CLOSED):
        return _explain_closing(tls)
    return ""


def _explain_rejection(profile: Profile | None) -> str:
    if profile and profile.api_key:
        return "it rejects the API key: api_key in the profile (TEMPORAL_API_KEY) and the namespace have to belong together"
    return f"it wants an API key or a client certificate: {_name_a_profile(profile)}"


def _explain_closing(tls: TLSConfig | None) -> str:
    """Explain a closed connection. A server that requires or rejects a certificate often closes it without a reason."""
    if tls is None:
        return f"it closes connections without TLS: {_name_a_profile(None)}"
    if tls.client_cert is None:
        return f"it closes the connection, and may require a client certificate: {_say_option('client_cert')}"
    return f"it closes the connection, and may not accept the client certificate: {_say_option('client_cert')}"


def _name_a_profile(profile: Profile | None) -> str:
    if profile is not None:
        return f"profile '{profile.name}' has neither"
    there = sorted(name for name in os.environ if name.startswith(SECURING))
    unused = f"; {', '.join(there)} count only then" if there else ""
    return f"set temporal_profile to a profile of Temporal's configuration, or to '{DEFAULT}' for TEMPORAL_… variables{unused}"
