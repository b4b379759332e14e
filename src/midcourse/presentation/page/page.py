"""Renders the page: a head with a sentence and facts about the run, then the sections, in one self-contained file."""

from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from midcourse.ports.blobs import Blobs
from midcourse.ports.store import Store
from midcourse.presentation.page.markup import NOTHING, Markup, element, join, text
from midcourse.presentation.page.sections import (
    render_log,
    render_pictures,
    render_pill,
    render_plans,
    render_questions,
    render_sent,
    render_spending,
)
from midcourse.presentation.page.story import MOST_BYTES, Story, read_story
from midcourse.presentation.result import describe_counts, describe_values, tone_of
from midcourse.presentation.vocabulary import format_argument, format_time

POLICY = "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'"
PILLS = {"ask": "not ended", "good": "verified", "doubt": "not verified", "plain": "returned", "bad": "failed"}
PARTS = (
    ("sent", "Sent"),
    ("questions", "Questions"),
    ("plans", "Plans"),
    ("pictures", "Pictures"),
    ("spent", "Cost"),
    ("log", "Log"),
)


async def page_of_run(store: Store, blobs: Blobs, run_id: str, *, name: str = "", most_bytes: int = MOST_BYTES) -> str:
    """The run in its current state as HTML. Pictures beyond `most_bytes` are left out, and the page says so. Raises `RunUnknown`."""
    return render_page(await read_story(store, blobs, run_id, name=name, most_bytes=most_bytes))


def render_page(story: Story) -> str:
    sections = {
        "sent": render_sent(story),
        "questions": render_questions(story),
        "plans": render_plans(story),
        "pictures": render_pictures(story),
        "spent": render_spending(story),
        "log": render_log(story),
    }
    links = [element("a", word, href=f"#{anchor}") for anchor, word in PARTS if sections[anchor]]
    body = element(
        "body",
        element("main", _render_head(story), element("nav", *links, aria_label="Sections"), *sections.values()),
        element("footer", _render_foot(story)),
    )
    return f'<!doctype html>\n<html lang="en">{_render_meta(story)}{body}</html>\n'


def _render_meta(story: Story) -> Markup:
    style = _read_style()
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY.format(style=_compute_digest(style))),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"Midcourse run {story.journal.opening.id}"),
        element("style", style),
    )


@lru_cache(maxsize=1)
def _read_style() -> Markup:
    return Markup((Path(__file__).parent / "page.css").read_text(encoding="utf-8"))


def _compute_digest(style: str) -> str:
    return b64encode(sha256(style.encode()).digest()).decode()


def _render_head(story: Story) -> Markup:
    result, task = story.result, story.journal.task
    tone = "ask" if result is None else tone_of(result)
    word = PILLS[tone]
    return element(
        "header",
        element(
            "p",
            element("b", "Midcourse"),
            " run ",
            element("code", story.journal.opening.id),
            " ",
            render_pill(tone, word),
        ),
        element("h1", text(story.sentence)),
        element("p", text(task.goal), class_="goal"),
        element("p", text(result.answer), class_="answer") if result and result.answer else None,
        element("p", text(result.final_detail), class_="soft") if result and result.final_detail else None,
        _render_facts(story),
        class_="top",
    )


def _render_facts(story: Story) -> Markup:
    task, result, opening = story.journal.task, story.result, story.journal.opening
    facts = [
        ("Task", text(story.name)),
        ("World", text(task.world)),
        ("Started", join([format_time(story.began_at), " by " if task.by else "", text(task.by)])),
        ("Came to", text(describe_counts(result)) if result else NOTHING),
        ("Key", text(task.key)),
        ("Continues", text(f"run {opening.forked_from.run}") if opening.forked_from else NOTHING),
        *((f"Input {name}", text(format_argument(value))) for name, value in task.inputs),
        *((f"Data {name}", text(line)) for name, line in (describe_values(result) if result else ())),
    ]
    rows = [element("div", element("dt", _render_label(name)), element("dd", value)) for name, value in facts if value]
    return element("dl", *rows)


def _render_label(name: str) -> Markup:
    kind, _, rest = name.partition(" ")
    return join([f"{kind} ", text(rest)]) if rest else Markup(kind)


def _render_foot(story: Story) -> Markup:
    audit = story.result.audit if story.result else None
    return element(
        "p",
        f"Written {format_time(story.told_at)} by Midcourse {version('midcourse')} from a journal of ",
        f"{len(story.journal.rows)} events. Times are local to where it was written. ",
        "This file has no script and loads nothing.",
        element("br") if audit else None,
        join(["Audit log, last row: ", element("code", f"{audit.n} {audit.hash}")]) if audit else None,
    )
