"""The page `scale.md`: unit costs from the kept results of benchmarks, and arithmetic with them."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"

SECONDS_A_STEP = 30
"""Between two steps of an active run, mostly waiting for a model."""
STEPS = 30
"""Of a run."""
DAY = 86_400
RUNS_A_WORKER = 2000
CONNECTIONS = 10
RESTING = 7 * DAY
"""Seconds for which a question stays open, in a fleet that waits for people."""

PAGE = """# Scale

Written by `python docs/generate.py` from the [kept results](../benchmarks/results) of benchmarks. Every figure here was measured, or is calculated
from measured figures. They were measured on two busy cores: run the commands on your own machines before you buy hardware.

**When you can skip this page.** You do not need this page if one person or one team uses one machine. {laptop_runs} runs a day, of {steps} steps each, on pages of 500
elements, store {laptop_day:.0f} MB a day ({laptop_year:.1f} GB a year) in one SQLite file. With `midcourse prune --older-than 90d`
([operations](operations.md)) the file stops growing at {laptop_pruned:.1f} GB. One worker drives a hundred runs at a time (`max_runs`). Read on if
you have thousands of runs at a time, or hundreds of thousands that wait.

## Unit costs

| what | measured | by |
|---|---|---|
| processor time per durable step, all parts | {cpu} ms | `python -m benchmarks.engine_overhead` (segments of ten) |
| of which worker / Temporal / PostgreSQL | {worker} / {temporal} / {postgres} ms | the same |
| Temporal transitions per step | {transitions} | the same |
| PostgreSQL transactions per step | {commits} | the same |
| Temporal history per step | {history:.0f} bytes | the same |
| PostgreSQL, a step on a page of {elements} elements | {step:,} bytes | `python -m benchmarks.storage --runs {kept_runs} --steps {kept_steps}` |
| PostgreSQL, a run that waits for an approval | {waiting:,} bytes | the same |
| PostgreSQL, a run of {kept_steps} steps that has ended / was pruned | {ended:,} / {pruned:,} bytes | the same |
| SQLite, a step on a page of 500 elements | {local_step:,} bytes kept, {local_written:,} written, {flushes} flushes | `python -m benchmarks.bytes --steps 100` |
| loading a local run of 5,000 steps | {load} ms | the same |
| processor time of a late step in a run of 2,000 steps, relative to an early one | {growth} | `python -m benchmarks.growth --steps 2000` |
| a worker with 10,000 waiting runs, {cached} of them cached | {waiting_mb} MB | `python -m benchmarks.chaos --trial waiting:10000` |
| time until a run continues after its approval, with 10,000 waiting runs | {goes_on} s | the same |
| one of {browsers} browser sessions at a host, page of {browser_elements} elements | {browser_mb} MB, {browser_processes} processes | `python -m benchmarks.density` |
| the same with a Chromium for each session | {own_mb} MB, {own_processes} processes | the same |
| browsers that {parked_runs} waiting runs hold once they are parked | {parked_chromiums}; their host uses {parked_mb} MB | the same |
| connections of a worker to PostgreSQL, for any number of runs and tenants | {connections} | the setting `max_connections` |
| connections to the server with 100 tenants behind PgBouncer | at most 20 | `pytest tests/store/test_pgbouncer.py` |

The table does not include the memory of larger pages; calls of models, which cost more than everything above; and list prices of machines, which
differ by more than a factor of ten.

## Waiting runs

A run that waits for a person costs only storage. It has no timer, holds no connection, and uses no memory except in a worker's cache
(`max_cached_runs`; measured with 10,000 runs).

| waiting runs | 1 million | 100 million |
|---|---|---|
| storage in PostgreSQL | {waiting_1m:.0f} GB | {waiting_100m:.1f} TB |
| questions that expire, at `approval_seconds` = 1 hour (the default) | {expire_hour_1m:,.0f} per second | {expire_hour_100m:,.0f} per second |
| the same at 7 days | {expire_week_1m:.1f} per second | {expire_week_100m:.0f} per second |
| cores needed if every run is answered within 7 days and then makes one more plan of ten steps | {answers_1m:.1f} | {answers_100m:.0f} |

