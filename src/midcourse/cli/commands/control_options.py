"""The commands by which people answer durable runs and tell them something."""

import typer

from midcourse.cli.options import (
    AllValues,
    AskingRun,
    Changes,
    Fleet,
    ForTheRun,
    Guidance,
    Json,
    Run,
    Shown,
    Text,
    Word,
    Yes,
    teach,
)

PANEL = "Durable runs"

commands = typer.Typer()


@commands.command(
    name="approve",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse approve", "what is waiting for an answer"),
        ("midcourse approve last", "see exactly what will be sent, and decide"),
        ("midcourse approve last --change quantity=2", "not like that; you are shown what comes of it"),
        ("midcourse approve --json", "for programs: every value, and the digest of each step"),
        ("midcourse approve 20260802-11 --yes --shown DIGEST --json", "this, or nothing if it has changed since"),
    ),
)
def approve_command(
    run: AskingRun = "",
    yes: Yes = False,
    for_run: ForTheRun = False,
    change: Changes = None,
    all_values: AllValues = False,
    shown: Shown = None,
    set_: Fleet = None,
    json: Json = False,
) -> None:
    """Allow what a durable run asks for: exactly that, and nothing else.

    You are shown every value that will be sent. If one of them changes
    before it is, nothing is sent and you are asked again. What does not fit
    on a screen is shown page by page. To approve without reading to the end,
    or a value shown only by its digest, you type a word instead of a key.

    Without a RUN it lists what is waiting.

    Exit codes: 0 approved, 1 refused with a reason or not approved after all,
    2 misuse.
    """
    from midcourse.cli.commands.decide import approve, list_questions

    if not run:
        raise typer.Exit(list_questions(set_ or [], json=json))
    code = approve(
        run,
        set_ or [],
        yes=yes,
        once=not for_run,
        json=json,
        changes=change or (),
        all_values=all_values,
        shown=shown or (),
    )
    raise typer.Exit(code)


@commands.command(
    name="reject",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse reject last", "nothing is sent, and the run ends"),
        ("midcourse reject last --guidance 'take the cheaper one'", "nothing is sent; it plans again with your words"),
    ),
)
def reject_command(run: Run, guidance: Guidance = "", set_: Fleet = None, json: Json = False) -> None:
    """Refuse what a durable run asks for.

    Exit codes: 0 rejected, 1 that came to nothing, for the reason given,
    2 misuse.
    """
    from midcourse.cli.commands.decide import reject

    raise typer.Exit(reject(run, guidance, set_ or [], json=json))


@commands.command(
    name="answer",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse answer last happened", "it counts as done and is never done again"),
        ("midcourse answer last did_not_happen", "it may be done again, at once"),
        ("midcourse answer last stop", "the run ends here; nothing more is done"),
    ),
)
def answer_command(run: Run, word: Word, set_: Fleet = None, json: Json = False) -> None:
    """Tell a durable run whether something happened that nothing else could decide, or how to go on.

    Look for yourself first: the run believes you. Advice for going on is what `midcourse guide` gives.

    Exit codes: 0 answered, 1 that came to nothing, for the reason given,
    2 misuse.
    """
    from midcourse.cli.commands.decide import answer

    raise typer.Exit(answer(run, word, set_ or [], json=json))


@commands.command(
    name="guide",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse guide last 'use the blue form'", "advice for the next plan; it forces none"),
    ),
)
def guide_command(run: Run, text: Text, set_: Fleet = None, json: Json = False) -> None:
    """Give the planner of a durable run advice for its next plan."""
    from midcourse.cli.commands.control import guide

    raise typer.Exit(guide(run, text, set_ or [], json=json))


@commands.command(
    name="pause",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse pause last", "after the step under way; midcourse resume goes on"),
    ),
)
def pause_command(run: Run, set_: Fleet = None, json: Json = False) -> None:
    """Have a durable run wait after the step under way, until it is resumed."""
    from midcourse.cli.commands.control import pause

    raise typer.Exit(pause(run, set_ or [], json=json))


@commands.command(
    name="take-over",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse take-over last", "returns when the world is yours; midcourse resume gives it back"),
    ),
)
def take_over_command(run: Run, set_: Fleet = None, json: Json = False) -> None:
    """Pause a durable run and act in its world yourself.

    Returns once nothing is under way any more. When you are done, midcourse
    resume looks at what you left, and plans from there.
    """
    from midcourse.cli.commands.control import take_over

    raise typer.Exit(take_over(run, set_ or [], json=json))


@commands.command(
    name="cancel",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse cancel last", "after the step under way; what is done stays done"),
    ),
)
def cancel_command(run: Run, set_: Fleet = None, json: Json = False) -> None:
    """End a durable run after the step under way. An act is never broken off."""
    from midcourse.cli.commands.control import cancel

    raise typer.Exit(cancel(run, set_ or [], json=json))
