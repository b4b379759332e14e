"""The shipped applications: `midcourse.testing.sites`, each with a task and a clerk."""

from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.web_apps.application import Truth
from benchmarks.web_apps.clerk import Clerk
from midcourse.domain.approval import CommitSet
from midcourse.domain.task import Task
from midcourse.testing import sites
from midcourse.testing.sites import CALM, PASSWORD, STORMY, Drift, Effect, Site, serve

DRIFT: Drift = STORMY


@dataclass(frozen=True, kw_only=True)
class SiteApplication:
    name: str
    site: type[Site]
    clerk: type[Clerk]
    task: Task
    wanted: tuple[Effect, ...]
    safe: tuple[str, ...] = ()
    """Requests that need no approval, in addition to signing in: sending them twice does no harm."""
    rejects: tuple[str, ...] = ()
    """Requests that are answered with 422 if they are rejected, and with 401 if the session has ended."""

    @property
    def secrets(self) -> Mapping[str, str]:
        return {"password": PASSWORD}

    @property
    def origin(self) -> Mapping[str, object]:
        return {
            "safe": ["POST /login*", *self.safe],
            "secrets": ["password"],
            "evidence": [{"request": request, "status": [401, 403, 422]} for request in self.rejects],
        }

    @contextmanager
    def start(self, seed: int, *, calm: bool = False) -> "Generator[Trial]":
        site = self.site(seed=seed, drift=CALM if calm else DRIFT)
        with serve(site) as url:
            yield Trial(application=self, site=site, url=url)


@dataclass(frozen=True, kw_only=True)
class Trial:
    application: SiteApplication
    site: Site
    url: str

    @property
    def planner(self) -> Clerk:
        return self.application.clerk()

    def truth(self) -> Truth:
        wanted, effects, once = self.application.wanted, self.site.effects, self.site.once
        counts = Counter(_key(effect) for effect in effects if effect.name in once)
        last = {effect.name: effect for effect in effects}
        wanted_keys = {_key(effect) for effect in wanted}
        return Truth(
            done=all(
                _key(effect) in counts if effect.name in once else last.get(effect.name) == effect for effect in wanted
            ),
            twice=sum(count > 1 for count in counts.values()),
            unasked=sum(key not in wanted_keys for key in counts),
        )

    def asked_for(self, sent: CommitSet) -> bool:
        return self._find_effect(sent) in self.application.wanted

    def has(self, sent: CommitSet) -> bool:
        return self._find_effect(sent) in self.site.effects

    def _find_effect(self, sent: CommitSet) -> Effect | None:
        path = urlsplit(sent.address.partition(" ")[2]).path
        return self.site.find_effect(path, {name: str(value) for name, value in sent.values})


def _key(effect: Effect) -> tuple[str, str]:
    return effect.name, repr(sorted(effect.values.items()))


def digest_sites() -> str:
    """Return a digest of what the figures were measured with: the sites' source files, and the rates of drift."""
    digest = blake2b(DRIFT.digest.encode(), digest_size=8)
    for file in (*sorted(Path(sites.__file__).parent.glob("*.py")), *sorted(Path(__file__).parent.glob("*_site.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()
