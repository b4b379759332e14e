"""MediaWiki from Debian, on SQLite, with long pages."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.reading_mind.apps.application import Application, Process, Records, read_rows, require
from benchmarks.reading_mind.apps.wiki_texts import CRANES, HISTORY, RULES

USER, PASSWORD = "Ada", "only-for-loopback-11"
ROOT = Path("/usr/share/mediawiki")
_SETTINGS = """
$wgServer = getenv('WIKI_URL');
$wgMainCacheType = CACHE_NONE;
$wgEnableEmail = false;
"""


class MediaWiki(Application):
    name = "mediawiki"
    title = "MediaWiki"
    version = "1.39.17"
    opens = "/index.php"

    @classmethod
    def install(cls) -> None:
        require({str(ROOT): "mediawiki php-cli php-sqlite3 php-xml php-mbstring php-intl", "php": "php-cli"})

    @classmethod
    def furnish(cls, data: Path) -> None:
        (data / "db").mkdir()
        database = ["--dbtype", "sqlite", "--dbname", "wiki", "--dbpath", data / "db"]
        where = ["--server", "http://127.0.0.1", "--scriptpath", "", "--confpath", data]
        install = [
            "php",
            ROOT / "maintenance" / "install.php",
            *database,
            *where,
            "--pass",
            PASSWORD,
            "Harbour wiki",
            USER,
        ]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
        settings = data / "LocalSettings.php"
        moved = settings.read_text().replace(f'"{data / "db"}"', "__DIR__ . '/db'")
        settings.write_text(moved + _SETTINGS)
        pages = {
            "Harbour history": HISTORY,
            "Harbour rules": RULES,
            **CRANES,
            "Main Page": "".join(f"* [[{name}]]\n" for name in ("Harbour history", "Harbour rules", *CRANES)),
        }
        for title, text in pages.items():
            edit = ["php", ROOT / "maintenance" / "edit.php", "--conf", settings, "-u", USER, title]
            environment = {"WIKI_URL": "http://127.0.0.1", "PATH": "/usr/bin:/bin"}
            subprocess.run(edit, input=text.encode(), env=environment, check=True, stdout=subprocess.DEVNULL)

    def processes(self, url: str) -> Sequence[Process]:
        environment = {
            "MW_CONFIG_FILE": str(self.data / "LocalSettings.php"),
            "WIKI_URL": url,
            "PHP_CLI_SERVER_WORKERS": "4",
        }
        return [Process(["php", "-S", f"127.0.0.1:{self.port}", "-t", ROOT], self.folder, environment)]

    def records(self) -> Records:
        pages = (
            "SELECT p.page_id, replace(p.page_title, '_', ' ') AS title, p.page_namespace AS namespace, t.old_text AS text, "
            "(SELECT count(*) FROM revision r WHERE r.rev_page = p.page_id) AS revisions FROM page p "
            "JOIN slots s ON s.slot_revision_id = p.page_latest JOIN content c ON c.content_id = s.slot_content_id "
            "JOIN text t ON t.old_id = CAST(substr(c.content_address, 4) AS INTEGER)"
        )
        database = self.data / "db" / "wiki.sqlite"
        return {
            **read_rows(database, "page", pages),
            **read_rows(database, "user", "SELECT user_id, user_name FROM user"),
        }
