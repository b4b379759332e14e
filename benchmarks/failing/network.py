"""Causes between two machines, tried on one. The ports are those of `workshop.py`."""

from failing.program import Try, main, node, perl, php, psql, py, ruby, sh, tcl, web

URL = "import os, ssl, urllib.request as u; u.urlopen(os.path.expandvars('{url}'), timeout={wait})"


def urllib(url: str, wait: int = 5) -> Try:
    return py(URL.format(url=url, wait=wait), "python urllib")


def fetch(url: str) -> Try:
    code = f"fetch(`{url}`.replace(/\\$(\\w+)/g, (_, n) => process.env[n])).catch(e => {{ console.error(e.cause || e); process.exit(1) }})"
    return node(code)


def https(url: str) -> Try:
    code = (
        f"require('https').get(`{url}`.replace(/\\$(\\w+)/g, (_, n) => process.env[n])).on('error', e => {{ throw e }})"
    )
    return node(code)


def curl(url: str, flags: str = "") -> Try:
    return sh(f"curl -sS {flags} {url}", "curl")


def wget(url: str, flags: str = "") -> Try:
    return sh(f"wget -nv -t 1 -O /dev/null {flags} {url}", "wget")


def git(url: str) -> Try:
    return sh(f"GIT_TERMINAL_PROMPT=0 git clone -q {url} cloned", "git")


def javaurl(url: str) -> Try:
    return main(
        f'new URL("{url}".replace("$PLAIN", System.getenv("PLAIN")).replace("$CLOSED", System.getenv("CLOSED"))'
        '.replace("$RUDE", System.getenv("RUDE")).replace("$SELF", System.getenv("SELF"))).openStream();'
    )


def pgclient(port: str, wait: int = 3) -> Try:
    return psql("SELECT 1", f'"host=127.0.0.1 port={port} dbname=x connect_timeout={wait}"')


