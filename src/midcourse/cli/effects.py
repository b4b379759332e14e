"""`midcourse effects learn`: watches one supervised run, and proposes what the policy file should say."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress

from midcourse.cli.run import run


def learn(what: str, overrides: Sequence[str]) -> int:
    """From a person at a browser, or from a task; the exit code is the run's."""
    from midcourse.worlds.browser.learn import learning

    with learning() as learned:
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


async def _sit_by(url: str) -> None:
    from midcourse.worlds.browser.learn import attended

    async with attended(url) as session:
        await session.left()