In a fleet that waits for people, set `approval_seconds` to several days: at an hour, most of the work is expiring questions. No wait of a minute or
more has a timer in Temporal. Instead, every five seconds each worker asks the database once per tenant which runs are due, by an index on the time,
and wakes those ([why](../design/0030-due-runs-are-swept.md)). When a question expires, a worker has to drive its run once more.

## Active runs

For 1 million runs that each do a step every {seconds} s, on pages of {elements} elements:

| what | needed | details |
|---|---|---|
| steps | {steps_second:,.0f} per second | |
| cores | {cores:,.0f} | {cores_worker:,.0f} for workers, {cores_temporal:,.0f} for Temporal, {cores_postgres:,.0f} for PostgreSQL |
| Temporal transitions | {transitions_second:,.0f} per second | |
| PostgreSQL transactions | {commits_second:,.0f} per second | |
| storage | {bytes_second:.0f} MB per second, {bytes_day:.1f} TB per day | {bytes_pruned_day:.1f} TB per day are left after pruning |
| worker processes, at `max_runs` = {runs_worker:,} | {processes:,.0f} | each {process_share:.0f} % of a core |
| their connections | {connections_all:,.0f} | so you need a pooler, with a few hundred connections to the server |

## What breaks first, and what to add when

1. **Browsers.** Each active run needs {browser_mb} MB, so about {browsers_32gb} fit into 32 GB. Set this limit with `--max-sessions`: further runs wait
   until a session is free. Runs that wait for a person release their browser after `--park` seconds. Add memory to the host as the number of active
   runs grows, long before anything below.
2. **Temporal's transitions.** At the measured {transition_ms:.0f} ms each, the development server of `midcourse up`, which uses SQLite, makes about
   {transitions_core:.0f} per second and core. If a thousand runs begin at once, it is busy for a minute. Before that matters, use a cluster or
   Temporal Cloud.
3. **Connections.** Each worker process has {connections}. From about fifty worker processes on, put PgBouncer in between (`database_pooler`), or serve
   more tenants per process (`--tenants`).
4. **Storage.** {bytes_day:.1f} TB per day at a million active runs is the first significant cost. To delete old data ([operations](operations.md)),
   `midcourse fleet expire` drops whole months without touching rows, and `midcourse prune` deletes by tenant and age.
5. **Transactions.** By the table, {commits_second:,.0f} per second need {cores_postgres:,.0f} cores of PostgreSQL, and each needs a flush: more than one
   server can do. No query joins rows of two tenants, so you can divide tenants among servers: one fleet for each server, with its own `database_url`.
   There is no tool that moves a tenant.
6. **Tables without partitions** (runs, plans, ledger, results, drives, audit) grow with the number of runs and are not dropped by month. Pruning
   empties plans, consequences and most of the ledger. The rest stays.
7. **One audit chain per tenant.** Decisions of one tenant are committed one after the other. A tenant with thousands of decisions per second would
   need several chains, which do not exist.

## Tenants that share a worker

If a tenant must never wait for another one, give it its own workers. On a shared worker, each tenant has its own queue and its own `max_runs`, and
the tenants take turns in using the worker's connections. But they share the processor and Temporal.

- Measured: {few} runs beside {many} runs of another tenant took {fair_ratio} times as long to start as alone (`python -m benchmarks.fairness`).
- Our goal is a factor of at most 2 for 10 runs beside 1,000. It is not shown to be met: at that size the benchmark did not end within ten minutes on a
  machine with other work.
- The extra time is spent in the worker, probably in its event loop. From the moment the worker took on a run to the run's first turn, it took
  {fair_alone:.2f} s alone and {fair_beside:.2f} s beside the others. Up to that moment it took no longer than alone.
