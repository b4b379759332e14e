"""DokuWiki from Debian, with an editor who is not an administrator."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.reading_mind.apps.application import Application, Process, Records, read_files, require
from benchmarks.reading_mind.apps.wiki_texts import CRANES, HISTORY

USER, PASSWORD = "editor", "only-for-loopback-10"
ROOT, SYSTEM = Path("/usr/share/dokuwiki"), Path("/etc/dokuwiki")
_PREPEND = """<?php
define('DOKU_CONF', __DIR__ . '/conf/');
"""
_SETTINGS = """<?php
$conf['title'] = 'Harbour wiki';
$conf['useacl'] = 1;
$conf['superuser'] = '@admin';
$conf['savedir'] = dirname(__DIR__) . '/data';
$conf['updatecheck'] = 0;
$conf['license'] = '';
$conf['disableactions'] = 'register,resendpwd';
"""


class DokuWiki(Application):
    name = "dokuwiki"
    title = "DokuWiki"
    version = "0.0.20220731.a-2"
    opens = "/doku.php"

    @classmethod
    def install(cls) -> None:
        require({str(ROOT): "dokuwiki", "php": "php-cli"})

    @classmethod
    def furnish(cls, data: Path) -> None:
        (data / "prepend.php").write_text(_PREPEND)
        conf = data / "conf"
        conf.mkdir()
        for name in ("plugins.php", "plugins.local.php", "plugins.required.php"):
            if (SYSTEM / name).exists():
                shutil.copy(SYSTEM / name, conf)
        (conf / "local.php").write_text(_SETTINGS)
        (conf / "mime.local.conf").write_text("txt     !text/plain\n")  # it accepts no texts of its own accord
        (conf / "acl.auth.php").write_text("# <?php exit()?>\n*  @ALL  1\n*  @user  8\n")
        hashed = subprocess.check_output(
            ["php", "-r", f"echo password_hash('{PASSWORD}', PASSWORD_BCRYPT);"], text=True
        )
        (conf / "users.auth.php").write_text(f"# <?php exit()?>\n{USER}:{hashed}:Ada Byron:ada@example.org:user\n")
        for name in (
            "attic",
            "cache",
            "index",
            "locks",
            "media",
            "media_attic",
            "media_meta",
            "meta",
            "pages",
            "tmp",
            "log",
        ):
            (data / "data" / name).mkdir(parents=True)
        pages = {
            "start": "====== Harbour wiki ======\n\n  * [[history|History of the harbour]]\n  * [[cranes]]\n  * [[staff]]\n",
            "history": f"====== History of the harbour ======\n\n{HISTORY}\n",
            "cranes": "====== Cranes ======\n\n" + "\n\n".join(CRANES.values()) + "\n",
            "staff": "====== Staff ======\n\n^ Name ^ Post ^ Room ^ Phone ^\n| Mira Holm | Harbour master | 12 | 4411 |\n"
            "| Jonas Bergh | Crane operator | 3 | 4427 |\n| Ines Duarte | Accounts | 14 | 4432 |\n| Tomas Lind | Crane operator | 3 | 4428 |\n",
        }
        for name, text in pages.items():
            (data / "data" / "pages" / f"{name}.txt").write_text(text, encoding="utf-8")

    def processes(self, url: str) -> Sequence[Process]:
        serve = ["php", "-d", f"auto_prepend_file={self.data}/prepend.php", "-S", f"127.0.0.1:{self.port}", "-t", ROOT]
        return [Process(serve, self.folder, {"PHP_CLI_SERVER_WORKERS": "4"})]

    def records(self) -> Records:
        return {**read_files(self.data / "data" / "pages", "page"), **read_files(self.data / "data" / "media", "media")}
