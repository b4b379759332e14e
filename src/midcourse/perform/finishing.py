"""The commands `CheckDone` and `Finish`: check whether the task is done, and save the result."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial

from midcourse.containment import Contained
from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Spent, bill, total, without_call
from midcourse.domain.commands import CheckDone, Finish
from midcourse.domain.events import Acted, DoneChecked, Finished, Observed, Verified
from midcourse.domain.expectation import Probe
from midcourse.domain.observation import HELD_FOR, Observation, Surface, Unseen, Zone
from midcourse.domain.outcome import SIGN_INS, Outcome
from midcourse.domain.plan import Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.domain.result import SUCCESSES, BudgetUsed, DetourCounts, Result
from midcourse.domain.run import Run
from midcourse.domain.skill import Parameter
from midcourse.perform.history import History, HistoryCache
from midcourse.perform.learning import learn
from midcourse.perform.looking import is_world_lost, look, read_words
from midcourse.perform.ports import Deadline, Ports, describe_error
from midcourse.perform.reuse import keep_what_worked
from midcourse.perform.verification import fill_in_probe, probe_world
from midcourse.policy.evidence.claim import Claim, Request, SentAct, judge_claim, was_brought_by
from midcourse.policy.evidence.presence import is_shown
from midcourse.policy.evidence.verification import describe, holds
from midcourse.policy.output import ANSWERED, fill_in_results, fits, list_unseen, part_cells, write_results
from midcourse.policy.spending import MICRO, compute_ceiling, worst_plan
from midcourse.ports.abilities import offers
from midcourse.ports.extractor import Extract, Wanted
from midcourse.ports.metering import metering
from midcourse.ports.planner import Given

MOST_SCREENS = 6
"""The number of screens that are searched for the output, the latest first."""
LONGEST_VALUE = 2000


async def check_done(ports: Ports, command: CheckDone) -> DoneChecked:
    time = Deadline(ports.clock, command.timeout)
    wanted = await _list_wanted(ports, await ports.load_history()) if command.extract else ()
    must_look = command.look and bool(wanted or (ports.task.done_when and not isinstance(ports.task.done_when, Probe)))
    seconds = time.left(ports.task.limits.look_timeout_seconds)
    found = await look(ports, command.id, seconds) if must_look else None
    seen = found.seen if found else await ports.store.observation(ports.run_id, command.seen)
    checked = await _check_condition(ports, command, seen, time)
    spent = (found.spent if found else ()) + checked.spent
    if wanted and checked.verdict in ("met", "undecided"):
        history = await ports.load_history()
        screen = seen if isinstance(seen, Observation) else None
        extracted = await _extract_output(ports, wanted, history, screen, time, command.turn)
        wait = checked.wait if checked.wait is not None else extracted.wait
        checked, spent = replace(checked, data=extracted.data, wait=wait), spent + extracted.spent
    return replace(checked, seen=found.ref if found else None, cost=total(spent), spent=spent)


async def _check_condition(
    ports: Ports, command: CheckDone, seen: Observation | Unseen | None, time: Deadline
) -> DoneChecked:
    """Check `done_when` against the screen, or with its probe."""
    condition = ports.task.done_when
    if condition is None:
        return DoneChecked(answers=command.id, verdict="undecided")
    if isinstance(condition, Probe):
        return await _ask_probe(ports, command, condition, time)
    if not isinstance(seen, Observation):
        detail = seen.detail if isinstance(seen, Unseen) else "nothing has been seen"
        return DoneChecked(answers=command.id, verdict="undecided", detail=detail)
    words, held = describe(condition), holds(condition, seen)
    if held is not False and (unsent := _find_unsent(seen)):
        # An optimistic page shows success before its request has left, and keeps showing it if the request was rejected.
        detail = f"{unsent} has not been sent, so the screen '{seen.surface.title}' proves nothing"
        return DoneChecked(answers=command.id, verdict="unmet", detail=detail)
    if held is not None:
        return _build_done_checked(command, held, words, seen)
    read = await read_words(ports, condition, seen, time, turn=command.turn)
    if read.verdict is None:
        return _build_done_checked(command, None, words, seen)
    found = _build_done_checked(
        command, read.verdict.holds, words, seen, f" ({read.verdict.why})" if read.verdict.why else ""
    )
    return replace(found, spent=read.spent, wait=read.verdict.wait)


def _find_unsent(seen: Observation) -> str:
    """The request of one of the run's acts that the world holds back, if there is one."""
    return next((zone.label for zone in seen.zones if zone.role == "request" and zone.get(HELD_FOR)), "")


