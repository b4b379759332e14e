"""Mouse and keyboard input on a display. `xdotool` sends through XTEST what no accessibility action can do."""

import asyncio
from collections.abc import Mapping

from midcourse.worlds.base import Outcome, failed

_KEYS = {
    "control": "ctrl",
    "ctrl": "ctrl",
    "alt": "alt",
    "shift": "shift",
    "meta": "super",
    "super": "super",
    "win": "super",
    "enter": "Return",
    "return": "Return",
    "escape": "Escape",
    "esc": "Escape",
    "tab": "Tab",
    "space": "space",
    "backspace": "BackSpace",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "Prior",
    "pagedown": "Next",
    "arrowup": "Up",
    "arrowdown": "Down",
    "arrowleft": "Left",
    "arrowright": "Right",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
}
"""The X names of keys, by the names that plans use, in small letters."""
_MODIFIERS = ("ctrl", "alt", "shift", "super")
_BUTTONS = {"left": "1", "middle": "2", "right": "3"}
_WHEEL = {"up": "4", "down": "5", "left": "6", "right": "7"}
_ANSWERS_WITHIN = 30.0


class Input:
    """Sends events to one display."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)

    async def click(self, x: int, y: int, button: str = "left", times: int = 1) -> Outcome | None:
        presses = ["click", "--repeat", str(times), "--delay", "60", _BUTTONS[button]]
        return await self._send("mousemove", str(x), str(y), *presses)

    async def move(self, x: int, y: int) -> Outcome | None:
        return await self._send("mousemove", str(x), str(y))

    async def scroll(self, x: int, y: int, direction: str, notches: int) -> Outcome | None:
        wheel = ["click", "--repeat", str(notches), "--delay", "10", _WHEEL[direction]]
        return await self._send("mousemove", str(x), str(y), *wheel)

    async def drag(self, start: tuple[int, int], end: tuple[int, int]) -> Outcome | None:
        """Drag the mouse in steps while the button is down, because programs notice a drag only after some distance."""
        (left, top), (right, bottom) = start, end
        words = ["mousemove", str(left), str(top), "mousedown", "1"]
        for part in range(1, 9):
            words += ["mousemove", str(left + (right - left) * part // 8), str(top + (bottom - top) * part // 8)]
            words += ["sleep", "0.02"]
        return await self._send(*words, "mouseup", "1")

    async def press(self, keys: str) -> Outcome | None:
        """Press keys at the same time, such as Control+S. Several such groups are separated by spaces."""
        return await self._send("key", "--clearmodifiers", "--delay", "20", *map(translate_keys, keys.split()))

    async def write(self, text: str) -> Outcome | None:
        return await self._send("type", "--clearmodifiers", "--delay", "6", "--file", "-", stdin=text)

    async def raise_window(self, title: str, pid: int) -> Outcome | None:
        """Bring a window of a process to the front."""
        found = await self._ask(
            "search", "--onlyvisible", "--all", "--pid", str(pid), "--name", f"^{_escape_pattern(title)}$"
        )
        for window in reversed(found.split()):
            return await self._send("windowactivate", "--sync", window)
        return failed("no_such_window", f"no window '{title}' can be brought to the front")

    async def _send(self, *words: str, stdin: str = "") -> Outcome | None:
        code, _, error = await self._run(words, stdin)
        return failed("not_sent", f"xdotool {words[0]}: {error.strip() or code}") if code else None

    async def _ask(self, *words: str) -> str:
        return (await self._run(words, ""))[1]

    async def _run(self, words: tuple[str, ...], stdin: str) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            "xdotool",
            *words,
            env=self._environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            output, error = await asyncio.wait_for(process.communicate(stdin.encode()), _ANSWERS_WITHIN)
        except BaseException:
            if process.returncode is None:
                process.kill()
                await process.wait()
            raise
        return process.returncode or 0, output.decode(errors="replace"), error.decode(errors="replace")


def translate_keys(group: str) -> str:
    """Return a group of keys such as 'Control+S' as xdotool names it. A letter after a modifier means the key, not the capital letter."""
    names = group.split("+") if group != "+" else ["plus"]
    known = [_KEYS.get(name.lower(), name) for name in names]
    *before, last = known
    if len(last) == 1 and last.isalpha() and any(key in _MODIFIERS for key in before):
        last = last.lower()
    return "+".join([*before, last])


def _escape_pattern(text: str) -> str:
    """Return a POSIX regular expression that matches only this text."""
    return "".join(f"\\{each}" if each in ".[]{}()*+?^$|\\" else each for each in text)
