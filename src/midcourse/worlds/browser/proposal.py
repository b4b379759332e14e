"""A policy file proposed from a run that has been carried out: which of its requests need no question next time."""

import json
import re
from collections import defaultdict
from collections.abc import Sequence

from midcourse.ports.store import Store
from midcourse.worlds.browser.egress.address import parse
from midcourse.worlds.browser.learn import pattern

_EFFECTS = re.compile(
    r"(?i)[/_.-](accept|activate|approve|book|buy|cancel|charge|confirm|delete|destroy|order|pay|place|post|publish|purchase|"
    r"remove|send|sign-?up|submit|transfer|unsubscribe)(s|ing)?(?![a-z])"
)
"""Names of addresses that do what a person wants to be asked about, wherever in a run they are sent."""


def propose_policy(addresses: Sequence[str]) -> str:
    """As TOML, from the requests that a run was allowed to send, in order: 'POST https://shop.example/orders'.

    What came before the last request led up to it (a draft, a basket, a page of a form) and is proposed as safe. The last one is what the
    run was for: it is asked about each time, as is everything whose address names an effect.
    """
    requests = [_named(address) for address in addresses]
    if not requests:
        return "# The run was asked about no request: it needs no policy file.\n"
    asked = {requests[-1], *(each for each in requests if _EFFECTS.search(each[1]))}
    safe: dict[str, set[str]] = defaultdict(set)
    for origin, said in requests:
        safe[origin] |= {said} if (origin, said) not in asked else set()
    return "\n".join(_section(origin, safe[origin], {said for at, said in asked if at == origin}) for origin in safe)


async def requests_of(store: Store, run_id: str) -> list[str]:
    """The addresses that a run was allowed to send something to, in order, as far as that is known to have happened."""
    entries = sorted(await store.ledger(run_id), key=lambda entry: entry.dispatched_at or 0.0)
    done = [one for one in entries if one.consequence and one.outcome is not None and one.outcome.status == "ok"]
    consequences = [await store.consequence(run_id, entry.consequence) for entry in done]
    addresses = [one.commit.address for one in consequences if one is not None and " " in one.commit.address]
    return [address for several in addresses for address in several.split(" and ")]


def _named(address: str) -> tuple[str, str]:
    method, _, url = address.partition(" ")
    where = parse(url)
    return where.origin, f"{method} {pattern(where.path)}"


def _section(origin: str, safe: set[str], asked: set[str]) -> str:
    lines = [f"[{json.dumps(origin)}]"]
    if safe:
        lines.append("# Led up to what the run was for. Take out what you want to be asked about:")
        lines.append(f"safe = {json.dumps(sorted(safe))}")
    if asked:
        lines.append(f"# Asked about each time: {', '.join(sorted(asked))}")
    return "\n".join([*lines, ""])