def _build_done_checked(
    command: CheckDone, held: bool | None, words: str, seen: Observation, why: str = ""
) -> DoneChecked:
    match held:
        case True:
            return DoneChecked(answers=command.id, verdict="met", detail=f"seen: {words}{why}")
        case False:
            detail = f"expected {words}; the screen is '{seen.surface.title}'{why}"
            return DoneChecked(answers=command.id, verdict="unmet", detail=detail)
        case None:
            return DoneChecked(answers=command.id, verdict="undecided", detail=f"cannot be checked here: {words}{why}")


async def _ask_probe(ports: Ports, command: CheckDone, probe: Probe, time: Deadline) -> DoneChecked:
    arguments = ports.fill_in(probe.arguments)
    if isinstance(arguments, str):
        return DoneChecked(answers=command.id, verdict="undecided", detail=arguments)
    try:
        finding = await probe_world(ports, probe, arguments, time.left())
    except Exception as error:
        return DoneChecked(answers=command.id, verdict="undecided", detail=describe_error(error))
    found, missed = ("found nothing", "still finds it") if probe.negated else ("found it", "found nothing")
    if finding == "present":
        return DoneChecked(answers=command.id, verdict="met", detail=f"the probe '{probe.name}' {found}")
    if finding == "unclear" and await is_world_lost(ports, time.left()):
        detail = f"the probe '{probe.name}' could not be asked: the world is gone"
        return DoneChecked(answers=command.id, verdict="world_lost", detail=detail)
    if finding == "unclear":
        return DoneChecked(answers=command.id, verdict="undecided", detail=f"the probe '{probe.name}' cannot tell")
    sent = [e.dispatched_at for e in (await ports.refresh_history()).entries if e.dispatched_at is not None]
    early = max(sent, default=0.0) + probe.settles_after - ports.clock.now()
    if early > 0:
        return DoneChecked(answers=command.id, verdict="too_early", seconds=early)
    return DoneChecked(answers=command.id, verdict="unmet", detail=f"the probe '{probe.name}' {missed}")


# --- the output, read from the screens


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """The values that were read for the output, and what that cost."""

    data: Pairs = ()
    spent: tuple[Spent, ...] = ()
    wait: float | None = None


async def _list_wanted(ports: Ports, history: History) -> tuple[Parameter, ...]:
    """The fields of the task's output to be read from screens: those without a value, only required ones if the planner gave any."""
    if ports.extractor is None or not ports.task.limits.reads_words:
        return ()
    run, _ = await ports.store.load(ports.run_id)
    known = dict((*fill_in_results(run.given, history.data), *history.data))
    lacking = [field for field in ports.task.output if not fits(known.get(field.name), field)]
    return tuple(field for field in lacking if field.required or not run.given)