- Fewer connections (`max_connections`) give the loop less to do at a time, which may help. We tried this once; it is not established.
"""


def scale_page() -> str:
    return PAGE.format(**_figures())


def _kept(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _step_of_ten() -> dict[str, float]:
    """The figures of Midcourse in the table of engine_overhead, which has more than its JSON."""
    text = (RESULTS / "engine_overhead.md").read_text(encoding="utf-8")
    lines = text.split("## A step of segments of ten")[1].split("##")[0].strip().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    column = rows[0].index("midcourse")
    return {row[0]: float(row[column]) for row in rows[2:] if row[column]}


def _figures() -> dict[str, Any]:
    step, stored, local = _step_of_ten(), _kept("storage"), _kept("bytes")["pages"]
    waiting, browsers = _kept("chaos_waiting"), _kept("density")
    fair = _kept("fairness")
    cpu = step["CPU s per 1,000"]
    worker, temporal, postgres = (step[f"of it {part}"] for part in ("the worker", "Temporal", "PostgreSQL"))
    a_second = 1_000_000 / SECONDS_A_STEP
    laptop_day = 100 * STEPS * local[1]["kept"]
    processes = 1_000_000 / RUNS_A_WORKER
    answer = 10 * cpu / 1000
    return {
        "laptop_runs": 100,
        "browsers": browsers["shared"]["sessions"],
        "browser_elements": browsers["elements"],
        "browser_mb": browsers["shared"]["mb_each"],
        "browser_processes": browsers["shared"]["processes_each"],
        "own_mb": browsers["own"]["mb_each"],
        "own_processes": browsers["own"]["processes_each"],
        "parked_runs": browsers["waiting"]["runs"],
        "parked_chromiums": browsers["waiting"]["chromiums_when_parked"],
        "parked_mb": browsers["waiting"]["host_mb_when_parked"],
        "browsers_32gb": int(32_000 / browsers["shared"]["mb_each"] / 10) * 10,
        "steps": STEPS,
        "laptop_day": laptop_day / 1e6,
        "laptop_year": 365 * laptop_day / 1e9,
        "laptop_pruned": 90 * laptop_day / 1e9,
        "cpu": cpu,
        "worker": worker,
        "temporal": temporal,
        "postgres": postgres,
        "transitions": step["transitions"],
        "commits": step["commits"],
        "transition_ms": temporal / step["transitions"],
        "transitions_core": 1000 / (temporal / step["transitions"]),
        "history": step["history bytes"],
        "elements": stored["elements"],
        "step": stored["step"],
        "waiting": stored["waiting"],
        "ended": stored["ended"],
        "pruned": stored["pruned"],
        "kept_runs": stored["runs"],
        "kept_steps": stored["steps"],
        "local_step": local[1]["kept"],
        "local_written": local[1]["written"],
        "flushes": local[1]["flushes"],
        "load": local[-1]["load_ms"],
        "growth": _kept("growth")["ratio"],
        "cached": waiting["cached_max"],
        "waiting_mb": waiting["rss_mb"][-1],
        "goes_on": waiting["goes_on_median_seconds"],
        "connections": CONNECTIONS,
        "few": fair["few"],
        "many": fair["runs"],
        "fair_ratio": fair["ratio"],
        "fair_alone": fair["alone"]["first"] - fair["alone"]["begun"],
        "fair_beside": fair["beside"]["first"] - fair["beside"]["begun"],
        "waiting_1m": stored["waiting"] / 1e3,
        "waiting_100m": stored["waiting"] / 1e4,
        "expire_hour_1m": 1e6 / 3600,
        "expire_hour_100m": 1e8 / 3600,
        "expire_week_1m": 1e6 / RESTING,
        "expire_week_100m": 1e8 / RESTING,
        "answers_1m": 1e6 / RESTING * answer,
        "answers_100m": 1e8 / RESTING * answer,
        "seconds": SECONDS_A_STEP,
        "steps_second": a_second,
        "cores": a_second * cpu / 1000,
        "cores_worker": a_second * worker / 1000,
        "cores_temporal": a_second * temporal / 1000,
        "cores_postgres": a_second * postgres / 1000,
        "transitions_second": a_second * step["transitions"],
        "commits_second": a_second * step["commits"],
        "bytes_second": a_second * stored["step"] / 1e6,
        "bytes_day": a_second * stored["step"] * DAY / 1e12,
        "bytes_pruned_day": a_second / stored["steps"] * stored["pruned"] * DAY / 1e12,
        "runs_worker": RUNS_A_WORKER,
        "processes": processes,
        "process_share": 100 * RUNS_A_WORKER / SECONDS_A_STEP * worker / 1000,
        "connections_all": processes * CONNECTIONS,
    }
