"""Rules for tasks in an inbox, whose unnamed icons are found by their place beside text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.miniwob_tasks.planner import plans
from benchmarks.miniwob_tasks.screen import NotSeen, Screen, find_groups, nth, quoted
from benchmarks.miniwob_tasks.step import LOOK, click, fill
from midcourse.domain.plan import Draft

NAME = r"([A-Z][\w'-]*)"


@dataclass(frozen=True)
class MailTask:
    """What to do with whose mail."""

    sender: str
    answer: str = ""
    """Reply or Forward; nothing if an icon beside the mail does it."""
    text: str = ""
    """What to reply, or whom to forward it to."""
    icon: int = 0
    """The trash is the first beside a mail, the star the second."""


@plans("email-inbox-delete", "email-inbox-important")
def click_an_icon(said: str, seen: Screen) -> Sequence[Draft]:
    return _next_steps(_mail_task(said), seen)


@plans(
    "email-inbox",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
    "email-inbox-forward",
    "email-inbox-forward-nl",
    changes=True,
)
def see_to_a_mail(said: str, seen: Screen) -> Sequence[Draft]:
    return _next_steps(_mail_task(said), seen)


def _mail_task(said: str) -> MailTask:
    if "reply to them" in said:
        return MailTask(sender=find_groups(said, f"email by {NAME}")[0], answer="Reply", text=quoted(said)[0])
    if "trash icon" in said or "star icon" in said:
        return MailTask(sender=find_groups(said, f"email by {NAME}")[0], icon=1 if "trash" in said else 2)
    senders = re.search(f"(?:from|by) {NAME}|{NAME} sent|^{NAME} wants his", said)
    receivers = re.search(f"(?:to|Send|Give|Forward) {NAME}|^{NAME} (?:wants the|is waiting)", said)
    if not senders or not receivers:
        raise NotSeen(f"'{said}' does not say whose mail goes to whom")
    sender, receiver = (next(filter(None, match.groups())) for match in (senders, receivers))
    return MailTask(sender=sender, answer="Forward", text=receiver)


def _next_steps(mail_task: MailTask, seen: Screen) -> Sequence[Draft]:
    mail = next((zone for zone in seen.actable() if zone.label.startswith(f"{mail_task.sender} ")), None)
    if mail and mail_task.icon:
        return [click(nth(seen.after(mail).actable(""), mail_task.icon))]
    if mail:
        return [click(mail), LOOK]
    if "to:" in seen.texts():
        return [fill(nth(seen.fields(), 1), mail_task.text), click(nth(seen.actable(""), 2))]
    return [click(seen.get(mail_task.answer)), LOOK]
