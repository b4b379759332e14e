"""Makes `src/api/schema.d.ts` from the server's OpenAPI document: `just console-types`.

The first line of it names the document that it was made from, so that a test finds types that are out of date.
"""

import json
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TYPES = HERE.parent / "src" / "api" / "schema.d.ts"


def document() -> dict[str, Any]:
    """The document without refusals, which all look the same, and without the version of the package."""
    from midcourse.server.app import build_api

    whole = json.loads(json.dumps(build_api().openapi(), sort_keys=True))
    whole["info"] = {"title": "Midcourse", "version": "1"}
    for path in whole["paths"].values():
        for operation in path.values():
            operation["responses"] = {code: one for code, one in operation["responses"].items() if code.startswith("2")}
    return whole


def digest(found: dict[str, Any]) -> str:
    return sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def main() -> None:
    found = document()
    source = HERE / "openapi.json"
    source.write_text(json.dumps(found, indent=1), encoding="utf-8")
    subprocess.run(["npm", "run", "--silent", "types"], cwd=HERE, check=True)
    lines = TYPES.read_text(encoding="utf-8")
    TYPES.write_text(f"// Made by openapi/make.py from document {digest(found)}\n{lines}", encoding="utf-8")


if __name__ == "__main__":
    main()
