"""Draws docs/img/console/504.webp: an order in a real browser that is answered with 504, as the console shows it.

python docs/record_console.py [--to FILE]
"""

import argparse
import io
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from picture_console import PICTURES, Desk, order_in_browser, served, until
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, sync_playwright

from midcourse.demo import TroubledShop, provide_password
from midcourse.testing.sites.server import serve
from midcourse.worlds.browser.chromium import system_chromium

FILM = PICTURES / "504.webp"
RUN, TASK = "po-1001", "order_in_browser"
WIDTH, HEIGHT, CAPTION = 1280, 800, 48
SHOWN_AT = 0.7
"""Scale of the film."""
LONGEST = 2.0
"""Seconds that the film stays with a picture that does not change, unless it is to be read."""
FONT = "DejaVuSans.ttf"


@dataclass(frozen=True)
class Frame:
    picture: bytes
    caption: str
    seconds: float


class Camera:
    """Takes a picture of the page whenever it has changed."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._taken_at = 0.0
        self.frames: list[Frame] = []

    def shoot(self, caption: str, *, hold: float = 0.0) -> None:
        """Take one picture. `hold` is for how long it is shown; the time until the next one otherwise."""
        picture, now = self._page.screenshot(type="png"), time.monotonic()
        if self.frames and self.frames[-1].seconds == 0:
            last = self.frames.pop()
            passed = min(LONGEST, now - self._taken_at)
            if (last.picture, last.caption) == (picture, caption) and not hold:
                self.frames.append(last)
                return
            self.frames.append(Frame(last.picture, last.caption, passed))
        self._taken_at = now
        self.frames.append(Frame(picture, caption, hold))


def film(address: str) -> list[Frame]:
    desk = Desk(address)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=system_chromium(), chromium_sandbox=False)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        camera = Camera(page)
        page.goto(address)
        page.locator("h1").wait_for()
        desk.start(RUN, TASK)
        go(page, f"/runs/{RUN}")
        while not desk.question(RUN):
            camera.shoot("A run orders a desk lamp in a real browser, planned by a recorded model")
            time.sleep(0.2)
        go(page, f"/inbox?run={RUN}")
        page.locator("[data-verdict=approved]:enabled").wait_for()
        camera.shoot("Nothing has left yet: it asks for exactly this request", hold=5)
        page.keyboard.press("a")
        page.get_by_role("status").filter(has_text="approved").wait_for()
        go(page, f"/runs/{RUN}")
        while not desk.get(f"/runs/{RUN}")["result"]:
            camera.shoot("The shop stores the order and answers 504. Does the order exist?")
            time.sleep(0.2)
        page.locator("h1").filter(has_text="Done").wait_for()
        camera.shoot("It looked in the list of orders: the order exists, so it is not sent again", hold=4)
        go(page, f"/runs/{RUN}/evidence")
        page.wait_for_timeout(1500)
        camera.shoot("The evidence: sent once, answered with 504, found by a probe", hold=6)
        browser.close()
    return camera.frames


def go(page: Page, place: str) -> None:
    page.evaluate("place => { location.hash = '#' + place }", place)
    page.locator("h1").filter(has_not_text="Loading").wait_for()


def develop(frame: Frame) -> Image.Image:
    """The picture with its caption below."""
    with Image.open(io.BytesIO(frame.picture)) as picture:
        size = (int(WIDTH * SHOWN_AT), int(HEIGHT * SHOWN_AT))
        small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    whole = Image.new("RGB", (size[0], size[1] + CAPTION), "#111827")
    whole.paste(small, (0, 0))
    ImageDraw.Draw(whole).text(
        (size[0] / 2, size[1] + CAPTION / 2),
        frame.caption,
        fill="white",
        anchor="mm",
        font=ImageFont.truetype(FONT, 18),
    )
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=FILM)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(provide_password())
        tasks = folder / "tasks"
        tasks.mkdir()
        task = order_in_browser(tasks, TASK, stack.enter_context(serve(TroubledShop())))
        (tasks / f"{TASK}.toml").write_text(task, encoding="utf-8")
        desk = stack.enter_context(served(folder / "home", tasks))
        frames = film(desk.address)
        until(lambda: desk.get(f"/runs/{RUN}")["result"]["verified"])
    first, *rest = [develop(frame) for frame in frames]
    durations = [max(60, round(frame.seconds * 1000)) for frame in frames]
    first.save(options.to, save_all=True, append_images=rest, duration=durations, loop=0, quality=60, method=4)
    print(
        f"{options.to}: {len(frames)} frames, {sum(durations) / 1000:.0f} s, {options.to.stat().st_size / 1e6:.2f} MB"
    )


if __name__ == "__main__":
    main()
