"""`midcourse completion`: prints the script with which a shell completes commands, options, runs and settings.

Typer, which parses the command line, also writes these scripts and answers them. Tools such as shtab would need an argparse parser.
"""

from typing import Annotated

import typer
from typer.completion import completion_init, get_completion_script

from midcourse.cli.options import Json, teach
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown
from midcourse.terminal.output import print_object

VARIABLE = "_MIDCOURSE_COMPLETE"
"""The variable that the script sets when a shell asks for completions."""
WHERE = {
    "bash": "midcourse completion bash > ~/.local/share/bash-completion/completions/midcourse",
    "zsh": "midcourse completion zsh > ~/.zfunc/_midcourse   # with fpath+=~/.zfunc before compinit in ~/.zshrc",
    "fish": "midcourse completion fish > ~/.config/fish/completions/midcourse.fish",
}
MOST = 20


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ('eval "$(midcourse completion bash)"', "in this shell, now"),
        (
            "midcourse completion bash > ~/.local/share/bash-completion/completions/midcourse",
            "works from the next shell on",
        ),
        ("midcourse completion fish > ~/.config/fish/completions/midcourse.fish", "the same for fish"),
    ),
)
def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="bash|zsh|fish",
            help="The shell that is to complete.",
            show_default=False,
            autocompletion=lambda: ["bash", "zsh", "fish"],
        ),
    ],
    json: Json = False,
) -> None:
    """Print the script with which a shell completes commands, options, runs, tasks and settings."""
    if shell not in WHERE:
        raise TaskInvalid(describe_unknown("shell", shell, WHERE))
    script = get_completion_script(prog_name="midcourse", complete_var=VARIABLE, shell=shell)
    if json:
        print_object({"shell": shell, "script": script, "install": WHERE[shell]})
        return
    print(f"# {WHERE[shell].partition('   #')[0]}\n{script}" if shell != "zsh" else script)


def answer_shells() -> None:
    """Let Typer answer a shell that asks for completions."""
    completion_init()
