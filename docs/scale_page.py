"""The page `scale.md`: unit costs from the kept results of benchmarks, and arithmetic with them."""

from dataclasses import dataclass
from typing import Any

from unit_costs import SECONDS_A_STEP, UnitCosts, read_costs, read_result

STEPS = 30
"""Of a run."""
DAY = 86_400
HOURS = 730
"""Of a month."""
RUNS_A_WORKER = 2000
CONNECTIONS = 10
RESTING = 7 * DAY
"""Seconds for which a question stays open, in a fleet that waits for people."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Dollars. Assumptions for an example."""

    memory_gb_hour: float = 0.0045
    storage_gb_month: float = 0.08


PRICES = Prices()
KEPT_DAYS = 30
"""Before old steps are pruned, in the example with prices."""

PAGE = """# Scale

Written by `python docs/generate.py` from the [kept results](../benchmarks/results) of benchmarks. Every figure here was measured, or is calculated
from measured figures; only the prices of the example are not. They were measured on two busy cores: run the commands on your own machines before you buy hardware.

**When you can skip this page.** You do not need this page if one person or one team uses one machine. {laptop_runs} runs a day, of {steps} steps each, on pages of 500
elements, store {laptop_day:.0f} MB a day ({laptop_year:.1f} GB a year) in one SQLite file. With `midcourse prune --older-than 90d`
([operations](operations.md)) the file stops growing at {laptop_pruned:.1f} GB. One worker drives a hundred runs at a time (`max_runs`). Read on if
you have thousands of runs at a time, or hundreds of thousands that wait.

## Unit costs

| what | measured | by |
|---|---|---|
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

The table does not include the memory of larger pages, and calls of models, which cost more than everything above. Nor does it include processor
time: measure that of a step with `python -m benchmarks.engine_overhead`, and that of heartbeats with `python -m benchmarks.chaos --trial heartbeats:100`,
on a machine like yours.

![Processor time per step along a run, stored bytes per step by the size of the page, and memory of a worker by the number of waiting runs](img/scale-growth.svg)

A late step of a long run costs no more than an early one, and reads as many records; where the peaks in between come from was not examined. What
a step stores hardly depends on the size of the page, because only changes are stored, and not whole observations. A worker's memory grew by
{waiting_kb:.0f} KB per run after the first {waiting_tenth:,}, which had filled its cache.

## Waiting runs

A run that waits for a person costs only storage. It has no timer, holds no connection, and uses hardly any memory outside a worker's cache
(`max_cached_runs`; measured with 10,000 runs).

| waiting runs | 1 million | 100 million |
|---|---|---|
| storage in PostgreSQL | {waiting_1m:.0f} GB | {waiting_100m:.1f} TB |
| questions that expire, at `approval_seconds` = 1 hour (the default) | {expire_hour_1m:,.0f} per second | {expire_hour_100m:,.0f} per second |
| the same at 7 days | {expire_week_1m:.1f} per second | {expire_week_100m:.0f} per second |

In a fleet that waits for people, set `approval_seconds` to several days: at an hour, most of the work is expiring questions. No wait of a minute or
more has a timer in Temporal. Instead, every five seconds each worker asks the database once per tenant which runs are due, by an index on the time,
and wakes those ([why](../design/0030-due-runs-are-swept-and-tenants-take-turns.md)). When a question expires, a worker has to drive its run once more.

## Active runs

For 1 million runs that each do a step every {seconds} s, on pages of {elements} elements:

| what | needed | details |
|---|---|---|
| steps | {steps_second:,.0f} per second | |
| storage | {bytes_second:.0f} MB per second, {bytes_day:.1f} TB per day | {bytes_pruned_day:.1f} TB per day are left after pruning |
| worker processes, at `max_runs` = {runs_worker:,} | {processes:,.0f} | |
| their connections | {connections_all:,.0f} | so you need a pooler, with a few hundred connections to the server |

![Memory for browsers against the number of active runs, and storage against the number of waiting runs](img/scale-needs.svg)

An active run sends heartbeats all the time, and makes a step only every {seconds} s. With a larger `heartbeat_seconds` it sends fewer, and a lost
worker is noticed later.

## An example with prices

**The unit prices are assumptions**: list prices differ by more than a factor of ten. Replace them with yours (`Prices` in `docs/scale_page.py`), and
run `python docs/generate.py`.

| dollars per month | unit price | 1,000 active runs | 1 million active runs | 1 million waiting runs |
|---|---|---|---|---|
{prices}

A month has {hours} hours. Not included: processors, memory of workers and servers, replicas, backups, traffic, and calls of models.

**Temporal Cloud** would take the place of your own Temporal cluster. It bills every heartbeat
[as an Action](https://docs.temporal.io/cloud/actions) ([prices](https://docs.temporal.io/cloud/pricing)). Waiting runs send none. Raise
`heartbeat_seconds` before you use Temporal Cloud for runs that are active for long.

## What breaks first, and what to add when

1. **Browsers.** Each active run needs {browser_mb} MB, so about {browsers_32gb} fit into 32 GB. Set this limit with `--max-sessions`: further runs wait
   until a session is free. Runs that wait for a person release their browser after `--park` seconds. Add memory or [hosts](fleets.md#hosts) as the number of active
   runs grows, long before anything below.
2. **Temporal's heartbeats and transitions.** The development server of `midcourse up` uses SQLite, and every active run sends it heartbeats. Before
   its processor time matters, raise `heartbeat_seconds`, or use a cluster or Temporal Cloud.
3. **Connections.** Each worker process has {connections}. From about fifty worker processes on, put PgBouncer in between (`database_pooler`), or serve
   more tenants per process (`--tenants`).
4. **Storage.** {bytes_day:.1f} TB per day at a million active runs is the first significant cost. To delete old data ([operations](operations.md)),
   `midcourse fleet expire` drops whole months without touching rows, and `midcourse prune` deletes by tenant and age.
5. **Transactions.** A step takes [one or two](fleets.md#what-it-costs), and each needs a flush: at {steps_second:,.0f} steps per second, that is more than
   one server can do. No query joins rows of two tenants, so you can divide tenants among servers: one fleet for each server, with its own `database_url`.
   There is no tool that moves a tenant.
6. **Tables without partitions** (runs, plans, ledger, results, drives, audit) grow with the number of runs and are not dropped by month. Pruning
   empties plans, consequences and most of the ledger. The rest stays.
7. **One audit chain per tenant.** Decisions of one tenant are committed one after the other. A tenant with thousands of decisions per second would
   need several chains, which do not exist.

## Tenants that share a worker

If a tenant must never wait for another one, give it its own workers. On a shared worker, each tenant has its own queue and its own `max_runs`, and
of the tenants that wait for a connection or for a turn of a run, the one that had fewest lately is next. But they share the processor and Temporal.

- Measured: {few} runs beside {many} runs of another tenant took {fair_ratio} times as long to start as alone (`python -m benchmarks.fairness`). Our goal is
  a factor of at most 2. On a slower machine it was 2.28 before turns were shared, and the factor depends on how busy the machine is.
- From the moment the worker took on a run to the run's first turn, it took {fair_alone:.2f} s alone and {fair_beside:.2f} s beside the others. Before
  that, Temporal and the worker took longer, too, to place it.
"""


