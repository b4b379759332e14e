"""Episodes of MiniWoB++ as a world: a browser on the task's page, with the episode begun and its reward read at the end."""

from typing import Any

from midcourse.worlds.browser.world import Browser

BEGIN = """seed => {
    document.querySelector('#query').style.visibility = 'hidden';  // told as the utterance
    core.hideDisplay();
    core.EPISODE_MAX_TIME = 600_000;
    Math.seedrandom(seed);
    core.startEpisodeReal();
    const said = core.getUtterance();
    return said.utterance ?? said;
}"""
END = "() => WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : 0"


class Episodes(Browser):
    """One after the other in the same Chromium, since starting one takes longer than most episodes."""

    name = "miniwob"

    def __init__(self, origin: str, **options: Any) -> None:
        """The options are those of `Browser`."""
        super().__init__(f"{origin}/miniwob/click-test.html", **options)
        self._origin = origin
        self._page, self._seed = "", 0
        self.utterance = ""
        self.reward = 0.0

    def next(self, task: str, seed: int) -> None:
        """What `open` is to begin."""
        self._page, self._seed = f"{self._origin}/miniwob/{task}.html", seed
        self.utterance, self.reward = "", 0.0

    @property
    def gone(self) -> bool:
        """Whether the browser has ended."""
        browser = self._tab.page.context.browser if self._session else None
        return not (browser and browser.is_connected())

    async def open(self) -> str:
        if self.gone:
            await self.end()
            await super().open()
        await self._running.go(self._page)
        await self._tab.page.wait_for_load_state("load")
        self.utterance = await self._tab.page.evaluate(BEGIN, self._seed)
        await self._running.settle()
        return ""

    async def close(self) -> None:
        """The episode is over; `end` is for the browser."""
        if not self.gone:
            self.reward = await self._tab.page.evaluate(END)

    async def end(self) -> None:
        await super().close()
