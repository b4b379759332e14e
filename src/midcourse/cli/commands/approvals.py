"""`midcourse approve`, `reject` and `answer`: decide what a run asks, from any terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from midcourse.cli.options import Fleet, Json, Overrides, Run, load_home_and_fleet, teach
from midcourse.errors import TaskInvalid
from midcourse.home.folder import AtHome, has_store, open_catalogue
from midcourse.terminal.output import print_outcome

if TYPE_CHECKING:
    from midcourse.domain.approval import Decision, Verdict

NOTHING = 0
ANSWERS: "dict[str, tuple[Verdict, str]]" = {
    "happened": ("happened", "it counts as done"),
    "did_not_happen": ("did_not_happen", "it is looked for once more, and may then be done again"),
    "go_on": ("go_on", "it plans again"),
    "send_again": ("send_again", "it is sent again, exactly as shown"),
    "spend_more": ("spend_more", "it continues, and may spend exactly that much more"),
    "stop": ("stop", "it ends here"),
}

AskingRun = Annotated[
    str,
    typer.Argument(
        metavar="[RUN]",
        help="A run's id, the beginning of one, or 'last'. Without it, open questions are listed.",
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether you are sure.")]
AllValues = Annotated[
    bool,
    typer.Option("--all-values", help="With --yes: also approve values that are long or shown only by a digest."),
]
Shown = Annotated[
    list[str] | None,
    typer.Option(
        "--shown",
        metavar="DIGEST",
        help="The digest that you were shown (`digest` in midcourse approve --json, one for each step). If the question has "
        "changed since, nothing is approved and the difference is printed.",
    ),
]
ForTheRun = Annotated[
    bool,
    typer.Option(
        "--for-run",
        help="Approve exactly this for as often as the run needs it, and what the question says that this covers, instead of once.",
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--change",
        metavar="NAME=VALUE",
        help="Change this argument instead of approving it (2.NAME=VALUE for the second step). You are asked about the result.",
    ),
]

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse approve", "what is waiting for an answer"),
        ("midcourse approve last", "see exactly what will be sent, and decide"),
        ("midcourse approve last --change quantity=2", "change an argument; you are asked about the result"),
        ("midcourse approve --json", "for programs: every value, and the digest of each step"),
        (
            "midcourse approve 20260802-11 --yes --shown DIGEST --json",
            "approve exactly this, or nothing if it has changed",
        ),
    ),
)
def approve(
    run: AskingRun = "",
    yes: Yes = False,
    for_run: ForTheRun = False,
    change: Changes = None,
    all_values: AllValues = False,
    shown: Shown = None,
    set_: Fleet = None,
    json: Json = False,
) -> int:
    """Allow what a run asks for: exactly that, and nothing else.

    You are shown every value that will be sent. If one of them changes
    before it is sent, nothing is sent and you are asked again. What does not
    fit on a screen is shown page by page. To approve without reading to the
    end, or to approve a value that is shown only by its digest, you type a
    word instead of pressing a key.

    Without RUN, the command lists the questions that are waiting.

    Exit codes: 0 approved, 1 refused with a reason or not approved after all,
    2 misuse.
    """
    if not run:
        return _list_questions(set_, json=json)
    from midcourse.domain.approval import Decision

    decision = Decision(verdict="changed" if change else "approved", once=not for_run, all_values=all_values)
    reply = "approved, exactly as shown" + (", as often as this run needs it" if for_run else "")
    if change:
        reply = "it will be done like that once you have seen and approved the result: midcourse approve"
    return _decide(run, set_, decision, reply, sure=yes, json=json, changes=change or (), shown=shown or ())


@commands.command(
    epilog=teach(
        ("midcourse reject last", "nothing is sent, and the run ends"),
        ("midcourse reject last --guidance 'take the cheaper one'", "nothing is sent; it plans again with your words"),
    ),
)
def reject(
    run: Run,
    guidance: Annotated[str, typer.Option("--guidance", metavar="TEXT", help="What it should do instead.")] = "",
    set_: Fleet = None,
    json: Json = False,
) -> int:
    """Refuse what a run asks for.

    Exit codes: 0 rejected, 1 refused (the reason is printed), 2 misuse.
    """
    from midcourse.domain.approval import Decision

    reply = "rejected; it plans again with your words" if guidance.strip() else "rejected; nothing is sent, and it ends"
    decision = Decision(verdict="rejected", guidance=guidance.strip())
    return _decide(run, set_, decision, reply, sure=True, json=json)


@commands.command(
    epilog=teach(
        ("midcourse answer last happened", "it counts as done and is never done again"),
        ("midcourse answer last did_not_happen", "it is looked for once more, and may then be done again"),
        ("midcourse answer last go_on --guidance 'the second account'", "the answer to a question of the planner"),
        ("midcourse answer last stop", "the run ends here; nothing more is done"),
    ),
)
def answer(
    run: Run,
    word: Annotated[
        str,
        typer.Argument(
            metavar="WORD", help=f"{', '.join(list(ANSWERS)[:-1])} or {list(ANSWERS)[-1]}.", show_default=False
        ),
    ],
    guidance: Annotated[
        str, typer.Option("--guidance", metavar="TEXT", help="With go_on: your answer or advice, for the next plan.")
    ] = "",
    set_: Fleet = None,
    json: Json = False,
) -> int:
    """Answer a run that asks whether something happened, or whether it may spend more, or that passes on a question of its planner.

    Look for yourself first: the run believes you. Only if evidence now says
    that it did happen, you are shown that and asked again. To give advice to a run without an open question, use `midcourse guide`.

    Exit codes: 0 answered, 1 refused (the reason is printed), 2 misuse.
    """
    from midcourse.domain.approval import Decision

    chosen = word.replace("-", "_")
    if chosen not in ANSWERS:
        raise TaskInvalid(f"unknown answer: {word}; answers are {', '.join(ANSWERS)}")
    verdict, reply = ANSWERS[chosen]
    if guidance and verdict != "go_on":
        raise TaskInvalid("--guidance goes with go_on")
    decision = Decision(verdict=verdict, guidance=guidance.strip())
    return _decide(run, set_, decision, reply, sure=True, json=json)


def _decide(
    name: str,
    overrides: Overrides,
    decision: "Decision",
    reply: str,
    *,
    sure: bool,
    json: bool,
    changes: Sequence[str] = (),
    shown: Sequence[str] = (),
) -> int:
    import asyncio

    from midcourse.cli.session.deciding import decide

    return asyncio.run(decide(name, overrides, decision, reply, sure=sure, json=json, changes=changes, shown=shown))


def _list_questions(overrides: Overrides, *, json: bool) -> int:
    settings, fleet = load_home_and_fleet(overrides)
    if fleet is None and not _has_questions(settings):  # the usual case, in which nothing needs to be loaded
        print_outcome([], "nothing is waiting for an answer", json=json)
        return NOTHING
    import asyncio

    from midcourse.cli.session.deciding import list_questions

    return asyncio.run(list_questions(settings, fleet, json=json))


def _has_questions(settings: AtHome) -> bool:
    if not has_store(settings):
        return False
    with open_catalogue(settings) as catalogue:
        return catalogue.count("asking") > 0
