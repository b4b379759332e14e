"""A guarded function has one name in every process that runs its file, and two functions never share one.

Effects are counted in a file that the programs write.
"""

import asyncio
import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midcourse import guarded
from midcourse.errors import KeyTaken, RunUnknown, SkillInvalid, TaskInvalid
from midcourse.settings import Settings
from midcourse.testing import MemoryStore

ORDERS = """
import importlib, multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from midcourse import guarded

LOG = Path(__file__).with_name("log.txt")


@guarded(key="{ref}")
def order(item: str, ref: str) -> str:
    with LOG.open("a") as log:
        log.write(f"{ref}\\n")
    return f"A-{ref}"


def in_processes(method):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        return list(pool.map(order, ["lamp"] * 3, ["1"] * 3))


def in_threads(_):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(order, ["lamp"] * 6, ["1"] * 6))


def reloaded(_):
    import orders
    first = orders.order
    return [first("lamp", "1"), importlib.reload(orders).order("lamp", "1")]


if __name__ == "__main__":
    print(globals()[sys.argv[1]](sys.argv[2]))
"""


class Programs:
    """Programs in a folder, with a home of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True, parents=True)
        (self.folder / name).write_text(text)

    def run(self, *words: str, typed: str = "", folder: str = ".") -> str:
        """Start Python with these words. Returns what is printed."""
        environment = {**os.environ, "MIDCOURSE_HOME": str(self.folder / "home")}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder / folder,
            env=environment,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def log(self) -> list[str]:
        found = self.folder / "log.txt"
        return found.read_text().splitlines() if found.exists() else []


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(tmp_path)


WAYS = {
    "fork": ("orders.py", "in_processes", "fork"),
    "spawn": ("orders.py", "in_processes", "spawn"),
    "forkserver": ("orders.py", "in_processes", "forkserver"),
    "threads": ("orders.py", "in_threads", ""),
    "reloaded": ("orders.py", "reloaded", ""),
    "module": ("-m", "orders", "in_threads", ""),
    "module that spawns": ("-m", "orders", "in_processes", "spawn"),
    "imported": ("-c", "import orders; print(orders.in_threads(0))"),
}


@pytest.mark.slow
@pytest.mark.parametrize("first", ["spawn", "threads"])
def test_a_script_orders_once_however_it_is_called(first: str, programs: Programs) -> None:
    programs.write("orders.py", ORDERS)
    for way in dict.fromkeys((first, *WAYS)):
        assert set(eval(programs.run(*WAYS[way]))) == {"A-1"}, way
    assert programs.log() == ["1"]


@pytest.mark.slow
@pytest.mark.parametrize("package", ["", "__init__.py"])
def test_a_file_of_a_package_orders_once_as_script_and_as_module(package: str, programs: Programs) -> None:
    programs.write(f"shop/{package or 'other.py'}", "")
    programs.write("shop/orders.py", ORDERS.replace('["1"]', "[sys.argv[3]]"))
    script, module = ("shop/orders.py",), ("-m", "shop.orders")
    for ref, first, second in (("1", script, module), ("2", module, script)):
        for way in (first, second):
            assert f"A-{ref}" in programs.run(*way, "in_processes", "spawn", ref)
        assert programs.run("-c", f"import shop.orders; print(shop.orders.order('lamp', {ref!r}))") == f"A-{ref}\n"
    assert programs.run("-c", "import shop.orders; print(shop.orders.order('lamp', '3'))") == "A-3\n"
    assert "A-3" in programs.run(*script, "in_threads", "", "3")
    assert (programs.folder / "shop" / "log.txt").read_text().split() == ["1", "2", "3"]


@pytest.mark.slow
def test_a_script_that_was_moved_or_another_one_of_its_name_is_refused(programs: Programs) -> None:
    for folder in ("a", "b"):
        programs.write(f"{folder}/main.py", ORDERS.replace('with_name("log.txt")', 'parents[1] / "log.txt"'))
    (programs.folder / "link").symlink_to("a")
    assert "A-1" in programs.run("main.py", "in_threads", "", folder="a")
    assert "A-1" in programs.run("../a/main.py", "in_processes", "spawn", folder="b")
    assert "A-1" in programs.run("main.py", "in_threads", "", folder="link")
    for words in (("main.py",), ("-m", "main")):
        refused = programs.run(*words, "in_threads", "", folder="b")
        assert "KeyTaken" in refused
        assert f"from {programs.folder}/a/main.py, and this is {programs.folder}/b/main.py" in refused
        assert "@guarded(name='main.order', …) keeps its records" in refused
    assert programs.log() == ["1"]
    named = (programs.folder / "b" / "main.py").read_text().replace('key="{ref}"', 'key="{ref}", name="main.order"')
    programs.write("b/main.py", named)
    assert "A-1" in programs.run("main.py", "in_threads", "", folder="b")
    assert programs.log() == ["1"]


TYPED = """
from pathlib import Path
from midcourse import guarded

