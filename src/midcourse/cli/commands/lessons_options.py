"""`midcourse lessons` and what people can do with lessons below it."""

from typing import Annotated

import typer

from midcourse.cli.options import DurableOnly, Fleet, Json, teach

commands = typer.Typer(
    invoke_without_command=True,
    epilog=teach(
        ("midcourse lessons", "what failed in this home, and how often a new plan mended it"),
        ("midcourse lessons show 3f2a", "one of them, with all that was said"),
        ("midcourse lessons share 3f2a --yes", "let the planners of other agents read it, as it is now"),
        ("midcourse lessons forget 3f2a --durable", "the cause is gone: begin to count anew"),
    ),
)

Lesson = Annotated[str, typer.Argument(metavar="LESSON", help="Its key, or the beginning of it.", show_default=False)]
Owner = Annotated[str, typer.Option("--agent", metavar="NAME", help="Whose, if several agents have learned it.")]
Read = Annotated[bool, typer.Option("--yes", help="You have read it, and its words may go to other agents' planners.")]


@commands.callback()
def lessons_command(
    context: typer.Context, set_: Fleet = None, durable: DurableOnly = False, json: Json = False
) -> None:
    """List what failures taught, the latest first; show, share or forget one."""
    if context.invoked_subcommand is None:
        from midcourse.cli.commands.lessons import list_lessons

        list_lessons(set_ or [], durable=durable, json=json)


@commands.command(name="show")
def show_command(lesson: Lesson, set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """Show a lesson as every agent knows it.

    What it said, why it happened and what mended it are words of a world or
    of a model: nobody has checked them.
    """
    from midcourse.cli.commands.lessons import show_lesson

    show_lesson(lesson, set_ or [], durable=durable, json=json)


@commands.command(name="share")
def share_command(
    lesson: Lesson,
    agent: Owner = "",
    yes: Read = False,
    set_: Fleet = None,
    durable: DurableOnly = False,
    json: Json = False,
) -> None:
    """Let the planners of the tenant's other agents read it, as it is now.

    Until then they learn only how often a new plan helped. What its agent
    learns later is not shared with it.
    """
    from midcourse.cli.commands.lessons import share_lesson

    share_lesson(lesson, agent, set_ or [], durable=durable, yes=yes, json=json)


@commands.command(name="forget")
def forget_command(lesson: Lesson, set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """Forget a lesson under every agent, with all its numbers.

    Runs that it would have stopped plan again.
    """
    from midcourse.cli.commands.lessons import forget_lesson

    forget_lesson(lesson, set_ or [], durable=durable, json=json)
