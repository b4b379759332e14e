"""The notifier: finds new questions and ended runs in the stores, and tells webhooks and Slack until they accept the message.

It reads the stores instead of being called, so it also notices what other processes and workers did, and what happened while no
server was running.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime

from midcourse.domain.approval import Question
from midcourse.domain.result import Result
from midcourse.errors import MidcourseError
from midcourse.exception_text import format_traceback
from midcourse.ports.store import RunQuery
from midcourse.presentation.question import TITLES
from midcourse.presentation.result import headline
from midcourse.server.webhooks.config import EventType, Hook, SlackHook
from midcourse.server.webhooks.outbox import Outbox, Waiting, message_id
from midcourse.server.webhooks.sender import TIMEOUT, Answer, send
from midcourse.tenants.runs import NOT_ENDED, TenantRuns
from midcourse.tenants.tenants import Tenants

log = logging.getLogger(__name__)

LOOKS = 1.0
"""Seconds between two reads of the stores."""
IDLE = 0.2
"""Seconds between two reads of the outbox."""
RETRIES = (5.0, 300.0, 1800.0, 7200.0, 18000.0, 36000.0, 50400.0, 72000.0, 86400.0)
"""Seconds to wait after each failed attempt; about three days in total."""
PAGE = 100
"""Runs in a page. The newest page is always read again, because a run may become visible after one that began later."""
MOST_OPEN = 1000


class Notifier:
    def __init__(
        self,
        hooks: Sequence[Hook],
        tenants: Tenants,
        outbox: Outbox,
        origin: str,
        *,
        retries: Sequence[float] = RETRIES,
        timeout_seconds: float = TIMEOUT,
    ) -> None:
        """Create a notifier for these hooks. `origin` is the address of the console, for links."""
        self.hooks = tuple(hooks)
        self.outbox = outbox
        self._tenants = tenants
        self._origin = origin.rstrip("/")
        self._retries = tuple(retries)
        self._timeout = timeout_seconds
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start watching and delivering. It reads the stores once before it returns, so that later runs never count as history."""
        for tenant in sorted({hook.tenant for hook in self.hooks}):
            await self._notice_all(tenant)
            self._tasks.append(asyncio.create_task(self._watch(tenant), name=f"webhooks of {tenant}"))
        self._tasks += [asyncio.create_task(self._deliver(hook), name=f"webhook {hook.name}") for hook in self.hooks]
        for hook in self.hooks:
            if isinstance(hook, SlackHook) and hook.app_token:
                self._tasks.append(asyncio.create_task(self._listen(hook), name=f"Slack {hook.name}"))

    async def _listen(self, hook: SlackHook) -> None:
        """Answer commands in a channel of Slack."""
        from midcourse.server.webhooks.slack import SlackListener

        async def questions() -> tuple[Question, ...]:
            return await (await self._tenants.find_runs(hook.tenant)).open_questions(MOST_OPEN)

        await SlackListener(hook, questions, self._card_address).run()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.outbox.close()

    # --- noticing

    async def _watch(self, tenant: str) -> None:
        while True:
            await asyncio.sleep(LOOKS)
            await self._notice_all(tenant)

    async def _notice_all(self, tenant: str) -> None:
        try:
            tenant_runs = await self._tenants.find_runs(tenant)
            await self._notice_runs(tenant, tenant_runs)
            await self._notice_ends(tenant, tenant_runs)
            await self._notice_questions(tenant, tenant_runs)
        except (OSError, MidcourseError) as trouble:
            log.warning("webhooks of %s wait: %s", tenant, trouble)
        except Exception as error:
            log.error("webhooks of %s\n%s", tenant, format_traceback(error))

    async def _notice_runs(self, tenant: str, tenant_runs: TenantRuns) -> None:
        """Remember every run that began since the last read, even if it has already ended."""
        page = await tenant_runs.store.find_runs(RunQuery(limit=PAGE))
        latest = page[0].place if page else 0
        first, last = self.outbox.places(tenant, latest)
        found = list(page)
        while len(page) == PAGE and page[-1].place > last:
            page = await tenant_runs.store.find_runs(RunQuery(limit=PAGE, before=page[-1].place))
            found += page
        open_before = (
            () if last > first else await tenant_runs.store.find_runs(RunQuery(status=NOT_ENDED, limit=MOST_OPEN))
        )
        watched = {run.id: run.place for run in (*open_before, *(run for run in found if run.place > first))}
        self.outbox.watch(tenant, watched.items(), latest)

    async def _notice_ends(self, tenant: str, tenant_runs: TenantRuns) -> None:
        watched = self.outbox.not_ended(tenant)
        if not watched:
            return
        running = {run.id for run in await tenant_runs.store.find_runs(RunQuery(status=NOT_ENDED, limit=MOST_OPEN))}
        for run in watched:
            result = None if run in running else await tenant_runs.store.result(run)
            if result is not None:
                self._add(tenant, "run.ended", self._describe_end(tenant, result), run)
                self.outbox.ended(tenant, run)

    async def _notice_questions(self, tenant: str, tenant_runs: TenantRuns) -> None:
        for question in await tenant_runs.open_questions(MOST_OPEN):
            data, details = self._describe_question(tenant, question), (question.goal, *question.says)
            self._add(tenant, "question.asked", data, question.run, question.id, details=details)

    def _add(
        self, tenant: str, kind: EventType, data: dict[str, object], *about: object, details: Sequence[str] = ()
    ) -> None:
        for hook in self.hooks:
            if hook.tenant == tenant and kind in hook.events:
                now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
                more = {"details": details} if isinstance(hook, SlackHook) and hook.details and details else {}
                body = json.dumps({"type": kind, "timestamp": now, "data": {**data, **more}}, ensure_ascii=False)
                self.outbox.add(hook.name, message_id(hook.name, kind, tenant, *about), body.encode())

    def _describe_question(self, tenant: str, question: Question) -> dict[str, object]:
        """The data of a message about a question. It links to the values, which may be confidential and need a sign-in."""
        return {
            "tenant": tenant,
            "run": question.run,
            "question": question.id,
            "about": question.about,
            "title": TITLES[question.about],
            "expires_at": question.expires_at,
            "url": self._card_address(question),
        }

    def _card_address(self, question: Question) -> str:
        return f"{self._origin}/#/inbox?run={question.run}"

    def _describe_end(self, tenant: str, result: Result) -> dict[str, object]:
        words = headline(result)
        return {
            "tenant": tenant,
            "run": result.run,
            "success": result.success,
            "verified": result.verified,
            "sending": result.sending,
            "final_reason": result.final_reason,
            "sentence": f"{words[:1].upper()}{words[1:]}.",
            "url": f"{self._origin}/#/runs/{result.run}",
        }

    # --- delivering

    async def _deliver(self, hook: Hook) -> None:
        """Deliver the messages of one hook, one at a time. Other hooks do not wait for it."""
        while True:
            waiting = self.outbox.next(hook.name)
            if waiting is None:
                await asyncio.sleep(IDLE)
                continue
            answer = await self._send(hook, waiting)
            if answer.ok:
                self.outbox.delivered(waiting.id)
                continue
            after = self._retries[waiting.tries] if waiting.tries < len(self._retries) else None
            self.outbox.put_off(waiting.id, answer.problem, after)
            log.warning(
                "webhook %s: %s; %s",
                hook.name,
                answer.problem,
                "given up" if after is None else f"again in {after:g} s",
            )

    async def _send(self, hook: Hook, waiting: Waiting) -> Answer:
        if isinstance(hook, SlackHook):
            from midcourse.server.webhooks.slack import post_card

            return await post_card(hook, waiting.body, self._timeout)
        return await send(hook, waiting.id, waiting.body, self._timeout)
