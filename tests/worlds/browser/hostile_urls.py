"""URLs that a browser which may reach only https://shop.example must not open, and the addresses of their names."""

from ipaddress import IPv4Address, ip_address

from midcourse.worlds.browser.egress.address import Ip

INSIDE = (
    "127.0.0.1",
    "127.255.255.254",
    "10.0.0.5",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "0.0.0.0",
    "224.0.0.1",
)
"""Addresses of this machine, of private networks, of metadata services, and unassigned ones."""

NAMES: dict[str, tuple[str, ...]] = {
    "inside.attacker.example": ("10.0.0.5",),
    "rebinds.attacker.example": ("93.184.216.34", "127.0.0.1"),
    "metadata.google.internal": ("169.254.169.254",),
    "six.attacker.example": ("::ffff:10.0.0.5",),
    "link.attacker.example": ("fe80::1",),
    "unique.attacker.example": ("fd00:ec2::254",),
    "nowhere.attacker.example": (),
    "attacker.example": ("93.184.216.34",),
}
"""What a resolver answers for the attacker's names."""

_SIX = (
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:0:127.0.0.1]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fec0::1]",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[ff02::1]",
    "[::127.0.0.1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[fe80::5efe:10.0.0.5]",
    "[100::1]",
    "[::1",
    "::1",
)

_CONFUSED = (
    "https://shop.example@attacker.example/",
    "https://shop.example:443@attacker.example/",
    "https://user:pass@shop.example/",
    "https://@shop.example/",
    "https://shop.example%40attacker.example/",
    "https://attacker.example\\@shop.example/",
    "https://attacker.example#@shop.example/",
    "https://attacker.example?@shop.example/",
    "https://attacker.example/@shop.example/",
    "https://attacker.example\t/shop.example/",
    "https:attacker.example//shop.example/",
    "https:\\\\attacker.example\\shop.example",
    "https:///attacker.example/",
    "https:////attacker.example/shop.example",
    "//attacker.example/",
    "\\\\attacker.example\\",
    "/\\attacker.example",
    "https://shop.example.attacker.example/",
    "https://shop.example./",
    "https://shop.example../",
    "https://.shop.example/",
    "https://shop..example/",
    "https://shop-example/",
    "https://shopxexample/",
    "https://xshop.example/",
    "https://shop.example.com/",
    "https://shop.example:8443/",
    "https://shop.example:99999/",
    "https://shop.example:0/",
    "https://shop.example:443x/",
    "https://shop.example:-1/",
    "http://shop.example/",
    "HTTP://SHOP.EXAMPLE:80/",
    "http://shop.example:443/",
    "https://shop.example%00.attacker.example/",
    "https://shop.example%2eattacker.example/",
    "https://shop.example%09/",
    "https://shop%E3%80%82example/",
    "https://shop。example/",
    "https://ѕhop.example/",
    "https://shoр.example/",
    "https://ｓｈｏｐ.example/",
    "https://sho\u00adp.example/",
    "https://shop\u200b.example/",
    "https://shop\u2024example/",
    "https://ſhop.example/",
    "https://xn--hop-8cd.example/",
    "https://shop.example/../../etc/passwd",
    "https://shop.example/%2e%2e/admin",
    "https://shop.example/a/.%2E/b",
    "https://shop.example\u2044attacker.example/",
    "https://shop.example\u2215attacker.example/",
    "https://shop.example℀attacker.example/",
    "https://shop.example attacker.example/",
    "https://shop.example<attacker.example/",
    "https://",
    "https:",
    "",
    "shop.example",
    "attacker.example:443",
)

_SCHEMES = (
    "javascript:fetch('https://shop.example/orders',{method:'POST'})",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "javascript://shop.example/%0aalert(1)",
    "data:text/html,<script>fetch('/orders')</script>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "DATA:,x",
    "file:///etc/passwd",
    "file://shop.example/etc/passwd",
    "FILE:/etc/passwd",
    "blob:https://shop.example/9115d58c-bcda-ff47-86e5-083e9a215304",
    "filesystem:https://shop.example/temporary/x",
    "view-source:https://shop.example/",
    "about:blank",
    "about:srcdoc",
    "chrome://settings/",
    "chrome://inducebrowsercrashforrealz",
    "devtools://devtools/bundled/inspector.html",
    "chrome-extension://abc/x.html",
    "ftp://shop.example/",
    "ws://shop.example/",
    "wss://shop.example/",
    "gopher://127.0.0.1:6379/_x",
    "dict://127.0.0.1:11211/stats",
    "ldap://127.0.0.1/",
    "mailto:someone@attacker.example?body=secret",
    "tel:+1900",
    "sms:+1900?body=secret",
    "intent://shop.example#Intent;scheme=https;end",
    "vbscript:x",
    "jar:https://shop.example/x.jar!/",
    "httpsx://shop.example/",
    "https+x://shop.example/",
    "ht tps://shop.example/",
    "1https://shop.example/",
)


def notations_of(dotted: str) -> tuple[str, ...]:
    """Ways in which one IPv4 address can be written as a host."""
    whole = int(IPv4Address(dotted))
    a, b, c, d = (int(part) for part in dotted.split("."))
    wide = dotted.translate({ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789"})
    return (
        dotted,
        dotted + ".",
        str(whole),
        hex(whole),
        hex(whole).upper(),
        f"0x{whole:012x}",
        f"0{whole:o}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"0000{a:o}.{b}.{c}.{d}",
        f"{a:#x}.{b:#x}.{c:#x}.{d:#x}",
        f"{a}.{(b << 16) + (c << 8) + d}",
        f"{a}.{b}.{(c << 8) + d}",
        f"{a:#x}.{b}.0{(c << 8) + d:o}",
        "".join(f"%{ord(letter):02x}" for letter in dotted),
        dotted.replace(".", "%2e"),
        dotted.replace(".", "。"),
        dotted.replace(".", "．"),
        wide,
        f"{a}.{b}\t.{c}\n.{d}",
        f"[::ffff:{dotted}]",
        f"[::ffff:{whole >> 16:x}:{whole & 0xFFFF:x}]",
        f"[64:ff9b::{dotted}]",
        f"[2002:{whole >> 16:x}:{whole & 0xFFFF:x}::1]",
    )


ADDRESSES = (
    *(f"http://{host}/" for dotted in INSIDE for host in notations_of(dotted)),
    *(f"http://{six}/" for six in _SIX),
)
"""These lead to a private network, even if their names are allowed."""

NAMED = tuple(f"https://{name}/" for name in NAMES if name != "attacker.example")

HOSTILE = tuple(
    dict.fromkeys((*ADDRESSES, *NAMED, *_CONFUSED, *_SCHEMES, "http://localhost/", "http://x.localhost:80/"))
)


async def attackers_resolver(host: str) -> tuple[Ip, ...]:
    public = ("93.184.216.34",) if host.endswith("shop.example") else ()
    return tuple(ip_address(each) for each in NAMES.get(host, public))
