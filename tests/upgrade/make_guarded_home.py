"""Makes a home with guarded calls as an earlier version recorded them, one for each form of a key that has changed since.

    git worktree add ../earlier v0.2.0
    python -m tests.upgrade.make_guarded_home ../earlier tests/fixtures/homes/guarded/0.2.0.tar.gz

The code of the earlier checkout writes it; packages that only it needs are found by PYTHONPATH. The shop is a file of orders beside the home.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from tests.upgrade.make_home import pack

SHOP = """
from pathlib import Path

SHOP = Path(__file__).with_name("shop.txt")

def add(*words):
    with SHOP.open("a") as shop:
        shop.write(" ".join(map(str, words)) + "\\n")

def has(*words):
    return SHOP.exists() and " ".join(map(str, words)) in SHOP.read_text().splitlines()
"""
RETRY = """
from functools import wraps

def retried(call):
    @wraps(call)
    def again(*args, **kwargs):
        return call(*args, **kwargs)
    return again
"""
ORDERS = """
import multiprocessing, os, sys
from midcourse import guarded
from retrying import retried
from shop import add, has

@guarded(key="{ref}", happened=lambda ref, **_: has("ORDER", ref))
def order(item: str, ref: str) -> None:
    add("ORDER", ref)
    if ref.startswith("dies") and multiprocessing.parent_process():
        os._exit(9)

@guarded(key="{ref}")
@retried
def book(ref: str) -> str:
    add("BOOK", ref)
    return ref

def cancel(ref: float) -> None:
    add("CANCEL", f"{ref:g}")

@guarded(key="{ref}", happened=lambda ref: has("PAY", f"{ref:g}") and not has("CANCEL", f"{ref:g}"), undo="cancel")
def pay(ref: float) -> str:
    add("PAY", f"{ref:g}")
    return f"{ref:g}"

@guarded(key="{to}")
def mail(to: str) -> str:
    add("MAIL", ascii(to))
    return "sent"

@guarded(key="{ref}")
def note(ref):
    add("NOTE", int(ref))
    return "noted"

def in_child(method, *arguments):
    child = multiprocessing.get_context(method).Process(target=order, args=arguments)
    child.start()
    child.join()

if __name__ == "__main__":
    exec(sys.argv[1])
"""
INSIDE = """
import sys
from midcourse import guarded
from shop import add

def make(shop, **options):
    @guarded(key="{ref}", **options)
    def order(ref: str) -> str:
        add("FROM", shop, ref)
        return f"{shop}-{ref}"
    return order

def alone(**options):
    @guarded(key="{ref}", **options)
    def ring(ref: str) -> str:
        add("RING", ref)
        return ref
    return ring

if __name__ == "__main__":
    exec(sys.argv[1])
"""
TYPED = """
from midcourse import guarded
from shop import add
@guarded(key="{ref}" OPTIONS)
def typed(ref: str) -> str:
    add("TYPED", ref)
    return ref
print(typed("PO-1"))
"""
CALLS = (
    ("orders.py", 'order("lamp", "PO-1"); in_child("spawn", "lamp", "PO-2"); in_child("forkserver", "lamp", "dies")'),
    ("orders.py", r'book("B-1"); pay(17); pay(30.0); pay(40); mail("cafe\u0301"); mail("th\xe9"); note(5.0); note(6)'),
    ("inside.py", 'make("A")("1"); make("A", name="orders")("2"); make("A", name="shop {shop}")("3"); alone()("1")'),
    ("-c", TYPED.replace("OPTIONS", "")),
)


def write_programs(folder: Path) -> None:
    for name, text in (("shop", SHOP), ("retrying", RETRY), ("orders", ORDERS), ("inside", INSIDE)):
        (folder / f"{name}.py").write_text(text)


def run(folder: Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a program in this folder, whose home is in it."""
    usual: Mapping[str, str] = {name: value for name, value in os.environ.items() if not name.startswith("MIDCOURSE_")}
    environment = {**usual, "MIDCOURSE_HOME": ".midcourse", **variables}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    path = os.pathsep.join((str(Path(sys.argv[1]).resolve() / "src"), os.environ.get("PYTHONPATH", "")))
    with tempfile.TemporaryDirectory() as made:
        write_programs(Path(made))
        for words in CALLS:
            done = run(Path(made), *words, PYTHONPATH=path)
            assert done.returncode == 0, done.stderr
        for program in Path(made).glob("*.py"):
            program.unlink()
        with closing(sqlite3.connect(Path(made) / ".midcourse" / "midcourse.db")) as store:
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pack(Path(made), Path(sys.argv[2]), sessions=True)
