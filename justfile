# Everything a contributor runs. `just` alone lists it.

export UV_NO_SYNC := "1"
export PYRIGHT_PYTHON_IGNORE_WARNINGS := "1"

# List the recipes
default:
    @just --list --unsorted

# Make .venv exactly as locked, with midcourse installed for editing
setup:
    uv venv --allow-existing .venv
    uv pip sync --compile-bytecode --require-hashes requirements.lock
    uv pip install --no-deps -e .

# Compile requirements.lock from pyproject.toml; `just lock --upgrade` takes newer versions
lock *args:
    uv pip compile --quiet --universal --generate-hashes --extra browser --extra llm --extra up --group dev --custom-compile-command "just lock" {{ args }} --output-file requirements.lock pyproject.toml

# Format the code and sort the imports
fmt:
    uv run ruff format
    uv run ruff check --select I --fix

# Check format and lint rules
lint:
    uv run ruff format --check
    uv run ruff check

# Check types: strict in src, standard elsewhere
types:
    uv run pyright

# Check that imports point down only
imports:
    uv run lint-imports

# Run the quick tests, in less than two minutes
test *args:
    MIDCOURSE_HYPOTHESIS=quick uv run pytest -q -n auto -m "not slow" {{ args }}

# Run the seeds' own examples
scenarios *args:
    uv run pytest -q tests/scenarios {{ args }}

# Run the director's promises over 20,000 generated examples each
properties *args:
    MIDCOURSE_HYPOTHESIS=properties uv run pytest -q -n auto -o timeout=7200 tests/properties {{ args }}

# Check that the documentation is true
docs:
    uv run pytest -q tests/docs

# Run all that CI runs
check:
    bash .ci/run

# Run what is too long for CI: the properties and the full benchmarks, with their results kept
nightly: properties
    uv run python benchmarks/kill_local.py --runs 200 --json --keep
    uv run python benchmarks/horizon.py --runs 1000 --json --keep
    uv run python benchmarks/waste.py --runs 100 --json --keep
    uv run python benchmarks/growth.py --steps 2000 --json --keep
    uv run python benchmarks/detour.py --runs 1000 --browser 30 --json --keep
    uv run python benchmarks/outline.py --runs 1000 --json --keep
    uv run python benchmarks/invoices.py --rows 500 --json --keep
    uv run python benchmarks/chaos.py --runs 1000 --json --keep
    uv run python benchmarks/chaos.py --trial points:320,freeze:200,postgres:500,temporal:500 --json --keep
    uv run python benchmarks/chaos.py --trial host:500,outage:20 --json --keep
    uv run python benchmarks/chaos.py --trial budget:1000,big:500,waiting:10000 --json --keep
    uv run python benchmarks/hostile.py --pages 1000 --control 200 --benign 10 --json --keep
    uv run python benchmarks/drift.py --seeds 50 --also wagtail.story:WAGTAIL --json --keep
    uv run python benchmarks/changed_values.py --runs 1000 --json --keep
    uv run python benchmarks/approvals.py --interleavings 10000 --forgeries 1000 --json --keep
    uv run python benchmarks/tokens.py --trial tokens:500,absent:200,control:200 --browser 40 --json --keep
    uv run python benchmarks/audit.py --tamperings 10000 --postgres 1000 --json --keep
    uv run python benchmarks/kill_browser.py --runs 100 --runtime local --json --keep
    uv run python benchmarks/kill_browser.py --runs 100 --runtime temporal --json --keep
    uv run python benchmarks/miniwob.py --seeds 20 --first-seed 1000 --json --keep
    uv run python benchmarks/leaks.py --secrets 50 --json --keep
    uv run python benchmarks/first_run.py --json --keep
    uv run python benchmarks/capture.py --json --keep
    uv run python benchmarks/garbage.py --runs 100000 --json --keep
    uv run python benchmarks/reuse.py --seeds 100 --json --keep
    uv run python benchmarks/recovery.py --runs 3000 --json --keep
    uv run python benchmarks/memory.py --rounds 20 --json --keep
