"""Causes in how a program is called, and in what packages want of each other."""

from failing.program import Try, py, sh

CAUSES: dict[str, tuple[Try, ...]] = {
    "option is not known": (
        sh("ls --frobnicate"),
        sh("git -C repo status --frobnicate", "git"),
        sh("$PYTHON --frobnicate", "python"),
        sh("node --frobnicate"),
        sh("gcc --frobnicate good.c"),
        sh("curl --frobnicate http://127.0.0.1/"),
        sh("tar --frobnicate"),
        sh("psql --frobnicate"),
        sh("java --frobnicate"),
        sh("rustc --frobnicate", "rust"),
        sh("ssh -Ý host"),
        sh("jq --frobnicate ."),
        sh("make --frobnicate"),
        sh("sqlite3 --frobnicate"),
        sh("$PYTHON -m pip --frobnicate", "pip"),
        py("import argparse; argparse.ArgumentParser().parse_args(['--frobnicate'])", "python argparse"),
    ),
    "something to work on is missing": (
        sh("cp"),
        sh("mkdir"),
        sh("$PYTHON -c", "python"),
        sh("git clone"),
        sh("tar -cf x.tar"),
        sh("wget"),
        sh("gcc"),
        sh("chmod 600"),
        sh("$PYTHON -m pip install --target t 2>&1", "pip"),
        py(
            "import argparse; p = argparse.ArgumentParser(); p.add_argument('file'); p.parse_args([])",
            "python argparse",
        ),
        sh("ln"),
    ),
    "changes are in each other's way": (
        sh("cd conflict && git merge other; git reset -q --hard", "git merge"),
        sh("cd conflict && git cherry-pick other; git reset -q --hard", "git cherry-pick"),
        sh("patch -p0 -f words.txt < clash.patch", "patch"),
        sh("git apply clash.patch", "git apply"),
        sh("cd conflict && git rebase other; git rebase -q --abort", "git rebase"),
    ),
    "version does not fit": (
        sh("$PYTHON -m pip install --no-index --find-links wheels --target t future==1 2>&1", "pip"),
        sh("uv pip install --offline --no-index --find-links wheels --target t future==1", "uv"),
        sh("cd engines && npm install --offline --engine-strict", "npm"),
        sh(
            "printf 'cmake_minimum_required(VERSION 99.0)\\nproject(x NONE)\\n' > CMakeLists.txt; cmake -Wno-dev .",
            "cmake",
        ),
        sh("perl -e 'use v9.1;'", "perl"),
        sh("java -cp newer T", "java"),
    ),
    "package cannot be found": (
        sh("$PYTHON -m pip install --no-index --target t frobnicate 2>&1", "pip"),
        sh("uv pip install --offline --no-index --target t frobnicate", "uv"),
        sh("cd engines && npm install --registry=http://127.0.0.1:$PLAIN/status/404/ frobnicate", "npm"),
        sh("apt-get install -s -y frobnicate", "apt-get"),
        sh("dpkg -s frobnicate", "dpkg"),
        sh("gem list -e frobnicate; gem contents frobnicate", "gem"),
    ),
    "nothing is called that": (
        sh("git -C repo rev-parse nowhere", "git rev-parse"),
        sh("cd repo && git checkout nowhere", "git"),
        sh("printf 'all:\\n\\ttrue\\n' > Makefile; make nowhere", "make"),
        sh("npm run nowhere --prefix engines", "npm"),
    ),
}