async def _extract_output(
    ports: Ports,
    fields: tuple[Parameter, ...],
    history: History,
    now: Observation | None,
    time: Deadline,
    turn: int = 0,
) -> Extraction:
    """Read these fields from the screens of this run."""
    assert ports.extractor is not None, "nothing is wanted without an extractor"
    screens = await _load_screens(ports, history, now)
    worst = worst_plan(ports.task.limits)
    wanted = Wanted(task=ports.public_task, fields=fields, screens=screens, worst=worst, turn=turn)
    with metering() as meter:
        try:
            seconds = time.left(ports.task.limits.plan_timeout_seconds)
            async with Contained(seconds):
                found = await ports.extractor.extract(wanted)
        except TimeoutError:
            found = Extract(why="it was not read in time", cost=without_call(meter.at_most(worst)), wait=0.0)
        except Exception as error:
            found = Extract(why=describe_error(error), cost=meter.at_most(worst))
    data = ports.mask(_select_valid(found.data, fields, screens))
    return Extraction(data=data, spent=bill("extractor", found.cost, 0, found.model), wait=found.wait)


async def _load_screens(ports: Ports, history: History, now: Observation | None) -> tuple[Observation, ...]:
    ids = dict.fromkeys(plan.observation for plan in reversed(history.plans))
    earlier = [await ports.store.observation(ports.run_id, seen) for seen in [*ids][:MOST_SCREENS]]
    different = {seen.fingerprint: seen for seen in (now, *earlier) if seen is not None}
    return tuple(different.values())[:MOST_SCREENS]


def _select_valid(data: Pairs, fields: tuple[Parameter, ...], screens: tuple[Observation, ...]) -> Pairs:
    """Values that were asked for, have the right type and appear on a screen: any other value is made up."""
    wanted = {field.name: field for field in fields}
    return tuple(
        (name, value[:LONGEST_VALUE] if isinstance(value, str) else value)
        for name, value in dict(data).items()
        if name in wanted and fits(value, wanted[name]) and is_shown(value, screens, whole=True)
    )


# --- the result


async def finish(ports: Ports, command: Finish) -> Finished:
    run, _ = await ports.store.load(ports.run_id)
    if command.reason in SUCCESSES and not (command.verified or _is_given(ports)):
        await _look_for_last_effect(ports, command)
    # 'Done' is the planner's word: the ledger decides whether anything supports or contradicts it.
    claim = await _judge_claim(ports, command, run)
    if claim.contradiction:
        command = replace(command, reason="contradicted", detail=claim.contradiction, verified=False)
    await ports.store.save_result(await _build_result(ports, command, run, claim))
    await keep_what_worked(ports, command, run)
    await learn(ports, ended=command.reason)
    with suppress(Exception):  # the result is saved; a world that cannot be closed does not change it
        async with Contained(ports.task.limits.look_timeout_seconds):
            await ports.world.close()
    return Finished(answers=command.id, verified=claim.verified, contradiction=claim.contradiction)


# --- what supports that it is done


async def _look_for_last_effect(ports: Ports, command: Finish) -> None:
    """Ask the probe of the last effect if something less has shown that it happened. It costs a look and no model.

    Only a finding is kept: what is not found now may show later, and what was seen was seen. Plans of an author are left alone, since
    a probe of theirs may be a call of their own function.
    """
    history = await ports.refresh_history()
    effects = [
        (entry, outcome, step)
        for entry, outcome in _list_sent(history, command)
        for step in (history.plans[entry.version].steps[entry.index],)
        if (entry.identity or step.effect == "irreversible") and outcome.reason not in SIGN_INS
    ]
    if not effects:
        return
    entry, outcome, step = effects[-1]
    if outcome.status != "ok" or outcome.evidence == "probe" or step.probe is None or step.probe.negated:
        return
    probe = await fill_in_probe(ports, step, step.probe)
    arguments = ports.fill_in(probe.arguments)
    if isinstance(arguments, str) or not await _is_check(ports, step, _list_sent(history, command)):
        return
    with suppress(Exception):  # it decides nothing, so a world that cannot be asked changes nothing
        seconds = ports.task.limits.look_timeout_seconds
        if await probe_world(ports, probe, arguments, seconds) == "present":
            found = replace(outcome, evidence="probe", detail=f"the probe '{probe.name}' found it at the end")
            await ports.store.write_ledger(ports.run_id, replace(entry, outcome=found))
            history.forget_entries(entry.command)


