"""`midcourse access`: adds, lists and removes API keys of the server."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from midcourse.cli.options import Json, teach
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown
from midcourse.terminal.output import print_object, print_outcome

commands = typer.Typer(no_args_is_help=True)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Who uses the key: a person or a program.", show_default=False)
]
KeysFile = Annotated[
    str, typer.Option("--keys", metavar="FILE", help="The file of keys that `midcourse serve --keys` reads.")
]
Tenant = Annotated[
    str,
    typer.Option(
        "--tenant",
        metavar="NAME",
        help="The tenant whose runs the key gives access to; the runs in a home belong to local.",
    ),
]


@commands.callback()
def access() -> None:
    """Add, list or remove API keys of the server. A running server reads the file again when it changes."""


@commands.command(
    epilog=teach(
        ("midcourse access add ada --role approver --keys keys", "prints her key, once; the file has only its hash"),
        ("midcourse access add ci --role operator --tenant acme --keys keys", "a program, for a tenant of a fleet"),
    )
)
def add(
    name: Name,
    keys: KeysFile,
    role: Annotated[
        str, typer.Option("--role", metavar="viewer|operator|approver|admin", help="What the key may be used for.")
    ] = "viewer",
    tenant: Tenant = "local",
    json: Json = False,
) -> None:
    """Add a key and print it. It is stored nowhere: only its hash is in the file.

    Viewers read; operators start and control runs; approvers decide
    questions; administrators do all of it.
    """
    from midcourse.server.access.identity import RIGHTS
    from midcourse.server.access.keys import add_key

    if role not in RIGHTS:
        raise TaskInvalid(f"--role: {describe_unknown('role', role, RIGHTS)}")
    secret = add_key(Path(keys), name, tenant, role)
    if json:
        print_object({"name": name, "tenant": tenant, "role": role, "key": secret})
        return
    print(secret)
    print(f"the key of {name}, shown only now: {role} of tenant {tenant}", file=sys.stderr)


@commands.command("list")
def list_keys(keys: KeysFile, json: Json = False) -> None:
    """List the keys: for each, its owner, tenant and role."""
    from midcourse.server.access.keys import read_api_keys

    found = [key.caller for key in read_api_keys(Path(keys))]
    if json:
        print_object([{"name": caller.name, "tenant": caller.tenant, "role": caller.role} for caller in found])
        return
    for caller in found:
        print(f"{caller.name}\t{caller.tenant}\t{caller.role}")


@commands.command()
def remove(name: Name, keys: KeysFile, tenant: Tenant = "local", json: Json = False) -> None:
    """Remove a key. It is refused from the next request on, and sessions that were opened with it end."""
    from midcourse.server.access.keys import remove_key

    remove_key(Path(keys), name, tenant)
    what = f"removed the key of {name} of tenant {tenant}"
    print_outcome({"removed": name, "tenant": tenant}, what, json=json)
