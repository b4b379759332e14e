"""Runs in a system's own environment and imports nothing of this project: loads an arm, and calls its `run` for each job.

    python -P arm_process.py ARM.py

One JSON object a line, on stdin and stdout. What libraries print goes to stderr.
"""

import asyncio
import json
import os
import runpy
import sys
import traceback
from typing import Any


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    run = runpy.run_path(sys.argv[1])["run"]
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(run_job(run, json.loads(line))), file=answers, flush=True)


def run_job(run: Any, job: dict[str, Any]) -> dict[str, Any]:
    try:
        return asyncio.run(asyncio.wait_for(run(job), job["limit"]))
    except Exception as error:
        traceback.print_exc()
        return {"claimed": False, "reason": f"{type(error).__name__}: {str(error)[:300]}"}


if __name__ == "__main__":
    main()
