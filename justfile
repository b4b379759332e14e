# Everything a contributor runs. `just` alone lists it.

export UV_NO_SYNC := "1"

# Benchmarks: an environment and recipes of their own
mod benchmarks

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
    uv pip compile --quiet --universal --generate-hashes --extra browser --extra desktop --extra llm --extra mcp --extra oidc --extra otel --extra pdf --extra robot --extra s3 --extra server --extra slack --extra up --extra vision --group dev --custom-compile-command "just lock" {{ args }} --output-file requirements.lock pyproject.toml

# Write today's prompts into the golden files, the shipped recordings, and the transcripts whose answers still hold
rekey:
    uv run python -m tests.llm.test_prompts
    uv run python -m tests.llm.recorded_tasks
    uv run python -m benchmarks.reading_mind.replay --rekey

# Compile the lock of the frameworks that examples are tested with
lock-frameworks *args:
    uv pip compile --quiet --universal --generate-hashes --extra llm --custom-compile-command "just lock-frameworks" {{ args }} --output-file tests/frameworks/requirements.lock pyproject.toml tests/frameworks/requirements.in

# Compile the lock of CrewAI, which needs an older OpenAI client than the other frameworks
lock-crewai *args:
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "just lock-crewai" {{ args }} --output-file tests/frameworks/crewai.lock pyproject.toml tests/frameworks/crewai.in

# Run the examples with LangGraph, the OpenAI Agents SDK, Inspect and CrewAI, in environments of their own
frameworks *args:
    uv venv --quiet --allow-existing .ci/tools/crewai
    uv pip sync --quiet --python .ci/tools/crewai --require-hashes tests/frameworks/crewai.lock
    uv venv --quiet --allow-existing .ci/tools/frameworks
    uv pip sync --quiet --compile-bytecode --python .ci/tools/frameworks --require-hashes tests/frameworks/requirements.lock
    uv pip install --quiet --python .ci/tools/frameworks --no-deps --editable .
    FRAMEWORKS_PYTHON="$PWD/.ci/tools/frameworks/bin/python" CREWAI_PYTHON="$PWD/.ci/tools/crewai/bin/python" uv run pytest -q tests/frameworks {{ args }}

# Compile the lock of the environment with the clients of all families of model providers, at the versions of `just lock`
lock-providers *args:
    uv pip compile --quiet --universal --generate-hashes --extra llm --constraints requirements.lock --custom-compile-command "just lock-providers" {{ args }} --output-file tests/providers/requirements.lock pyproject.toml tests/providers/requirements.in

# Test what each family of model providers is sent, with their own clients in an environment of their own
providers *args:
    uv venv --quiet --allow-existing .ci/tools/providers
    uv pip sync --quiet --python .ci/tools/providers --require-hashes tests/providers/requirements.lock
    uv pip install --quiet --python .ci/tools/providers --no-deps --editable .
    .ci/tools/providers/bin/python -m pytest -q -c tests/providers/pytest.ini tests/providers {{ args }}
    .ci/tools/providers/bin/python -m tests.providers.test_requests

# Compile the lock of the MCP server that needs an environment of its own
lock-mcp *args:
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "just lock-mcp" {{ args }} --output-file tests/mcp/requirements.lock tests/mcp/requirements.in

# Run the tests about MCP with real servers from npm and PyPI, and with all injections of AgentDojo
mcp-servers *args:
    npm install --silent --no-audit --no-fund --prefix .ci/tools/mcp @modelcontextprotocol/inspector @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-memory @playwright/mcp
    uv venv --quiet --allow-existing .ci/tools/mcp-sqlite
    uv pip sync --quiet --python .ci/tools/mcp-sqlite --require-hashes tests/mcp/requirements.lock
    MCP_NPM="$PWD/.ci/tools/mcp" MCP_SQLITE="$PWD/.ci/tools/mcp-sqlite/bin/mcp-server-sqlite" MCP_COMMITS=13 MCP_INJECTIONS=10000 uv run pytest -q -n 2 tests/mcp {{ args }}

# Format the code and sort the imports
fmt:
    uv run ruff format
    uv run ruff check --select I --fix

# Check format and lint rules, and print which files and functions are long
lint:
    uv run ruff format --check
    uv run ruff check
    uv run python -m tests.habits.source

# Check types: strict in src, standard elsewhere
types:
    uv run pyrefly check

# Check that imports point down only
imports:
    uv run lint-imports

# Run the quick tests, in 90 seconds on two cores (tests/lanes.py)
test *args:
    MIDCOURSE_HYPOTHESIS=quick uv run pytest -q -n auto -m "not slow" {{ args }}

# Run the seeds' own examples
scenarios *args:
    uv run pytest -q tests/scenarios {{ args }}

# Run the director's promises over 20,000 generated examples each
properties *args:
    MIDCOURSE_HYPOTHESIS=properties uv run pytest -q -n auto -o timeout=7200 tests/properties tests/replay/test_properties.py {{ args }}

# Check the web console and build it into the package; Node comes with the development dependencies
console:
    uv run console/build

# Make the console's types from the API, after a change of it
console-types:
    cd console/openapi && npm ci && uv run python make.py

# Check that the documentation is true
docs:
    uv run pytest -q tests/docs

# Build the documentation site into site/, or where you say
site *args:
    uv run python docs/site/build.py {{ args }}

# Build wheel and source archive; the same commit gives the same bytes
build to="dist":
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) uv build --quiet --out-dir {{ to }}

# Run all that CI runs
check:
    bash .ci/run

# Measure which lines of src the quick tests reach; fails below the floor in pyproject.toml
coverage *args:
    MIDCOURSE_HYPOTHESIS=quick uv run pytest -q -n auto -m "not slow" --cov --cov-report=term:skip-covered {{ args }}

# Run what is too long for CI: the properties, coverage and the full benchmarks, with their results kept
nightly: properties coverage frameworks mcp-servers && benchmarks::all
    GUARDED_ORDERS=42 GUARDED_LINES=100 UNDO_RUNS=20 UNDO_WAGTAIL=1 uv run pytest -q -n 2 tests/guarded tests/undo
    FULL_CHROMIUM=1 uv run pytest -q -n 2 tests/worlds/browser
