"""Starting a run while Temporal is overloaded."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from midcourse.agent.start import new_run
from midcourse.domain.task import Task
from midcourse.runtimes.temporal import client as module
from midcourse.runtimes.temporal.client import FleetClient
from midcourse.store.memory import MemoryStore

TASK = Task(goal="tick", world="clockwork")


class OverloadedServer:
    """Answers as Temporal does when it cannot read its namespaces."""

    namespace = "default"

    def __init__(self, failures: int, status: RPCStatusCode) -> None:
        self.failures, self.status, self.asked = failures, status, 0

    async def start_workflow(self, *_: Any, **__: Any) -> None:
        self.asked += 1
        if self.asked <= self.failures:
            raise RPCError("Namespace default is not found.", self.status, b"")

    def get_workflow_handle_for(self, _: object, name: str) -> SimpleNamespace:
        return SimpleNamespace(id=name)


async def start(server: OverloadedServer) -> None:
    fleet = FleetClient(cast(Client, server), store=cast(Any, MemoryStore()), tenant="acme")
    await fleet.start(new_run(TASK, "first"), world="clockwork")


async def test_a_namespace_that_is_missing_for_a_moment_is_asked_for_again() -> None:
    server = OverloadedServer(2, RPCStatusCode.NOT_FOUND)
    await start(server)
    assert server.asked == 3


async def test_a_namespace_that_stays_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NAMED_WITHIN", 0.3)
    with pytest.raises(RPCError, match="not found"):
        await start(OverloadedServer(1000, RPCStatusCode.NOT_FOUND))


async def test_other_errors_are_not_retried() -> None:
    server = OverloadedServer(1, RPCStatusCode.PERMISSION_DENIED)
    with pytest.raises(RPCError):
        await start(server)
    assert server.asked == 1
