"""Tasks that name modules to have a worker run them: refused before anything is imported, by clients and by workers."""

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midcourse.agent.start import new_run
from midcourse.agent.wiring import BUILT_IN, Job, encode_job, parse_job
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.task.modules import AllowedModules
from midcourse.errors import TaskInvalid
from midcourse.fleet.connection import Fleet, RunBroken, connect_fleet, start_durable_run
from midcourse.fleet.ports import PortsMaker
from midcourse.fleet.worker import build_worker


def job(planner: str = "playbook", world: str = "notepad", command: str = "true") -> Job:
    rules = (
        '[[planner.rules]]\non = "*"\ndone = true' if planner == "playbook" else f"options = {{command = '{command}'}}"
    )
    text = f'goal = "x"\n[world]\nname = "{world}"\n[planner]\nname = "{planner}"\n{rules}\n'
    return parse_job(text, "hostile", {})


def allowed(modules: str, planner: str = "playbook", world: str = "notepad") -> str:
    """Empty, or why not."""
    try:
        AllowedModules(modules).check(job(planner, world).file.named_objects(), BUILT_IN)
    except TaskInvalid as refusal:
        return str(refusal)
    return ""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Modules of the user's, of which importing one is noticed."""
    (tmp_path / "acme_plans").mkdir()
    (tmp_path / "acme_plans" / "__init__.py").write_text("")
    (tmp_path / "acme_plans" / "careful.py").write_text("def make(**options): ...\n")
    careless = "from functools import partial\nfrom subprocess import run\nfrom acme_plans.careful import make\n"
    (tmp_path / "acme_plans" / "careless.py").write_text(
        f"{careless}ready = partial(make, x=1)\nshell = partial(run)\n"
    )
    (tmp_path / "acme_planted.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)  # a module beside the task is found
    importlib.invalidate_caches()
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


# --- the list


@pytest.mark.parametrize("world", ["notepad", "browser", "midcourse.worlds.simulated.shop:Shop"])
@pytest.mark.parametrize("modules", ["", "none", "acme_plans.*"])
def test_what_comes_with_midcourse_is_always_allowed(modules: str, world: str):
    assert not allowed(modules, world=world)


@pytest.mark.parametrize("name", ["os:system", "subprocess:run", "builtins:exec", "runpy:run_path", "posix:system"])
@pytest.mark.parametrize("modules", ["", "none", "acme_plans.*"])
def test_pythons_own_modules_are_refused_unless_they_are_named(modules: str, name: str):
    assert "task_modules" in allowed(modules, planner=name)
    assert "task_modules" in allowed(modules, world=name)
    assert not allowed("*", planner=name)


def test_a_name_allows_one_module_and_a_star_all_below_it(package: Path):
    assert not allowed("acme_plans.careful", planner="acme_plans.careful:make")
    assert "task_modules" in allowed("acme_plans", planner="acme_plans.careful:make")
    assert not allowed("other, acme_plans.*", planner="acme_plans.careful:make")
    assert "task_modules" in allowed("acme.*", planner="acme_plans.careful:make"), "not by the beginning of a name"
    assert not allowed("", planner="acme_plans.careful:make")


@pytest.mark.parametrize("modules", ["", "acme_plans.*", "acme_plans.careless"])
def test_what_an_allowed_module_has_only_imported_is_refused(package: Path, modules: str):
    assert "lacks 'subprocess'" in allowed(modules or "acme_plans.*", planner="acme_plans.careless:run")
    assert "'subprocess'" in allowed(modules, planner="acme_plans.careless:run")
    assert "'subprocess'" in allowed(modules, planner="acme_plans.careless:shell")
    assert bool(allowed(modules, planner="acme_plans.careless:ready")) == (modules == "acme_plans.careless")


def test_modules_of_midcourse_that_are_no_worlds_are_like_any_other():
    assert "task_modules" in allowed("none", planner="midcourse.config.task.modules:import_module")
    assert "'importlib'" in allowed("", planner="midcourse.config.task.modules:import_module")


def test_a_module_that_is_refused_is_not_imported(package: Path):
    assert "task_modules" in allowed("acme_plans.*", planner="acme_planted:make")
    assert "task_modules" in allowed("none", world="acme_planted:World")
    assert "acme_planted" not in sys.modules


def test_a_module_that_only_the_host_has_is_allowed_by_its_name():
    assert not allowed("elsewhere.worlds", world="elsewhere.worlds:Shop")


@pytest.mark.parametrize("text", ["shop worlds!", "shop:Shop", "acme*", "*.worlds", "none, shop-1"])
def test_a_malformed_list_of_modules_is_refused(tmp_path: Path, text: str):
    with pytest.raises(TaskInvalid, match="task_modules"):
        FleetSettings.load(tmp_path, {"task_modules": text})


# --- a fleet


Configure = Callable[[str], FleetSettings]


@pytest.fixture
def configure(postgres: str, temporal: str, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    monkeypatch.chdir(tmp_path)
    usual = {"database_url": postgres, "temporal_address": temporal, "tenant": tenant}
    return lambda modules: FleetSettings.load(tmp_path, {**usual, "task_modules": modules})


async def submit_unchecked(fleet: Fleet, job: Job, run_id: str) -> None:
    """As a client of the attacker's own does, which checks nothing."""
    run = new_run(job.task, run_id)
    await fleet.store.begin(run, job.task, job=encode_job(job))
    await fleet.runs.start(run, world=job.task.world)


@pytest.mark.slow
@pytest.mark.parametrize("modules", ["", "acme_plans.*"])
async def test_a_worker_refuses_a_task_that_would_have_it_run_a_program(
    configure: Configure, tmp_path: Path, modules: str
):
    planted = tmp_path / "planted"
    hostile = job("os:system", command=f"touch {planted}")
    async with connect_fleet(configure(modules)) as fleet, build_worker(fleet, tmp_path):
        with pytest.raises(TaskInvalid, match="task_modules"):
            await start_durable_run(fleet, hostile, "careful")
        await submit_unchecked(fleet, hostile, "hostile")
        with pytest.raises(RunBroken, match="task_modules"):
            await asyncio.wait_for(fleet.runs.handle("hostile").result(), 120)
    assert not planted.exists()


@pytest.mark.slow
async def test_without_the_check_the_program_runs(configure: Configure, tmp_path: Path):
    """What the check is for."""
    planted = tmp_path / "planted"
    async with connect_fleet(configure("*")) as fleet:
        await submit_unchecked(fleet, job("os:system", command=f"touch {planted}"), "hostile")
        await PortsMaker(fleet.store, fleet.settings, tmp_path).build_ports("hostile")
    assert planted.exists()


@pytest.mark.slow
async def test_a_run_that_was_refused_continues_once_its_module_is_allowed(
    configure: Configure, package: Path, tmp_path: Path
):
    task = "from midcourse.planners import SamePlan\nfrom midcourse import Draft\n\n"
    task += "def make(command):\n    return SamePlan([Draft(skill='press', arguments={'key': 'Win'})])\n"
    (package / "acme_late.py").write_text(task)
    async with connect_fleet(configure("none")) as fleet, build_worker(fleet, tmp_path):
        await submit_unchecked(fleet, job("acme_late:make"), "late")
        with pytest.raises(RunBroken, match="acme_late"):
            await asyncio.wait_for(fleet.runs.handle("late").result(), 120)
        assert "acme_late" not in sys.modules
    async with connect_fleet(configure("acme_late")) as fleet, build_worker(fleet, tmp_path):
        await fleet.runs.resume("late", world="notepad")
        result = await asyncio.wait_for(fleet.runs.handle("late").result(), 120)
    assert result.final_reason == "plan_complete"
