"""Guarded calls that version 0.2.0 recorded count in the present version, although the forms of names and keys have changed.

tests/upgrade/make_guarded_home.py has made the home. Effects are counted in the file of the shop.
"""

import re
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.upgrade.make_guarded_home import TYPED, run, write_programs

pytestmark = pytest.mark.slow
HOME = Path(__file__).parents[1] / "fixtures" / "homes" / "guarded" / "0.2.0.tar.gz"


class Program:
    """The programs that made the calls, in their folder and with the home of 0.2.0."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with tarfile.open(HOME) as archive:
            archive.extractall(folder, filter="data")
        database = folder / ".midcourse" / "midcourse.db"
        with closing(sqlite3.connect(database)) as store, store:
            store.execute("UPDATE runs SET place = ?", (str(database.stat().st_ino),))  # or it would be a copy
        write_programs(folder)
        self.before = self.orders()
        assert len(self.before) == 16

    def orders(self) -> list[str]:
        return (self.folder / "shop.txt").read_text().splitlines()

    def new_orders(self) -> list[str]:
        return self.orders()[len(self.before) :]

    def run(self, *words: str) -> str:
        """Run a program and return what it printed."""
        done = run(self.folder, *words)
        return done.stdout + done.stderr


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.mark.parametrize("call", ['order("lamp", "PO-1")', 'order("lamp", "PO-2")', 'order("lamp", "dies")'])
def test_calls_of_a_script_and_of_its_children_are_found_by_both(call: str, program: Program) -> None:
    """`PO-1` was made by the script, `PO-2` and `dies` by children, which 0.2.0 took for other functions. The last one was killed."""
    arguments = call.removeprefix("order(").removesuffix(")")
    printed = program.run("orders.py", f"in_child('spawn', {arguments}); print({call})")
    assert (printed, program.new_orders()) == ("None\n", [])


def test_equal_values_find_the_call_under_the_key_that_it_had(program: Program) -> None:
    calls = (
        "book('B-1')",
        "pay(17), pay(17.0), pay(30), pay(30.0)",
        r"mail('caf\xe9'), mail('cafe\u0301'), mail('th\xe9'), mail('the\u0301')",
        "note(5), note(5.0), note(6), note(6.0)",
    )
    printed = program.run("orders.py", "; ".join(f"print({call})" for call in calls))
    assert printed.splitlines() == ["B-1", "17 17 30 30", "sent sent sent sent", "noted noted noted noted"]
    assert program.new_orders() == []


def test_an_undo_finds_the_call(program: Program) -> None:
    undo = "pay.undo(40.0, **{})"
    setting = "import os; os.environ['MIDCOURSE_APPROVALS'] = 'never'"
    printed = program.run("orders.py", f"{setting}; print({undo}.complete, {undo}.complete)")
    assert (printed, program.new_orders()) == ("True True\n", ["CANCEL 40"])


def name_in(printed: str) -> str:
    """The name that a refusal says keeps the records."""
    (name,) = re.findall(r"@guarded\(name='([^']+)', …\); this one keeps the records", printed)
    return name


def test_the_name_that_a_refusal_prints_keeps_the_records(program: Program) -> None:
    name = name_in(program.run("inside.py", "alone()('1')"))
    assert program.run("inside.py", f"print(alone(name={name!r})('1'))") == "1\n"
    name = name_in(program.run("inside.py", "make('A')('1')"))
    assert program.run("inside.py", f"print(make('A', name={name!r})('1'))") == "A-1\n"
    name = name_in(program.run("-c", TYPED.replace("OPTIONS", "")))
    assert program.run("-c", TYPED.replace("OPTIONS", f", name={name!r}")) == "PO-1\n"
    assert program.new_orders() == []


AMBIGUOUS = """
for name, ref in [("inside.make.<locals>.order.{shop}", "1"), ("bought.{shop}", "1"), ("orders.{shop}", "2"), ("shop {shop}", "3")]:
    for shop in "AB":
        order = make(shop, name=name)
        try:
            print(order(ref))
        except Exception as error:
            print(type(error).__name__, "does not say for which" in str(error), order(f"new {name}"))
"""


def test_a_call_that_any_closure_may_have_made_is_refused_in_words(program: Program) -> None:
    """In 0.2.0 closures of one factory had the same keys, so a record does not say for which shop it was."""
    printed = program.run("inside.py", AMBIGUOUS).splitlines()
    assert [line.split("-")[0] for line in printed] == ["KeyTaken True A", "KeyTaken True B"] * 4
    assert [order.split(" new ")[0] for order in program.new_orders()] == ["FROM A", "FROM B"] * 4