@guarded(key="{ref}" OPTIONS)
def order(ref: str) -> str:
    with Path("log.txt").open("a") as log:
        log.write(ref + "\\n")
    return f"A-{ref}"

print(order("1"))
"""
CELLS = """
import sys, types
user = sys.modules["__main__"] = types.ModuleType("__main__")
for number, cell in enumerate(open("cells.txt").read().split("#---")):
    exec(compile(cell, f"/tmp/ipykernel_17/{hash(cell)}.py", "exec"), user.__dict__)
"""
"""Executes cells as ipykernel does: in a module `__main__` without a file, each compiled with a file name made of its text."""


@pytest.mark.slow
@pytest.mark.parametrize("means", ["-c", "stdin", "interactive", "cells"])
def test_code_that_is_in_no_file_needs_a_name(means: str, programs: Programs) -> None:
    def run(options: str) -> str:
        text = TYPED.replace("OPTIONS", options)
        edited = text.replace("return f", "# a comment\n    return f").replace("\n\n", "\n")
        programs.write("cells.txt", f"{text}#---{edited}")
        programs.write("cells.py", CELLS)
        match means:
            case "-c":
                return programs.run("-c", text)
            case "stdin":
                return programs.run(typed=text)
            case "interactive":
                return programs.run("-i", typed=text)
            case _:
                return programs.run("cells.py")

    refused = run("")
    assert "SkillInvalid: order is defined in a notebook, an interactive session or by -c" in refused
    assert programs.log() == []
    assert "A-1" in run(', name="orders.order"')
    assert "SkillInvalid" not in run(', name="orders.order"')
    assert programs.log() == ["1"]


# --- functions inside others


class World:
    """The effects of guarded functions of this process, and a home for them."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(home=folder)
        self.did: list[str] = []

    def make(self, shop: str, **options: Any) -> Callable[[str], str]:
        did = self.did

        @guarded(key="{ref}", settings=self.settings, **options)
        def order(ref: str) -> str:
            did.append(f"{shop} {ref}")
            return f"{shop}-{ref}"

        return order


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_function_inside_another_needs_a_name(world: World) -> None:
    order = world.make("A")
    with pytest.raises(SkillInvalid, match="order is defined inside another function") as refused:
        order("1")
    kept = f"{__name__}.World.make.<locals>.order"
    assert f"name='{kept}'" in str(refused.value)
    assert f"name='{kept}.{{shop}}'" in str(refused.value).replace("{did.…}.", "")
    assert world.did == []
    assert world.make("A", name=kept)("1") == "A-1"


def test_closures_with_their_variables_in_the_name_have_keys_of_their_own(world: World) -> None:
    for shop in ("A", "B", "A"):
        assert world.make(shop, name="orders.{shop}")("1") == f"{shop}-1"
    assert world.did == ["A 1", "B 1"]


def test_two_closures_under_one_name_are_refused(world: World) -> None:
    world.make("A", name="orders")
    with pytest.raises(SkillInvalid, match=r"made with another shop.* as name='orders\.\{shop\}'"):
        world.make("B", name="orders")
    world.make("A", name="orders")  # the same one


