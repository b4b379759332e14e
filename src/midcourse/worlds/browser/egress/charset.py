"""In which charset is a body to be read? Only in one that every reader would read in the same way."""

import codecs
import re
from collections.abc import Sequence

UTF_8 = "utf-8"

_PLAIN = re.compile(
    r"ascii|iso8859-\d+|cp125\d|cp874|cp932|cp949|cp950|koi8-[ru]|mac-(roman|cyrillic)|tis-620"
    r"|gb2312|gbk|gb18030|big5|shift_jis|euc_jp|euc_kr"
)
"""By Python's names. In all of them ASCII means what it says. In UTF-7, UTF-16, ISO-2022 or HZ it does not: there, what looks like one
value may be another."""
_NAME = re.compile(r"[\w.:-]+", re.ASCII)
"""Python is generous about the rest, and others may not be."""


def charset_of(named: Sequence[str]) -> str | None:
    """Python's name of it; UTF-8 if none is named. None: it is unknown or not plain, or there are several."""
    if not named:
        return UTF_8
    try:
        (name,) = named
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    known = found == UTF_8 or _PLAIN.fullmatch(found)
    return found if known and _NAME.fullmatch(name) else None
