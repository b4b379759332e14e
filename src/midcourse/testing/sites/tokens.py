"""Hidden fields that change with every page, as the forms of real applications have them."""

import hmac
from hashlib import blake2b

from midcourse.testing.sites.view import Given

TOKEN = "csrf_token"
NONCE = "form_nonce"
RENDERED = "rendered_at"
KEY = "idempotency_key"
"""The field that scripts of a page add to the JSON that they send."""
HIDDEN = frozenset((TOKEN, NONCE, RENDERED, KEY))
"""All hidden fields. They are checked and removed before an application gets the form."""
_FIRST_RENDERED = 1_790_000_000


class Tokens:
    """Issues the hidden fields of one site, and checks its CSRF tokens.

    Every page gets its own token, and each stays valid as long as its session: several tabs can be open.
    Tokens are derived from the seed, so the same requests get the same ones.
    """

    def __init__(self, seed: str) -> None:
        self._key = blake2b(seed.encode(), digest_size=32).digest()
        self._pages = 0

    def fields(self, session: str, *, volatile: bool) -> Given:
        """The hidden fields of the next page. `volatile` adds some that the server ignores."""
        self._pages += 1
        token = {TOKEN: self._sign(session, self._digest(f"page {self._pages}"))}
        if not volatile:
            return token
        rendered = str(_FIRST_RENDERED + 7 * self._pages)
        return {**token, NONCE: self._digest(f"nonce {self._pages}"), RENDERED: rendered}

    def is_valid(self, session: str, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._sign(session, token[:16]).encode())

    def _sign(self, session: str, page: str) -> str:
        return page + self._digest(f"session {session}, {page}")

    def _digest(self, text: str) -> str:
        return blake2b(text.encode(errors="replace"), key=self._key, digest_size=8).hexdigest()
