"""`midcourse effects`: proposes what a policy file should say, from a supervised run or from one that has ended."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress

from midcourse.cli.commands.run import run
from midcourse.cli.lookup.places import located
from midcourse.cli.overrides import places_with


def learn(what: str, overrides: Sequence[str]) -> int:
    """From a person at a browser, or from a task; the exit code is the run's."""
    from midcourse.worlds.browser.learn import learn_policy

    with learn_policy() as learned:
        if what.startswith(("http://", "https://")):
            print(
                "Work in the browser as the task would. Close it, or press Ctrl-C, when you are done.", file=sys.stderr
            )
            with suppress(KeyboardInterrupt):
                asyncio.run(_sit_by(what))
            code = 0
        else:
            with redirect_stdout(sys.stderr):
                code = run(what, overrides, run_id="", again=False, json=False, quiet=True)
    print(learned.proposal(), end="")
    return code


def propose(name: str, overrides: Sequence[str]) -> None:
    print(asyncio.run(_proposal(name, overrides)), end="")


async def _proposal(name: str, overrides: Sequence[str]) -> str:
    from midcourse.worlds.browser.learn import propose_policy, requests_of

    async with located(*places_with(overrides, "home"), name) as found:
        return propose_policy(await requests_of(found.store, found.run.id))


async def _sit_by(url: str) -> None:
    from midcourse.worlds.browser.learn import open_attended

    async with open_attended(url) as session:
        await session.wait_until_closed()