def _list_sent(history: HistoryCache, command: Finish) -> list[tuple[LedgerEntry, Outcome]]:
    return [
        (entry, outcome)
        for entry, outcome in history.outcomes(command.outcome_answers)
        if entry.dispatched_at is not None and outcome.evidence != "not_dispatched"
    ]


async def _judge_claim(ports: Ports, command: Finish, run: Run) -> Claim:
    history = await ports.refresh_history()
    limits, given = run.limits, _is_given(ports)
    sent = _list_sent(history, command)
    acts = [
        SentAct(
            outcome=outcome,
            irreversible=bool(entry.identity) or step.effect == "irreversible",
            likeness=entry.likeness.digest if entry.likeness else entry.identity,
            found=outcome.status == "ok" and outcome.evidence == "probe" and await _is_check(ports, step, sent),
            what=f"'{step.says or step.skill}'",
        )
        for entry, outcome in sent
        for step in (history.plans[entry.version].steps[entry.index],)
    ]
    one_step = run.segment is not None and len(run.segment.steps) == 1
    one_call = given and one_step and not (limits.max_replans or limits.max_error_replans)
    return judge_claim(command.reason, acts, checked=command.verified, sends=ports.task.sends, one_call=one_call)


def _is_given(ports: Ports) -> bool:
    return offers(ports.planner, Given) and ports.planner.given


async def _is_check(ports: Ports, step: Step, sent: Sequence[tuple[LedgerEntry, Outcome]]) -> bool:
    """Whether the probe of this step counts as a check of the goal: the task or its world gave it, or a model could not have faked it."""
    catalogue = ports.world.catalogue()
    skill, probe = catalogue.skill(step.skill), step.probe
    if probe is None:
        return False
    history = await ports.refresh_history()
    plan = history.plans[step.version]
    if _is_given(ports) and plan.reused is None:
        return True
    if skill and skill.probe and skill.probe.name == probe.name:
        return set(probe.arguments) <= {*skill.probe.arguments, *step.arguments}
    spec, filled = catalogue.probe(probe.name), ports.fill_in((await fill_in_probe(ports, step, probe)).arguments)
    if spec is None or isinstance(filled, str):
        return False
    texts = [str(value) for name, value in filled if name == spec.looks_for or not spec.looks_for]
    requests = [
        await _read_request(ports, entry)
        for entry, outcome in sent
        if entry.consequence and outcome.status == "ok" and outcome.reason not in SIGN_INS
    ]
    steps = [history.plans[entry.version].steps[entry.index] for entry in history.entries]
    pairs = [ports.fill_in(each.arguments) for each in steps if each.effect != "irreversible"]
    entered = frozenset(value for each in pairs if not isinstance(each, str) for _, value in each)
    return bool(texts) and all(was_brought_by(text, requests, entered) for text in texts)


async def _read_request(ports: Ports, entry: LedgerEntry) -> Request:
    consequence = await ports.store.consequence(ports.run_id, entry.consequence)
    values = tuple(dict(consequence.commit.values).values()) if consequence else ()
    return Request(values=values, before=await ports.store.observation(ports.run_id, entry.seen))


