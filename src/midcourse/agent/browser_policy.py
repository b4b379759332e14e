"""Policy files for browsers, proposed from a user's own work or from a run that has ended."""

from midcourse.ports.store import Store
from midcourse.worlds.browser.learn import learn_policy as learn_policy
from midcourse.worlds.browser.learn import list_sent_requests, propose_policy
from midcourse.worlds.browser.learn import open_attended as open_attended


async def proposal_from(store: Store, run_id: str) -> str:
    """Propose a policy file with which a run like this one asks fewer questions."""
    return propose_policy(await list_sent_requests(store, run_id))
