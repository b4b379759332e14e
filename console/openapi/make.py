"""Generates `src/api/schema.d.ts` from the server's OpenAPI document: `just console-types`.

Its first line has the digest of the document, so that a test detects outdated types.
"""

import json
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TYPES = HERE.parent / "src" / "api" / "schema.d.ts"


def build_document() -> dict[str, Any]:
    """Build the document, without error responses (they are all alike) and without the version of the package."""
    from midcourse.server.app import build_api

    document = json.loads(json.dumps(build_api().openapi(), sort_keys=True))
    document["info"] = {"title": "Midcourse", "version": "1"}
    for path in document["paths"].values():
        for operation in path.values():
            operation["responses"] = {
                code: response for code, response in operation["responses"].items() if code.startswith("2")
            }
    return document


def hash_document(document: dict[str, Any]) -> str:
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def main() -> None:
    document = build_document()
    source = HERE / "openapi.json"
    source.write_text(json.dumps(document, indent=1), encoding="utf-8")
    subprocess.run(["npm", "run", "--silent", "types"], cwd=HERE, check=True)
    types = TYPES.read_text(encoding="utf-8")
    TYPES.write_text(f"// Made by openapi/make.py from document {hash_document(document)}\n{types}", encoding="utf-8")


if __name__ == "__main__":
    main()
