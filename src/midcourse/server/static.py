"""Serves the built console from `dist` beside this module; if it is missing, a page that says how to build it."""

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles

DIST = Path(__file__).parent / "dist"
NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Midcourse</title>
<style>body{font:16px/1.5 system-ui;max-width:40em;margin:4em auto;padding:0 1em;color-scheme:light dark}</style>
<h1>Midcourse</h1><p>The server is running. The console is not built into this checkout:</p>
<pre>cd console &amp;&amp; npm ci &amp;&amp; npm run build</pre>
<p>The API is at <a href="api/v1/openapi.json">api/v1</a>.</p></html>"""


def add_console(app: FastAPI, dist: Path = DIST) -> None:
    built = (dist / "index.html").is_file()

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        if not built:
            return HTMLResponse(NOT_BUILT)
        return FileResponse(dist / "index.html", headers={"Cache-Control": "no-cache"})

    if built:
        app.mount("/", StaticFiles(directory=dist), name="console")
