"""Causes in what is read: numbers, dates, letters, archives, keys."""

from failing.program import Try, main, node, perl, php, psql, py, ruby, sh, sqlite, tcl

CAUSES: dict[str, tuple[Try, ...]] = {
    "JSON is not well formed": (
        py("import json; json.loads('{\"total\": }')"),
        node("JSON.parse('{\"total\": }')"),
        sh("echo '{\"total\": }' | jq .", "jq"),
        psql("SELECT '{\"total\": }'::json"),
        sqlite("SELECT json_extract('{\"total\": }', '$.total')"),
        perl("use JSON::PP; decode_json('{\"total\": }')"),
        ruby("require 'json'; JSON.parse('{\"total\": }')"),
        sh("mkdir -p p; echo '{\"total\": }' > p/package.json; npm --prefix p ls", "npm"),
        sh('php -r \'json_decode("{\\"total\\": }", flags: JSON_THROW_ON_ERROR);\' 2>&1', "php"),
    ),
    "not a number": (
        py("int('three')"),
        node("BigInt('three')"),
        main('Integer.parseInt("three");'),
        psql("SELECT 'three'::integer"),
        sh("printf '%d' three", "printf"),
        tcl("incr three; set x three; incr x"),
        sh("expr three + 1"),
        sh("sleep three"),
        sh("head -n three words.txt"),
        ruby("Integer('three')"),
        sh("bash -c '[ three -eq 3 ]'"),
        sh("seq three"),
    ),
    "not a date": (
        sh("date -d '2026-02-31'"),
        py("import datetime; datetime.date.fromisoformat('2026-02-31')"),
        psql("SELECT '2026-02-31'::date"),
        main('java.time.LocalDate.parse("2026-02-31");'),
        node("new Date('2026-02-41').toISOString()"),
        ruby("require 'date'; Date.parse('2026-02-31')"),
        sh("touch -d 2026-02-31 words.txt", "touch"),
    ),
    "letters of another encoding": (
        py("b'caf\\xe9'.decode()"),
        psql("SELECT convert_from('\\xe9'::bytea, 'UTF8')"),
        node("new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0x63, 0xe9]))"),
        sh("iconv -f utf-8 -t utf-16 latin.txt", "iconv"),
        main('java.nio.file.Files.readString(java.nio.file.Path.of("latin.txt"));'),
        ruby("\"caf\\xe9\".encode('UTF-16')"),
        perl("use Encode; my $s = \"caf\\xe9 au lait\"; decode('UTF-8', $s, Encode::FB_CROAK)"),
    ),
    "archive ends too early": (
        sh("tar -xzf short.tar.gz -O", "tar"),
        sh("gzip -t short.tar.gz", "gzip"),
        py("import gzip; gzip.open('short.tar.gz').read()"),
        node("require('zlib').gunzipSync(require('fs').readFileSync('short.tar.gz'))"),
        sh("unzip -t short.zip", "unzip"),
        sh("xz -t short.xz", "xz"),
        main('new java.util.zip.GZIPInputStream(new FileInputStream("short.tar.gz")).readAllBytes();'),
        ruby("require 'zlib'; Zlib::GzipReader.open('short.tar.gz').read"),
    ),
    "not that kind of file": (
        sh("tar -xf words.txt"),
        sh("gzip -dc words.txt", "gzip"),
        py("import gzip; gzip.open('words.txt').read()"),
        sh("unzip words.txt"),
        py("import zipfile; zipfile.ZipFile('words.txt')", "python zipfile"),
        node("require('zlib').gunzipSync(Buffer.from('no archive at all'))"),
        sh("sqlite3 words.txt 'SELECT * FROM t'", "sqlite3"),
        sh("xz -dc words.txt", "xz"),
        ruby("require 'zlib'; Zlib::GzipReader.open('words.txt')"),
        php("gzdecode('words words words');"),
    ),
    "contents were damaged": (
        sh("gzip -t damaged.gz", "gzip"),
        py("import gzip; gzip.open('damaged.gz').read()"),
        node("require('zlib').gunzipSync(require('fs').readFileSync('damaged.gz'))"),
        sh("unzip -t damaged.zip", "unzip"),
        py("import zipfile; z = zipfile.ZipFile('damaged.zip'); z.read(z.namelist()[0])", "python zipfile"),
        sh("xz -t damaged.xz", "xz"),
        ruby("require 'zlib'; Zlib.gunzip(File.binread('damaged.gz'))"),
        main('new java.util.zip.GZIPInputStream(new FileInputStream("damaged.gz")).readAllBytes();'),
    ),
    "checksum is another one": (
        sh("sha256sum -c sums.txt", "sha256sum"),
        sh("md5sum -c md5s.txt", "md5sum"),
        sh("openssl dgst -sha256 -verify public.pem -signature other.sig words.txt", "openssl"),
        py(
            "from cryptography.hazmat.primitives.serialization import load_pem_public_key as k\n"
            "from cryptography.hazmat.primitives import hashes\nfrom cryptography.hazmat.primitives.asymmetric import padding as p\n"
            "k(open('public.pem', 'rb').read()).verify(open('other.sig', 'rb').read(), b'words', p.PKCS1v15(), hashes.SHA256())",
            "python cryptography",
        ),
        sh("$PYTHON -m pip install --no-deps --no-index --require-hashes --target t -r hashed.txt 2>&1", "pip"),
        sh("cksum --check --algorithm=sha1 sha1s.txt", "cksum"),
    ),
    "wrong password": (
        sh("openssl enc -d -aes-256-cbc -pbkdf2 -in secret.enc -pass pass:wrong", "openssl"),
        sh("unzip -P wrong -o secret.zip", "unzip"),
        py("import zipfile; zipfile.ZipFile('secret.zip').read('words.txt', b'wrong')", "python zipfile"),
        py(
            "from cryptography.hazmat.primitives.serialization import load_pem_private_key as k\n"
            "k(open('secret.pem', 'rb').read(), b'wrong')",
            "python cryptography",
        ),
        sh("ssh-keygen -y -P wrong -f secret.key", "ssh-keygen"),
        sh("gpg --batch --quiet --passphrase wrong --pinentry-mode loopback -d secret.gpg", "gpg"),
        node(
            "require('crypto').createPrivateKey({ key: require('fs').readFileSync('secret.pem'), passphrase: 'wrong' })"
        ),
    ),
    "key cannot be read": (
        sh("openssl rsa -in words.txt", "openssl"),
        py("import ssl; ssl.create_default_context().load_cert_chain('words.txt')", "python ssl"),
        node("require('crypto').createPrivateKey('no key at all')"),
        py(
            "from cryptography.hazmat.primitives.serialization import load_pem_private_key as k\n"
            "k(b'no key at all', None)",
            "python cryptography",
        ),
        sh("curl -sS --cert words.txt https://localhost:$SELF/", "curl"),
        sh("cp words.txt bad.key; chmod 600 bad.key; ssh-keygen -y -f bad.key", "ssh-keygen"),
        ruby("require 'openssl'; OpenSSL::PKey.read('no key at all')"),
    ),
    "XML is not well formed": (
        sh("echo '<a><b></a>' | xmllint -", "xmllint"),
        py("import xml.etree.ElementTree as e; e.fromstring('<a><b></a>')"),
        psql("SELECT '<a><b></a>'::xml"),
        main(
            'javax.xml.parsers.DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new ByteArrayInputStream("<a><b></a>".getBytes()));'
        ),
        ruby("require 'rexml/document'; REXML::Document.new('<a><b></a>')"),
        py("import xml.dom.minidom as m; m.parseString('<a><b></a>')", "python minidom"),
    ),
}
