"""The commands about what leaves a browser."""

from typing import Annotated

import typer

from midcourse.cli.options import Set, teach

commands = typer.Typer(help="What may leave a browser, and what is known about it.", no_args_is_help=True)

Watched = Annotated[
    str, typer.Argument(metavar="URL|TASK", help="Where you begin to work, or a task to run.", show_default=False)
]


@commands.command(
    name="learn",
    epilog=teach(
        (
            "midcourse effects learn https://shop.example > origins.toml",
            "you work in a browser; close it when you are done",
        ),
        ("midcourse effects learn order.toml > origins.toml", "the task runs, and you are asked as always"),
    ),
)
def learn_command(watched: Watched, set_: Set = None) -> None:
    """Propose a policy file from what one supervised run showed.

    It names the origins that were spoken to. What would make a browser
    stricter is proposed as it is; what would loosen it is a comment, and
    counts only once you take the # away.

    Exit codes: those of the run; 0 if you worked yourself.
    """
    from midcourse.cli.commands.effects import learn

    raise typer.Exit(learn(watched, set_ or []))


Finished = Annotated[str, typer.Argument(metavar="RUN", help="A run that has ended, or 'last'.", show_default=False)]


@commands.command(
    name="propose",
    epilog=teach(
        ("midcourse effects propose last > origins.toml", "read it, then give it to the next run"),
        ('midcourse run order.toml   # with [world] origins = "origins.toml"', "asks about the order only"),
    ),
)
def propose_command(run: Finished, set_: Set = None) -> None:
    """Propose a policy file from what a run was allowed to send.

    Requests that led up to the last one (drafts, a basket, pages of a form)
    are proposed as safe: the next run is not asked about them. The last
    request, and every one whose address names an effect, is asked about
    as before. Read the file before you use it.
    """
    from midcourse.cli.commands.effects import propose

    propose(run, set_ or [])
