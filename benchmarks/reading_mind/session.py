"""One task while it is carried out: its application, its model server, `midcourse do` in a real terminal, and all that was said.

A session lives in a folder of its own, so that several readers can answer several tasks at a time:

    session.json    addresses, the process that serves them, when it began
    before.json     what the application had stored before
    calls           the model server's requests and answers
    events.jsonl    exchanges, questions and the end, in their order
    transcript.jsonl    the same with everything in it, and nothing of the machine
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks import ROOT
from benchmarks.harness.environments import CACHE
from benchmarks.reading_mind import judging
from benchmarks.reading_mind.apps.registry import APPLICATIONS
from benchmarks.reading_mind.model_server import ModelServer, count_common, find_form, list_parts, wants_json
from benchmarks.reading_mind.task import LostAnswer, Task
from benchmarks.web_apps.wagtail.proxy import Fault, Proxy, Request, in_front_of

FILES = Path(__file__).parent / "files"
ANSWERED = "by a language model that saw only the prompts and the questions, by hand"
PATIENCE = {
    "plan_timeout_seconds": 20_000,
    "replan_timeout_seconds": 40_000,
    "approval_seconds": 40_000,
    "max_wall_seconds": 80_000,
}
"""Settings of a run whose model thinks for as long as it wants."""
WAITS = 540.0
"""Seconds for which a command waits for something new. It can be repeated."""
POLL = 0.3
STILL = 3
"""Looks at the terminal without a change after which it waits for a key."""
WIDTH, HEIGHT, HISTORY = 120, 50, 20_000
ENDED = "MIDCOURSE ENDED WITH"
_ASKS = re.compile(r"(?:> ?|Your answer: ?|instead\? ?)$")
_PANEL = re.compile(r"^╭─", re.MULTILINE)
_HEADLINE = re.compile(r"^╭─+ (.*?) ─*╮", re.MULTILINE)
_OF_A_MACHINE = re.compile(r"(?<![\w.:/-])/(?:home|root|tmp|var|Users|work)/")

Json = dict[str, Any]


def find_runs() -> Path:
    """The folder of all sessions of this checkout; `READING_MIND_RUNS` names another."""
    return Path(os.environ.get("READING_MIND_RUNS") or ROOT / "benchmarks" / ".cache" / "reading-runs").resolve()


def serve(task: Task, folder: Path, port: int = 0) -> None:
    """Start a task's application with fresh data, and a model server, and keep both until this process is told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    application = APPLICATIONS[task.app](folder / "app")
    application.folder.mkdir(parents=True, exist_ok=True)
    application.reset()
    with ExitStack() as running:
        url = f"http://127.0.0.1:{application.port}"
        if task.trouble:
            url = running.enter_context(
                in_front_of(Proxy(("127.0.0.1", application.port), [_make_fault(task.trouble)]))
            )
        running.enter_context(application.run(url))
        (folder / "before.json").write_text(json.dumps(application.records(), ensure_ascii=False), encoding="utf-8")
        models = ModelServer(folder / "calls", port)
        models.start()
        running.callback(models.stop)
        known = {"pid": os.getpid(), "url": url, "model_url": models.url, "began": time.time()}
        (folder / "session.new").write_text(json.dumps(known), encoding="utf-8")
        (folder / "session.new").replace(folder / "session.json")
        while True:
            signal.pause()


def _make_fault(trouble: LostAnswer) -> Fault:
    def is_meant(request: Request) -> bool:
        return (
            request.method == trouble.method
            and fnmatchcase(urlsplit(request.path).path, trouble.path)
            and trouble.body.encode() in request.body
        )

    return Fault(kind="lost", at=is_meant)


