"""The `midcourse` program, which also keeps what each of its planner's prompts was made from: `recorded_midcourse.py FILE do …`."""

import sys
from pathlib import Path

from benchmarks.reading_mind.replay import keep_contexts
from midcourse.cli.main import main

if __name__ == "__main__":
    keep_contexts(Path(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
