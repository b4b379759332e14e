"""Carries out tasks with a model that is answered by hand: `python -m benchmarks.reading_mind --help`."""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.reading_mind.apps.registry import APPLICATIONS
from benchmarks.reading_mind.opponents.session import OPPONENTS, OpponentSession
from benchmarks.reading_mind.session import Session, find_runs, serve
from benchmarks.reading_mind.tasks import TASKS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading_mind", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("tasks", help="list the tasks")
    install = commands.add_parser("install", help="install and furnish applications, by default all, or other systems")
    install.add_argument("apps", nargs="*", metavar="APP", choices=[*APPLICATIONS, *OPPONENTS, []])
    table = commands.add_parser("table", help="print the table of all judged transcripts")
    table.add_argument("folder", nargs="?", type=Path, help="of transcripts, by default those of the sessions")
    for name, what in {
        "start": "begin a task from a fresh application, and show the first request",
        "wait": "wait for the next request, question or end",
        "answer": "answer the pending request with a file (- is the standard input), and wait",
        "key": "type lines in the terminal, each with Enter, and wait",
        "show": "show the pending request whole, or the terminal",
        "judge": "read the application's records and judge; ends the session's processes",
        "stop": "end the session's processes",
        "serve": "keep the application and the model server of a task in the foreground; `start` does this",
    }.items():
        command = commands.add_parser(name, help=what)
        command.add_argument("task", metavar="TASK", choices=[task.id for task in TASKS])
        command.add_argument(
            "--with", dest="opponent", choices=OPPONENTS, help="the system that carries it out instead"
        )
        if name == "answer":
            command.add_argument("file", type=argparse.FileType(encoding="utf-8"))
        if name == "key":
            command.add_argument("lines", nargs="+", metavar="LINE")
            command.add_argument(
                "--unnecessary", default="", metavar="WHY", help="a sensible person would call this question noise"
            )
        if name == "judge":
            command.add_argument("--note", default="", help="for the table")
        if name == "serve":
            command.add_argument("--port", type=int, default=0, help="of the model server")
    given = parser.parse_args()
    if given.command == "tasks":
        print("\n".join(f"{task.id:24} {task.app:16} {task.kind:12} {task.goal}" for task in TASKS))
    elif given.command == "install":
        for name in given.apps or APPLICATIONS:
            found = APPLICATIONS[name].furnished() if name in APPLICATIONS else OPPONENTS[name].install()
            print(f"{name}: {found}", flush=True)
    elif given.command == "table":
        from benchmarks.reading_mind.table import print_table

        print_table(given.folder)
    else:
        _attend(given)


def _attend(given: argparse.Namespace) -> None:
    task = next(task for task in TASKS if task.id == given.task)
    session = (
        OpponentSession(task, find_runs() / f"{task.id}-with-{given.opponent}", given.opponent)
        if given.opponent
        else Session(task, find_runs() / task.id)
    )
    match given.command:
        case "serve":
            session.folder.mkdir(parents=True, exist_ok=True)
            serve(task, session.folder, given.port)
            return
        case "stop":
            session.stop()
            return
        case "show":
            print(session.show())
            return
        case "judge":
            print(json.dumps(session.judge(given.note), indent=1, ensure_ascii=False))
            session.stop()
            return
        case "start":
            session.start()
        case "answer":
            session.answer(given.file.read())
        case "key":
            session.type_lines(given.lines, unnecessary=given.unnecessary)
        case _:
            pass
    print(session.wait())
    sys.stdout.flush()


if __name__ == "__main__":
    main()
