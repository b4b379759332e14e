"""Traces a process that is started with this folder on its path and WALK_TO in its environment."""

import os
import runpy
from pathlib import Path

if os.environ.get("WALK_TO"):
    runpy.run_path(str(Path(__file__).parents[1] / "trace.py"))["trace_process"]()