def scale_page() -> str:
    costs = read_costs()
    figures = {
        **_count_local(),
        **_count_browsers(),
        **_count_stored(costs),
        **_count_waiting(costs),
        **_count_active(costs),
        **_compare_tenants(),
    }
    return PAGE.format(prices=_price_rows(costs), hours=HOURS, **figures)


def _price_rows(costs: UnitCosts) -> str:
    """The rows of the example with prices: what thousands and millions of runs cost in a month."""
    thousand, million = 1e3, 1e6
    kept = KEPT_DAYS * DAY
    rows: list[tuple[str, str, list[float]]] = [
        (
            "memory for browsers",
            f"${PRICES.memory_gb_hour} per GB and hour",
            [costs.count_browser_gb(runs) * HOURS * PRICES.memory_gb_hour for runs in (thousand, million)],
        ),
        (
            f"storage, if the last {KEPT_DAYS} days are kept",
            f"${PRICES.storage_gb_month} per GB and month",
            [costs.count_step_gb(runs, kept) * PRICES.storage_gb_month for runs in (thousand, million)],
        ),
    ]
    waiting = costs.count_waiting_gb(million) * PRICES.storage_gb_month
    lines = [
        f"| {name} | {unit} | {few:,.0f} | {many:,.0f} | {f'{waiting:.2f}' if name.startswith('storage') else ''} |"
        for name, unit, (few, many) in rows
    ]
    few, many = (sum(column) for column in zip(*(needs for *_, needs in rows), strict=True))
    return "\n".join([*lines, f"| **together** | | **{few:,.0f}** | **{many:,.0f}** | **{waiting:.2f}** |"])


