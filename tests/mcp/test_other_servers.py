"""Servers that describe their tools badly or coarsely: SQLite's has no hints at all, Playwright's calls everything destructive.

Run by `just nightly`, which installs them: SQLite's in an environment of its own, because it does not start with mcp 2.
"""

import os
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from midcourse import Agent, Draft, PlanDraft
from midcourse.planners import SamePlan
from midcourse.testing import Approves, MemoryStore, Rejects
from midcourse.testing.sites import PASSWORD, USER, Tickets, serve
from midcourse.worlds import Mcp
from tests.mcp.test_npm import INSTALLED, LEFTOVERS, program

SQLITE = os.environ.get("MCP_SQLITE", "")
"""The program of the server."""
INSERT = "INSERT INTO orders VALUES ('PO-1')"
READS = {"read_query": {"effect": "read"}, "list_tables": {"effect": "read"}, "describe_table": {"effect": "read"}}
PROBED = {"probe": {"tool": "read_query", "arguments": {"query": "SELECT * FROM orders"}, "contains": "PO-1"}}

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not SQLITE, reason="MCP_SQLITE names no server")
@pytest.mark.parametrize(("approver", "rows"), [(Approves(), 1), (Rejects(), 0)], ids=["approved", "rejected"])
def test_the_sqlite_server_writes_what_was_approved(approver: Any, rows: int, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.db") as db:
        db.execute("CREATE TABLE orders (reference TEXT)")
    policy = {"tools": {**READS, "write_query": PROBED}}
    world = Mcp([SQLITE, "--db-path", str(tmp_path / "shop.db")], policy=policy, environment=LEFTOVERS)
    plan = [Draft(skill="list_tables"), Draft(skill="write_query", arguments={"query": INSERT})]
    result = Agent(world, SamePlan(plan), approver=approver, store=MemoryStore()).run_sync("Order")
    assert result.success is bool(rows)
    assert [question.consequences[0].skill for question in approver.questions] == ["write_query"]
    assert sqlite3.connect(tmp_path / "shop.db").execute("SELECT count(*) FROM orders").fetchone() == (rows,)


class Clerk:
    """Reports a ticket with the tools of Playwright's server, by the references in its snapshots."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def plan(self, context: Any) -> PlanDraft:
        shown = next((zone.get("text") for zone in context.observation.zones if zone.label == "browser_snapshot"), "")
        match sum(step.skill == "browser_snapshot" for step in context.completed):
            case 0:
                steps = [visit(self._url)]
            case 1:
                steps = [fill(shown, "User name", USER), fill(shown, "Password", PASSWORD), click(shown, "Sign in")]
            case 2:
                steps = [visit(f"{self._url}/tickets/new")]
            case 3:
                fields = {"Customer number": "C-4711", "Subject": "Lamp hums", "Description": "In B flat."}
                steps = [*(fill(shown, name, text) for name, text in fields.items()), click(shown, "Create ticket")]
            case _:
                return PlanDraft(verdict="done")
        return PlanDraft(steps=[*steps, Draft(skill="browser_snapshot"), Draft(zone="__replan__")])


def visit(url: str) -> Draft:
    return Draft(skill="browser_navigate", arguments={"url": url})


def fill(shown: str, name: str, text: str) -> Draft:
    return Draft(skill="browser_type", arguments={"target": reference(shown, "textbox", name), "text": text})


def click(shown: str, name: str) -> Draft:
    return Draft(skill="browser_click", arguments={"target": reference(shown, "button", name)}, says=name)


def reference(shown: str, role: str, name: str) -> str:
    found = re.search(rf'{role} "{name}".*?\[ref=(\w+)\]', shown)
    assert found, shown
    return found[1]


@pytest.mark.skipif(not INSTALLED, reason="MCP_NPM names no folder with the servers")
def test_the_playwright_server_clicks_what_was_approved(tmp_path: Path) -> None:
    chromium = shutil.which("chromium") or ""
    server = [program("playwright-mcp"), "--headless", "--executable-path", chromium, "--no-sandbox", "--isolated"]
    harmless = {"effect": "set_state"}
    policy = {"trusted": True, "tools": {"browser_navigate": harmless, "browser_type": harmless}}
    world = Mcp(server, policy=policy, environment=LEFTOVERS, folder=str(tmp_path), stateful=True)
    approver, site = Approves(), Tickets()
    with serve(site) as url:
        result = Agent(world, Clerk(url), approver=approver, store=MemoryStore()).run_sync("Report that the lamp hums")
    assert result.success, result.final_detail
    assert [question.says[0] for question in approver.questions] == ["Sign in", "Create ticket"]
    assert [effect.name for effect in site.effects if effect.name == "ticket"] == ["ticket"]
