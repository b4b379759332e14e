"""Midcourse as README shows it: a browser, a model, and a person who approves. Cookies are kept in a file, as docs/browser.md advises."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from benchmarks.first_run import Sensible, is_effect
from midcourse import Agent, Settings, Task
from midcourse.domain.approval import Question
from midcourse.domain.expectation import Probe
from midcourse.worlds.browser import Browser

os.environ.setdefault("OPENAI_API_KEY", "none")


async def run(job: dict[str, Any]) -> dict[str, Any]:
    person = Sensible()
    home = Path(job["home"])
    settings = Settings.load(overrides={"home": str(home), "model_base_url": job["model"]})
    world = Browser(job["url"], storage=str(home / "cookies.json"))
    agent = Agent(world=world, model="openai:gpt-5", approver=person, settings=settings)
    if job["again"]:
        result = await agent.resume(job["run"])
    else:
        path, text = job["listed"]
        listed = Probe(name="page_shows", arguments={"url": urljoin(job["url"], path), "text": text})
        done = listed if job["checked"] else None
        result = await agent.run(Task(goal=job["goal"], done_when=done, limits=settings.limits()), run_id=job["run"])
    return {
        "claimed": bool(result.success),
        "reason": f"{result.final_reason}: {result.final_detail}",
        "questions": len(person.questions),
        "doubts": sum(is_doubt(question) for question in person.questions),
    }


def is_doubt(question: Question) -> bool:
    """A question that a person has to look elsewhere to answer."""
    effect = any(is_effect(each.commit) for each in question.consequences)
    return question.about != "approve" and (question.about != "repeat" or effect)