def test_objects_are_named_by_what_identifies_them(tmp_path: Path) -> None:
    class Client:
        def __init__(self, url: str) -> None:
            self.url = url

    def make(client: Client, name: str) -> Callable[[str], str]:
        def send(ref: str) -> str:
            return f"{client.url}/{ref}"

        @guarded(key="{ref}", name=name, settings=Settings(home=tmp_path))
        def order(ref: str) -> str:
            return send(ref)

        return order

    for url in ("a", "b", "a"):
        assert make(Client(url), "orders.{client.url}")("1") == f"{url}/1"
    with pytest.raises(SkillInvalid, match=r"\{client\} is a Client, which does not identify anything"):
        make(Client("a"), "orders.{client}")
    with pytest.raises(SkillInvalid, match=r"cannot be filled in .*\(here: client\)"):
        make(Client("a"), "orders.{shop}")
    make(Client("a"), "sent")
    with pytest.raises(SkillInvalid, match="made with another client"):
        make(Client("a"), "sent")


def test_a_variable_of_a_loop_is_not_taken_for_each_of_its_values(world: World) -> None:
    orders: list[Callable[[str], str]] = []
    for shop in ("A", "B"):

        @guarded(key="{ref}", name="loop.{shop}", settings=world.settings)
        def order(ref: str) -> str:
            world.did.append(shop)  # noqa: B023  # the mistake
            return shop  # noqa: B023

        orders.append(order)
    with pytest.raises(TaskInvalid, match=r"decorated as 'loop\.A' and is now 'loop\.B'"):
        orders[0]("1")
    assert (orders[1]("1"), world.did) == ("B", ["B"])


def test_methods_of_two_objects_are_two_functions(world: World) -> None:
    class Shop:
        def __init__(self, name: str) -> None:
            self.name = name

        def order(self, ref: str) -> str:
            return f"{self.name}-{ref}"

    def decorate(shop: Shop, **options: Any) -> Any:
        return guarded(key="{ref}", settings=world.settings, **options)(shop.order)

    with pytest.raises(SkillInvalid, match="is the method of one object"):
        decorate(Shop("A"))("1")
    assert [decorate(Shop(name), name="order.{self.name}")("1") for name in "AB"] == ["A-1", "B-1"]


def test_a_name_belongs_to_one_function(world: World) -> None:
    def take(ref: str) -> None: ...

    def give(ref: str) -> None: ...

    options: dict[str, Any] = {"key": "{ref}", "name": "moved"}
    guarded(**options, settings=world.settings)(take)
    with pytest.raises(
        SkillInvalid, match=r"'moved' belongs to .*take in .*test_names.py, and so cannot be that of .*give"
    ):
        guarded(**options, settings=world.settings)(give)
    guarded(**options, store=MemoryStore())(give)  # its keys are elsewhere


def test_one_name_in_two_files_is_refused_and_a_reloaded_module_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    text = 'from midcourse import guarded\n@guarded(key="{ref}", name="two.files")\ndef order(ref: str) -> None: ...\n'
    for name in ("one_file", "other_file"):
        (tmp_path / f"{name}.py").write_text(text)
    module = importlib.import_module("one_file")
    (tmp_path / "one_file.py").write_text(f"# edited\n\n{text}")
    importlib.reload(module)
    with pytest.raises(SkillInvalid, match=r"belongs to order in .*one_file\.py"):
        importlib.import_module("other_file")


# --- keys


def test_equal_values_are_one_key_and_an_empty_one_is_none(world: World) -> None:
    @guarded(key="{ref}", name="numbers", settings=world.settings)
    def pay(ref: float) -> str:
        world.did.append(f"pay {ref}")
        return "paid"

    @guarded(key="{ref}", name="texts", settings=world.settings)
    def mail(ref: str | None, to: str = "") -> str:
        world.did.append("mail")
        return "sent"

    @guarded(key="{ref}", name="anything", settings=world.settings)
    def note(ref: Any) -> str:
        world.did.append("note")
        return "noted"

    assert [pay(17), pay(17.0)] == ["paid", "paid"]
    assert [mail("caf\u00e9", "M\u00fcnchen"), mail("cafe\u0301", "Mu\u0308nchen")] == ["sent", "sent"]
    assert [note([1, "e\u0301"]), note([1.0, "\u00e9"]), note(2), note(2.0)] == ["noted"] * 4
    assert world.did == ["pay 17.0", "mail", "note", "note"]
    for call in (lambda: mail(""), lambda: mail(" "), lambda: mail(None), lambda: note(""), lambda: note(None)):
        with pytest.raises(TaskInvalid, match=r"its key '\{ref\}' needs ref, which is empty"):
            call()
    assert [note(0), note(True), note(1)] == ["noted"] * 3
    assert world.did[4:] == ["note"] * 3