@dataclass(frozen=True)
class Session:
    task: Task
    folder: Path
    opponent_name: str = ""
    """The other system that carries it out instead."""

    @property
    def name(self) -> str:
        """The words by which commands know this session."""
        return self.task.id

    @property
    def planner_roles(self) -> tuple[str, ...]:
        """Roles of the requests that ask what to do next. The others look at what was done, or read pages."""
        return ("planner", "PlanAnswer")

    @property
    def _known(self) -> Json:
        return json.loads((self.folder / "session.json").read_text(encoding="utf-8"))

    @property
    def _events(self) -> list[Json]:
        path = self.folder / "events.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def _write_events(self, events: Sequence[Json]) -> None:
        lines = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
        (self.folder / "events.jsonl").write_text(lines, encoding="utf-8")

    # --- begin and end

    def start(self) -> None:
        """Begin the task: a fresh application, a model server, and the run in its terminal."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name in self.task.files:
            (self.folder / "files").mkdir(exist_ok=True)
            shutil.copy(FILES / name, self.folder / "files" / name)
        with (self.folder / "serve.log").open("wb") as log:
            server = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.reading_mind", "serve", *self.name.split()],
                cwd=ROOT,
                env={**os.environ, "READING_MIND_RUNS": str(self.folder.parent)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while not (self.folder / "session.json").exists():
            if server.poll() is not None:
                raise SystemExit(f"{self.task.app} was not started:\n{(self.folder / 'serve.log').read_text()[-3000:]}")
            time.sleep(POLL)
        self._open_terminal()

    def _open_terminal(self) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MIDCOURSE_")}
        words, environment = self._make_command()
        (self.folder / "command.json").write_text(json.dumps(words), encoding="utf-8")
        script = (
            "import json, subprocess, time\n"
            "code = subprocess.call(json.load(open('command.json')))\n"
            f"print('{ENDED}', code, flush=True)\n"
            "time.sleep(10 ** 6)\n"
        )
        (self.folder / "terminal.py").write_text(script, encoding="utf-8")
        (self.folder / "tmux.conf").write_text(f"set -g history-limit {HISTORY}\nset -g status off\n", encoding="utf-8")
        opened = ["-f", str(self.folder / "tmux.conf"), "new-session", "-d", "-s", "run", "-c", str(self.folder)]
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        variables = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        self._tmux(*opened, *size, *variables, sys.executable, "terminal.py", environment=kept)

    def _make_command(self) -> tuple[list[str], dict[str, str]]:
        """The program that runs in the terminal, and its environment besides that of this process."""
        recorded = ["-m", "benchmarks.reading_mind.recorded_midcourse", str(self.folder / "contexts.jsonl")]
        return [sys.executable, *recorded, *self.make_arguments()], {
            "MIDCOURSE_MODEL_BASE_URL": self._known["model_url"],
            "OPENAI_API_KEY": "none",
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
            **{f"MIDCOURSE_SECRET_{name.upper()}": value for name, value in self.task.secrets.items()},
        }

    def make_arguments(self) -> list[str]:
        """The words after `midcourse`, as a user would type them, except that the model may take its time."""
        task = self.task
        return [
            "do",
            task.goal,
            "--at",
            self._known["url"] + task.at,
            "--model",
            "openai:by-hand",
            *(word for name, value in task.inputs.items() for word in ("--input", f"{name}={value}")),
            *(word for file in task.files for word in ("--file", f"files/{file}")),
            *(word for name in task.secrets for word in ("--secret", name)),
            *(word for output in task.outputs for word in ("--output", output)),
            "--run-id",
            task.id,
            "--home",
            str(self.folder / "home"),
            *(word for name, value in PATIENCE.items() for word in ("--set", f"{name}={value}")),
        ]

    def stop(self) -> None:
        """End the terminal and the processes that `start` has begun. What was written stays."""
        self._tmux("kill-server")
        if not (self.folder / "session.json").exists():
            return
        pid = self._known["pid"]
        with suppress(ProcessLookupError, FileNotFoundError):  # it may have ended before
            if "\0".join(("reading_mind", "serve", *self.name.split())) in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + 30
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            time.sleep(POLL)

    # --- what the reader sees and does

    def wait(self, seconds: float = WAITS) -> str:
        """Wait for the next request, question or end, and return it to be read."""
        until, last, still = time.monotonic() + seconds, "", 0
        while time.monotonic() < until:
            if base := self._find_pending():
                self._close_question()
                return self._show_request(base)
            screen, line = self._read_terminal()
            if ENDED in screen:
                self._close_question()
                return self._end(screen)
            still = still + 1 if screen == last else 0
            last = screen
            if still >= STILL and _ASKS.search(line):
                return self._show_question(screen)
            time.sleep(POLL)
        return f"Nothing new after {seconds:.0f} s. Wait again with `wait {self.name}`. The terminal:\n{last.strip()[-1500:]}"

    def show(self, *, whole: bool = True) -> str:
        """The pending request once more, or the terminal."""
        base = self._find_pending()
        return self._show_request(base, whole=whole) if base else self._read_terminal()[0].strip()[-8000:]

    def answer(self, text: str) -> None:
        """Answer the pending request."""
        base = self._find_pending()
        if base is None:
            raise SystemExit("No request waits for an answer.")
        if wants_json(read_request(base)) or text.lstrip().startswith("{"):
            try:
                json.loads(text)
            except ValueError as error:
                raise SystemExit(f"This is no JSON, and was not sent: {error}") from None
        new = base.with_suffix(".answer.new")
        new.write_text(text, encoding="utf-8")
        new.replace(base.with_suffix(".answer"))
        self._write_events([*self._events, {"kind": "exchange", "call": base.name}])
        until = time.monotonic() + 10
        while not base.with_suffix(".usage.json").exists() and time.monotonic() < until:
            time.sleep(POLL)

    def type_lines(self, lines: Sequence[str], *, unnecessary: str = "") -> None:
        """Type lines in the terminal, each with Enter, once it waits for one."""
        for line in lines:
            self._tmux("send-keys", "-t", "run", "-l", line)
            self._tmux("send-keys", "-t", "run", "Enter")
            before, until = self._read_terminal(), time.monotonic() + 2
            while self._read_terminal() == before and time.monotonic() < until:
                time.sleep(0.1)
        path = self.folder / "question.json"
        if not path.exists():
            return
        question = json.loads(path.read_text(encoding="utf-8"))
        events = self._events
        if not (events and events[-1].get("panel") == question["panel"] and events[-1]["kind"] == "question"):
            events.append({"kind": "question", **question, "typed": []})
        events[-1]["typed"] += lines
        events[-1]["open_seconds"] = round(time.time() - question["since"])
        if unnecessary:
            events[-1]["unnecessary"] = unnecessary
        self._write_events(events)

    def _find_pending(self) -> Path | None:
        for path in sorted((self.folder / "calls").glob("*.txt")):
            base = path.with_suffix("")
            if not (base.with_suffix(".answer").exists() or base.with_suffix(".left").exists()):
                return base
        return None

    def _show_request(self, base: Path, *, whole: bool = False) -> str:
        body, number = read_request(base), int(base.name)
        form = find_form(body)
        head = [f"=== {self.name}: request {number}, {form.get('name', '')}"]
        shown, schema = base.with_suffix(".txt").read_text(encoding="utf-8"), form.get("schema", {})
        if not whole and (earlier := self._find_earlier(base)):
            like, same = earlier
            if find_form(read_request(like)).get("schema", {}) == schema:
                schema = "as before"
            head.append(f"[{same} lines as in request {int(like.name)}; all of it: `show {self.name}`]")
            shown = "".join(shown.splitlines(keepends=True)[same:])
        pictures = [f"Picture: {path}" for path in sorted(base.parent.glob(f"{base.name}-*.png"))]
        shape = schema if isinstance(schema, str) else json.dumps(schema, ensure_ascii=False)
        return "\n".join([*head, shown.rstrip("\n"), f"<|form of the answer|> {shape}", *pictures])

    def _find_earlier(self, base: Path) -> tuple[Path, int] | None:
        """The earlier request that begins like this one with the most lines, and how many; the latest if there are several."""
        lines = base.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
        found: tuple[Path, int] | None = None
        for number in range(int(base.name)):
            earlier = base.with_name(f"{number:02d}")
            same = count_common(lines, earlier.with_suffix(".txt").read_text(encoding="utf-8").splitlines())
            if found is None or same >= found[1]:
                found = earlier, same
        return found

    def _show_question(self, screen: str) -> str:
        panels = list(_PANEL.finditer(screen))
        shown = screen[panels[-1].start() if panels else 0 :].rstrip()
        path = self.folder / "question.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if known.get("panel") != len(panels):
            self._close_question()
            path.write_text(json.dumps({"shown": shown, "since": time.time(), "panel": len(panels)}), encoding="utf-8")
        person = f"\n[what the user knows, if this asks for it: {self.task.person}]" if self.task.person else ""
        return f"=== {self.name}: question\n{shown}{person}"

    def _close_question(self) -> None:
        """Record a question that went away by itself, before a key was pressed."""
        path = self.folder / "question.json"
        if not path.exists():
            return
        question, events = json.loads(path.read_text(encoding="utf-8")), self._events
        if not any(event.get("panel") == question["panel"] for event in events):
            seconds = round(time.time() - question["since"])
            self._write_events([*events, {"kind": "question", **question, "typed": [], "open_seconds": seconds}])
        path.unlink()

    def _end(self, screen: str) -> str:
        ended = screen.rindex(ENDED)
        code = int(screen[ended + len(ENDED) :].split()[0])
        panels = list(_PANEL.finditer(screen))
        printed = screen[panels[-1].start() if panels else 0 : ended].rstrip()
        if not any(event["kind"] == "end" for event in self._events):
            self._write_events([*self._events, {"kind": "end", "exit_code": code, "printed": printed}])
        self._write_transcript()
        return f"=== {self.name}: ended with {code}\n{printed}\n[judge it: `judge {self.name}`]"

    # --- the transcript and the judgement

    def judge(self, note: str = "") -> Json:
        """Compare what is stored with what was asked for, and add the judgement to the transcript."""
        events = self._events
        end = next((event for event in events if event["kind"] == "end"), {"exit_code": None, "printed": ""})
        printed = str(end["printed"])
        before = json.loads((self.folder / "before.json").read_text(encoding="utf-8"))
        application = APPLICATIONS[self.task.app](self.folder / "app")
        began = datetime.fromtimestamp(self._known["began"]).astimezone().date()
        outcome = judging.compare(before, application.records(), self.task.effects, began)
        said = judging.squeeze(printed).replace(judging.squeeze(self.task.goal), "") + self._read_result()
        missing = judging.find_missing_words(said, self.task.answer)
        questions = [event for event in events if event["kind"] == "question"]
        asked = any(self._is_answered(event) for event in questions)
        if self.task.possible:
            right = end["exit_code"] == 0 and outcome.right and not missing and (asked or not self.task.must_ask)
        else:
            right = end["exit_code"] not in (0, None) and outcome.right and "impossible" in printed.lower()
        headlines = _HEADLINE.findall(printed)
        usages = [json.loads(path.read_text()) for path in sorted((self.folder / "calls").glob("*.usage.json"))]
        judgement = {
            "kind": "judgement",
            "id": self.task.id,
            "kind_of_task": self.task.kind,
            "with": self.opponent_name,
            "right": right,
            "verdict": headlines[0] if headlines else "",
            "exit_code": end["exit_code"],
            "effects": asdict(outcome),
            "missing_in_answer": missing,
            "asked": asked,
            "calls": {
                "planner": sum(each["role"] in self.planner_roles for each in usages),
                "others": sum(each["role"] not in self.planner_roles for each in usages),
            },
            "tokens": {name: sum(each[f"{name}_tokens"] for each in usages) for name in ("prompt", "cached", "answer")},
            "counted_as": usages[0]["counted_as"] if usages else "",
            "questions": {
                "all": len(questions),
                "unnecessary": sum("unnecessary" in event for event in questions),
            },
            "note": note,
        }
        self._write_events([*[event for event in events if event["kind"] != "judgement"], judgement])
        self._write_transcript()
        return judgement

    @staticmethod
    def _is_answered(question: Json) -> bool:
        """Whether the user told something that only a user knows."""
        return bool(question["typed"]) and question["typed"][0].split(" ")[0] in ("a", "g")

    def _read_result(self) -> str:
        """What the run reports to programs: its answer and its data."""
        path = self.folder / "home" / "runs" / self.task.id / "result.json"
        result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return json.dumps([result.get(name) for name in ("answer", "data", "output")], ensure_ascii=False)

    def _write_transcript(self) -> None:
        from benchmarks.reading_mind import replay  # seconds of imports, which every other command does without

        application = APPLICATIONS[self.task.app]
        head = {
            "kind": "transcript",
            "format": 1,
            "id": self.task.id,
            "application": f"{application.title} {application.version}",
            "task": self.task.goal,
            **self._describe_run(),
        }
        lines = [head, *map(self._fill, self._events)]
        path = self.folder / "contexts.jsonl"
        contexts = (
            replay.bind_contexts(lines, path.read_text(encoding="utf-8").splitlines(keepends=True))
            if path.exists()
            else []
        )
        transcript = self.folder / "transcript.jsonl"
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        transcript.write_text(self._leave_out_machine(text), encoding="utf-8")
        if contexts:
            replay.write_contexts(transcript, map(self._leave_out_machine, contexts))

    def _describe_run(self) -> Json:
        return {"policy": "none", "answered": ANSWERED, "command": ["midcourse", *self.make_arguments()]}

    def _leave_out_machine(self, text: str) -> str:
        for path, name in ((self.folder, "RUN"), (ROOT, "CHECKOUT"), (CACHE, "CACHE"), (Path.home(), "HOME")):
            text = text.replace(str(path), name)
        return _OF_A_MACHINE.sub("MACHINE/", text)

    def _fill(self, event: Json) -> Json:
        if event["kind"] != "exchange":
            return {name: value for name, value in event.items() if name not in ("since", "panel")}
        base = self.folder / "calls" / event["call"]
        body, usage = read_request(base), json.loads(base.with_suffix(".usage.json").read_text(encoding="utf-8"))
        form = find_form(body)
        return {
            "kind": "exchange",
            "role": form.get("name", ""),
            "asked": list_parts(body),
            "schema": form.get("schema", {}),
            "answer": base.with_suffix(".answer").read_text(encoding="utf-8").strip(),
            "prompt_tokens": usage["prompt_tokens"],
            "cached_tokens": usage["cached_tokens"],
        }

    # --- the terminal

    def _tmux(self, *words: str, environment: Json | None = None) -> str:
        """Call tmux with a server of this session alone."""
        name = f"reading-{self.folder.parent.name}-{os.getuid()}-{abs(hash_text(str(self.folder)))}"
        done = subprocess.run(
            ["tmux", "-L", name, *words], capture_output=True, text=True, check=False, env=environment
        )
        return done.stdout

    def _read_terminal(self) -> tuple[str, str]:
        """All that was printed, and the line with the cursor up to it."""
        screen = self._tmux("capture-pane", "-p", "-S", f"-{HISTORY}", "-t", "run")
        place = self._tmux("display-message", "-p", "-t", "run", "#{cursor_y} #{cursor_x} #{history_size}").split()
        if len(place) != 3:
            raise SystemExit(f"The terminal of {self.task.id} is gone. Begin with `start {self.name}`.")
        row, column, above = map(int, place)
        lines = screen.split("\n")
        line = lines[above + row] if above + row < len(lines) else ""
        return screen, line.ljust(column)[:column]


def hash_text(text: str) -> int:
    return int.from_bytes(text.encode()[-64:], "big") % 10**9


def read_request(base: Path) -> Json:
    return json.loads(base.with_suffix(".request.json").read_text(encoding="utf-8"))