def _count_local() -> dict[str, Any]:
    pages = read_result("bytes")["pages"]
    day = 100 * STEPS * pages[1]["kept"]
    return {
        "laptop_runs": 100,
        "steps": STEPS,
        "laptop_day": day / 1e6,
        "laptop_year": 365 * day / 1e9,
        "laptop_pruned": 90 * day / 1e9,
        "local_step": pages[1]["kept"],
        "local_written": pages[1]["written"],
        "flushes": pages[1]["flushes"],
        "load": pages[-1]["load_ms"],
        "growth": read_result("growth")["ratio"],
    }


def _count_browsers() -> dict[str, Any]:
    result = read_result("density")
    return {
        "browsers": result["shared"]["sessions"],
        "browser_elements": result["elements"],
        "browser_mb": result["shared"]["mb_each"],
        "browser_processes": result["shared"]["processes_each"],
        "own_mb": result["own"]["mb_each"],
        "own_processes": result["own"]["processes_each"],
        "parked_runs": result["waiting"]["runs"],
        "parked_chromiums": result["waiting"]["chromiums_when_parked"],
        "parked_mb": result["waiting"]["host_mb_when_parked"],
        "browsers_32gb": int(32_000 / result["shared"]["mb_each"] / 10) * 10,
    }


def _count_stored(costs: UnitCosts) -> dict[str, Any]:
    result, a_second = read_result("storage"), costs.count_steps(1e6)
    return {
        "elements": result["elements"],
        "step": result["step"],
        "waiting": result["waiting"],
        "ended": result["ended"],
        "pruned": result["pruned"],
        "kept_runs": result["runs"],
        "kept_steps": result["steps"],
        "bytes_second": a_second * result["step"] / 1e6,
        "bytes_day": costs.count_step_gb(1e6, DAY) / 1e3,
        "bytes_pruned_day": a_second / result["steps"] * result["pruned"] * DAY / 1e12,
    }


def _count_waiting(costs: UnitCosts) -> dict[str, Any]:
    result = read_result("chaos_waiting")
    memory = result["rss_mb"]
    return {
        "cached": result["cached_max"],
        "waiting_mb": memory[-1],
        "waiting_tenth": result["waiting"] // (len(memory) - 1),
        "waiting_kb": (memory[-1] - memory[1]) * 1024 / (result["waiting"] * (len(memory) - 2) / (len(memory) - 1)),
        "goes_on": result["goes_on_median_seconds"],
        "waiting_1m": costs.count_waiting_gb(1e6),
        "waiting_100m": costs.count_waiting_gb(1e8) / 1e3,
        "expire_hour_1m": 1e6 / 3600,
        "expire_hour_100m": 1e8 / 3600,
        "expire_week_1m": 1e6 / RESTING,
        "expire_week_100m": 1e8 / RESTING,
    }


def _count_active(costs: UnitCosts) -> dict[str, Any]:
    processes = 1e6 / RUNS_A_WORKER
    return {
        "seconds": SECONDS_A_STEP,
        "steps_second": costs.count_steps(1e6),
        "runs_worker": RUNS_A_WORKER,
        "processes": processes,
        "connections": CONNECTIONS,
        "connections_all": processes * CONNECTIONS,
    }


def _compare_tenants() -> dict[str, Any]:
    result = read_result("fairness")
    return {
        "few": result["few"],
        "many": result["runs"],
        "fair_ratio": result["ratio"],
        "fair_alone": result["alone"]["first"] - result["alone"]["begun"],
        "fair_beside": result["beside"]["first"] - result["beside"]["begun"],
    }