CAUSES: dict[str, tuple[Try, ...]] = {
    "connection refused": (
        curl("http://127.0.0.1:$CLOSED/"),
        wget("http://127.0.0.1:$CLOSED/"),
        urllib("http://127.0.0.1:$CLOSED/"),
        fetch("http://127.0.0.1:$CLOSED/"),
        sh("ssh -o BatchMode=yes -p $CLOSED 127.0.0.1 true", "ssh"),
        pgclient("$CLOSED"),
        git("http://127.0.0.1:$CLOSED/x.git"),
        sh("openssl s_client -connect 127.0.0.1:$CLOSED < /dev/null", "openssl"),
        sh("bash -c 'echo > /dev/tcp/127.0.0.1/'$CLOSED"),
        javaurl("http://127.0.0.1:$CLOSED/"),
        ruby("require 'net/http'; Net::HTTP.get(URI(\"http://127.0.0.1:#{ENV['CLOSED']}/\"))"),
        tcl("socket 127.0.0.1 $env(CLOSED)"),
        web("http://127.0.0.1:$CLOSED/"),
    ),
    "host is not known": (
        curl("http://shop.invalid/"),
        wget("http://shop.invalid/"),
        urllib("http://shop.invalid/"),
        fetch("http://shop.invalid/"),
        sh("ssh -o BatchMode=yes shop.invalid true", "ssh"),
        psql("SELECT 1", "postgresql://shop.invalid/x"),
        git("http://shop.invalid/x.git"),
        javaurl("http://shop.invalid/"),
        ruby("require 'net/http'; Net::HTTP.get(URI('http://shop.invalid/'))"),
        php("file_get_contents('http://shop.invalid/');"),
        web("http://shop.invalid/"),
    ),
    "no answer in time": (
        curl("http://127.0.0.1:$SILENT/", "-m 1"),
        wget("http://127.0.0.1:$SILENT/", "-T 1"),
        urllib("http://127.0.0.1:$SILENT/", 1),
        node("fetch(`http://127.0.0.1:${process.env.SILENT}/`, { signal: AbortSignal.timeout(500) })"),
        pgclient("$SILENT", 2),
        ruby(
            "require 'net/http'; h = Net::HTTP.new('127.0.0.1', ENV['SILENT']); h.read_timeout = 1; h.max_retries = 0; h.get('/')"
        ),
        py("import asyncio; asyncio.run(asyncio.wait_for(asyncio.sleep(9), 0.1))", "python asyncio"),
        sh("ssh -o BatchMode=yes -o ConnectTimeout=1 -p $SILENT 127.0.0.1 true", "ssh"),
        web("http://127.0.0.1:$SILENT/", 1000),
    ),
    "the other side hung up": (
        curl("http://127.0.0.1:$RUDE/"),
        wget("http://127.0.0.1:$RUDE/"),
        urllib("http://127.0.0.1:$RUDE/"),
        fetch("http://127.0.0.1:$RUDE/"),
        pgclient("$RUDE"),
        javaurl("http://127.0.0.1:$RUDE/"),
        ruby("require 'net/http'; h = Net::HTTP.new('127.0.0.1', ENV['RUDE']); h.max_retries = 0; h.get('/')"),
        sh("ssh -o BatchMode=yes -p $RUDE 127.0.0.1 true", "ssh"),
        git("http://127.0.0.1:$RUDE/x.git"),
        web("http://127.0.0.1:$RUDE/"),
    ),
    "certificate of nobody we trust": (
        curl("https://localhost:$SELF/"),
        wget("https://localhost:$SELF/"),
        urllib("https://localhost:$SELF/"),
        https("https://localhost:$SELF/"),
        git("https://localhost:$SELF/x.git"),
        javaurl("https://localhost:$SELF/"),
        sh(
            "openssl s_client -verify_return_error -connect localhost:$SELF < /dev/null 2>&1 | grep -i error", "openssl"
        ),
        ruby("require 'net/http'; Net::HTTP.get(URI(\"https://localhost:#{ENV['SELF']}/\"))"),
        web("https://localhost:$SELF/"),
    ),
    "certificate has expired": (
        curl("https://localhost:$EXPIRED/", "--cacert authority.pem"),
        wget("https://localhost:$EXPIRED/", "--ca-certificate=authority.pem"),
        py(
            "import os, ssl, urllib.request as u; u.urlopen(f\"https://localhost:{os.environ['EXPIRED']}/\", "
            "context=ssl.create_default_context(cafile='authority.pem'))",
            "python urllib",
        ),
        sh(
            "NODE_EXTRA_CA_CERTS=authority.pem node -e \"require('https').get('https://localhost:'+process.env.EXPIRED)\"",
            "node",
        ),
        sh("openssl verify -CAfile authority.pem expired.pem", "openssl"),
        sh("GIT_SSL_CAINFO=authority.pem git ls-remote https://localhost:$EXPIRED/x.git", "git"),
        ruby(
            "require 'net/http'; h = Net::HTTP.new('localhost', ENV['EXPIRED']); h.use_ssl = true; h.ca_file = 'authority.pem'; h.get('/')"
        ),
    ),
    "certificate is for another host": (
        curl("https://localhost:$ELSEWHERE/", "--cacert authority.pem"),
        wget("https://localhost:$ELSEWHERE/", "--ca-certificate=authority.pem"),
        py(
            "import os, ssl, urllib.request as u; u.urlopen(f\"https://localhost:{os.environ['ELSEWHERE']}/\", "
            "context=ssl.create_default_context(cafile='authority.pem'))",
            "python urllib",
        ),
        sh(
            "NODE_EXTRA_CA_CERTS=authority.pem node -e \"require('https').get('https://localhost:'+process.env.ELSEWHERE)\"",
            "node",
        ),
        sh("openssl verify -CAfile authority.pem -verify_hostname localhost elsewhere.pem", "openssl"),
        sh("GIT_SSL_CAINFO=authority.pem git ls-remote https://localhost:$ELSEWHERE/x.git", "git"),
    ),
    "plain text where TLS was expected": (
        curl("https://127.0.0.1:$PLAIN/"),
        wget("https://127.0.0.1:$PLAIN/"),
        urllib("https://127.0.0.1:$PLAIN/"),
        https("https://127.0.0.1:$PLAIN/"),
        sh("openssl s_client -connect 127.0.0.1:$PLAIN < /dev/null 2>&1 | grep -i error", "openssl"),
        git("https://127.0.0.1:$PLAIN/x.git"),
        ruby("require 'net/http'; Net::HTTP.get(URI(\"https://127.0.0.1:#{ENV['PLAIN']}/\"))"),
        web("https://127.0.0.1:$PLAIN/"),
    ),
    "page does not exist": (
        curl("http://127.0.0.1:$PLAIN/status/404", "-f"),
        wget("http://127.0.0.1:$PLAIN/status/404"),
        urllib("http://127.0.0.1:$PLAIN/status/404"),
        git("http://127.0.0.1:$PLAIN/status/404"),
        javaurl("http://127.0.0.1:$PLAIN/status/404"),
        php("file_get_contents('http://127.0.0.1:' . getenv('PLAIN') . '/status/404');"),
        ruby("require 'open-uri'; URI.open(\"http://127.0.0.1:#{ENV['PLAIN']}/status/404\")"),
    ),
    "one has to sign in": (
        curl("http://127.0.0.1:$PLAIN/status/401", "-f"),
        wget("http://127.0.0.1:$PLAIN/status/401"),
        urllib("http://127.0.0.1:$PLAIN/status/401"),
        git("http://127.0.0.1:$PLAIN/status/401"),
        javaurl("http://127.0.0.1:$PLAIN/status/401"),
        php("file_get_contents('http://127.0.0.1:' . getenv('PLAIN') . '/status/401');"),
        ruby("require 'open-uri'; URI.open(\"http://127.0.0.1:#{ENV['PLAIN']}/status/401\")"),
    ),
    "the server broke down": (
        curl("http://127.0.0.1:$PLAIN/status/500", "-f"),
        wget("http://127.0.0.1:$PLAIN/status/500"),
        urllib("http://127.0.0.1:$PLAIN/status/500"),
        git("http://127.0.0.1:$PLAIN/status/500"),
        javaurl("http://127.0.0.1:$PLAIN/status/500"),
        php("file_get_contents('http://127.0.0.1:' . getenv('PLAIN') . '/status/500');"),
        ruby("require 'open-uri'; URI.open(\"http://127.0.0.1:#{ENV['PLAIN']}/status/500\")"),
    ),
    "asked too often": (
        curl("http://127.0.0.1:$PLAIN/status/429", "-f"),
        wget("http://127.0.0.1:$PLAIN/status/429"),
        urllib("http://127.0.0.1:$PLAIN/status/429"),
        git("http://127.0.0.1:$PLAIN/status/429"),
        php("file_get_contents('http://127.0.0.1:' . getenv('PLAIN') . '/status/429');"),
        ruby("require 'open-uri'; URI.open(\"http://127.0.0.1:#{ENV['PLAIN']}/status/429\")"),
    ),
    "sent round in a circle": (
        curl("http://127.0.0.1:$PLAIN/again", "-L"),
        urllib("http://127.0.0.1:$PLAIN/again"),
        fetch("http://127.0.0.1:$PLAIN/again"),
        php("file_get_contents('http://127.0.0.1:' . getenv('PLAIN') . '/again');"),
        ruby("require 'open-uri'; URI.open(\"http://127.0.0.1:#{ENV['PLAIN']}/again\")"),
        web("http://127.0.0.1:$PLAIN/again"),
    ),
    "address is taken": (
        py("import os, socket; socket.socket().bind(('127.0.0.1', int(os.environ['PLAIN'])))"),
        node("require('http').createServer().listen(+process.env.PLAIN, '127.0.0.1')"),
        sh("nc -l 127.0.0.1 $PLAIN", "nc"),
        tcl("socket -server x -myaddr 127.0.0.1 $env(PLAIN)"),
        ruby("require 'socket'; TCPServer.new('127.0.0.1', ENV['PLAIN'])"),
        sh("php -S 127.0.0.1:$PLAIN", "php"),
        perl(
            "use IO::Socket; IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ENV{PLAIN}, Listen => 1) or die \"Cannot listen: $!\""
        ),
        main('new ServerSocket(Integer.parseInt(System.getenv("PLAIN")), 1, InetAddress.getByName("127.0.0.1"));'),
    ),
    "address is no URL": (
        curl("'http://[x/'"),
        wget("'http://[x/'"),
        py("import urllib.request as u; u.urlopen('shop/orders')", "python urllib"),
        node("new URL('shop/orders')"),
        main('new URL("shop/orders");'),
        ruby("require 'uri'; URI('http://[x/')"),
        web("http://[x/"),
    ),
    "protocol is not known": (
        curl("gopherx://127.0.0.1/"),
        wget("gopherx://127.0.0.1/"),
        py("import urllib.request as u; u.urlopen('gopherx://127.0.0.1/')", "python urllib"),
        main('new URL("gopherx://127.0.0.1/");'),
        git("gopherx://127.0.0.1/x"),
        fetch("gopherx://127.0.0.1/"),
        php("file_get_contents('gopherx://127.0.0.1/');"),
        web("gopherx://127.0.0.1/"),
    ),
}