async def _build_result(ports: Ports, command: Finish, run: Run, claim: Claim) -> Result:
    history = await ports.load_history(command.outcome_answers)
    given = run.given if command.reason in ANSWERED else ()
    said = fill_in_results(given, history.data)
    data, missing = _select_output(ports, tuple({**dict(command.data), **dict(history.data), **dict(said)}.items()))
    named = {name for name, _ in said} & {name for name, _ in data}
    return Result(
        run=run.id,
        goal=ports.task.goal,
        answer=write_results(run.answer, history.data) if command.reason in ANSWERED else "",
        structured=tuple(field.name for field in ports.task.output if field.type == "json"),
        sources=tuple((each.name, each.source) for each in given if each.name in named),
        unseen=await _list_unseen(ports, run, history, tuple(pair for pair in data if pair[0] in named)),
        success=command.reason in SUCCESSES,
        verified=claim.verified,
        sending=claim.sending,
        shown_by=claim.shown_by,
        final_reason=command.reason,
        final_detail=command.detail,
        replans=run.counts.extensions + run.counts.replans,
        extensions=run.counts.extensions,
        steps=run.counts.steps,
        executions=run.counts.executions,
        planner_calls=run.counts.planner_calls,
        wall_seconds=round(run.now - run.started_at, 3),
        completed=history.completed,
        attempts=history.attempts,
        budget=build_budget_used(run),
        spent=run.spent,
        data=data,
        missing=missing,
        audit=await ports.store.audit_head(),
        reused=run.counts.reused,
        global_steps=run.counts.global_steps,
        detours=DetourCounts(**{field.name: getattr(run.counts, field.name) for field in fields(DetourCounts)}),
    )


async def _list_unseen(ports: Ports, run: Run, history: History, given: Pairs) -> tuple[str, ...]:
    """The names of values that no screen and no result of the run shows, and the task does not name either."""
    values = (*history.data, *ports.public_task.inputs)
    texts = tuple(Zone(id=name, role="text", label=part_cells(str(value))) for name, value in values)
    screens = [Observation(id="", surface=Surface(title=""), zones=texts, fingerprint="")]
    ids = [run.seen.id if run.seen else "", *(plan.observation for plan in history.plans)]
    ids += [entry.seen for entry in (await ports.refresh_history()).entries]
    unseen = tuple(name for name, _ in given)
    for read_journal in (False, True):
        if unseen and read_journal:  # a planner that asks, or is not believed that it is done, makes no plan
            events = [row.event for row in await ports.store.journal(ports.run_id)]
            looked = (event for event in events if isinstance(event, Observed | Acted | Verified | DoneChecked))
            ids = [event.seen.id for event in looked if event.seen and event.seen.id not in ids]
        found = [await ports.store.observation(ports.run_id, seen) for seen in dict.fromkeys(ids) if seen and unseen]
        screens += [seen for seen in found if seen is not None]
        left = tuple(pair for pair in given if pair[0] in unseen)
        unseen = list_unseen(left, ports.task.output, partial(is_shown, screens=tuple(screens), whole=True))
    return unseen


def _select_output(ports: Ports, data: Pairs) -> tuple[Pairs, tuple[str, ...]]:
    """The requested output fields that have a value of the right type, and the names of required ones that do not."""
    wanted = {field.name: field for field in ports.task.output}
    if not wanted:
        return data, ()
    found = tuple((name, value) for name, value in data if name in wanted and fits(value, wanted[name]))
    names = {name for name, _ in found}
    return found, tuple(name for name, field in wanted.items() if field.required and name not in names)


def build_budget_used(run: Run) -> BudgetUsed:
    limits, counts, spent, ceiling = run.limits, run.counts, run.budget.spent, compute_ceiling(run)
    return BudgetUsed(
        calls=spent.calls,
        max_calls=ceiling.calls,
        segments=counts.segments,
        max_segments=limits.max_segments,
        replans=counts.replans,
        max_replans=limits.max_replans,
        error_replans=counts.error_replans,
        max_error_replans=limits.max_error_replans,
        tokens=spent.tokens,
        max_tokens=None if limits.max_tokens is None else ceiling.tokens,
        cost_usd=spent.microusd / MICRO,
        max_cost_usd=None if limits.max_cost_usd is None else ceiling.microusd / MICRO,
        wall_seconds=round(run.budget.active_seconds, 3),
        max_wall_seconds=limits.max_wall_seconds,
        overrun=run.overrun,
        at_most=spent.at_most,
    )