def test_annotated_values_are_converted_if_they_have_one_text(world: World) -> None:
    from datetime import date
    from decimal import Decimal
    from uuid import UUID

    from pydantic import SecretStr

    def make(kind: Any) -> Any:
        def pay(ref: Any) -> str:
            world.did.append("paid")
            return "paid"

        pay.__annotations__["ref"] = kind
        return guarded(key="{ref}", name=f"pay.{kind.__name__}", settings=world.settings)(pay)

    identifier = "c0ffee00-0000-4000-8000-00000000000a"
    equal: list[tuple[Any, list[Any]]] = [
        (Decimal, [Decimal(17), Decimal("17.00"), 17, 17.0]),
        (UUID, [UUID(identifier), identifier, identifier.upper()]),
        (date, [date(2026, 11, 19), "2026-11-19"]),
    ]
    for number, (kind, values) in enumerate(equal, start=1):
        assert {make(kind)(value) for value in values} == {"paid"}
        assert world.did == ["paid"] * number
    assert [make(SecretStr)("one"), make(SecretStr)("two")] == ["paid", "paid"]
    assert world.did == ["paid"] * 5


def test_a_random_default_does_not_make_a_key_of_its_own(world: World) -> None:
    """Objects are not converted for a key, since that could fill in defaults that differ each time."""
    from uuid import uuid4

    from pydantic import BaseModel, Field

    class Line(BaseModel):
        sku: str
        id: str = Field(default_factory=lambda: str(uuid4()))

    @guarded(key="{line}", name="lines", settings=world.settings)
    def book(line: Line) -> str:
        world.did.append(line.sku)
        return line.sku

    assert [book({"sku": "a"}), book({"sku": "a"})] == ["a", "a"]  # pyrefly: ignore[bad-argument-type]
    assert world.did == ["a"]


def test_an_undo_with_other_values_is_refused(world: World) -> None:
    def cancel(ref: str) -> None:
        world.did.append(f"cancel {ref}")

    @guarded(key="{ref}", name="cancelled", undo=cancel, settings=Settings(home=world.settings.home, approvals="never"))
    def order(item: str, ref: str) -> None:
        world.did.append(f"{item} {ref}")

    order("lamp", "1")
    with pytest.raises(KeyTaken, match="with other values of item"):
        order.undo("chair", "1")
    with pytest.raises(RunUnknown):
        order.undo("lamp", "2")
    assert world.did == ["lamp 1"]


def test_a_world_takes_an_empty_key_for_nothing_sent(world: World) -> None:
    from midcourse import Agent, Draft
    from midcourse.planners import SamePlan
    from midcourse.testing import Approves
    from midcourse.worlds import Functions

    order = world.make("A", name="orders.{shop}")
    plan = SamePlan([Draft(skill="order", arguments={"ref": ""})])
    agent = Agent(Functions(order), plan, approver=(approver := Approves()), settings=world.settings)
    result = asyncio.run(agent.run("Order"))
    assert (result.success, world.did) == (False, [])
    assert "which is empty" in result.final_detail
    assert not [question for question in approver.questions if question.about == "happened"]


# --- the home


@pytest.fixture
def without_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MIDCOURSE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("without_variables")
def test_the_first_call_in_a_home_that_nobody_chose_says_where_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @guarded(key="{ref}", name="homeless")
    def order(ref: str) -> None: ...

    order("1")
    order("2")
    (said,) = caplog.messages
    assert f"in a new home, {tmp_path}/.midcourse" in said
    assert f"set MIDCOURSE_HOME={tmp_path}/.midcourse" in said


@pytest.mark.usefixtures("without_variables")
def test_a_database_that_is_not_used_is_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from midcourse.agent.shared_store import warn_of_ignored_database

    warn_of_ignored_database.cache_clear()
    monkeypatch.setenv("MIDCOURSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MIDCOURSE_DATABASE_URL", "postgresql://ada:secret@db.example/orders")

    @guarded(key="{ref}", name="ignored")
    def order(ref: str) -> None: ...

    order("1")
    order("2")
    (said,) = caplog.messages
    assert f"MIDCOURSE_DATABASE_URL is set, and @guarded does not use it: calls are recorded in {tmp_path}/home" in said
    assert "secret" not in said
