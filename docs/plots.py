"""Draws charts of kept benchmark results as SVG: shares with their 95 % intervals, and counts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
PANEL, ROW, HEAD, LABEL, BAR = 470, 26, 74, 170, 210
"""Pixels: the width of a panel, the height of a row and of the head, the width of labels and of a whole bar."""
OURS, OTHERS = "#1f6feb", "#9aa4af"
STYLE = "text{font:13px system-ui,'DejaVu Sans',sans-serif;fill:#1f2328} .title{font-size:16px;font-weight:600} .quiet{fill:#59636e}"


@dataclass(frozen=True, kw_only=True)
class Bar:
    label: str
    share: float
    """Of the whole bar: its length."""
    shown: str
    interval: tuple[float, float] | None = None
    ours: bool = False


@dataclass(frozen=True, kw_only=True)
class Panel:
    title: str
    bars: Sequence[Bar]


def chart(title: str, panels: Sequence[Panel]) -> str:
    """The panels beside each other, on a white card that can be read on pages of either theme."""
    width, height = PANEL * len(panels) + 20, HEAD + ROW * max(len(panel.bars) for panel in panels) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>',
        f'<text x="20" y="28" class="title">{escape(title)}</text>',
    ]
    for place, panel in enumerate(panels):
        left = 20 + PANEL * place
        parts.append(f'<text x="{left}" y="56" class="quiet">{escape(panel.title)}</text>')
        for row, bar in enumerate(panel.bars):
            parts += _draw(bar, left, HEAD + ROW * row)
    return "\n".join([*parts, "</svg>", ""])


def _draw(bar: Bar, left: int, top: int) -> list[str]:
    start, middle = left + LABEL, top + ROW / 2 - 3
    end = start + BAR * bar.share
    parts = [
        f'<text x="{left}" y="{middle + 4:g}">{escape(bar.label)}</text>',
        f'<rect x="{start}" y="{top}" width="{max(BAR * bar.share, 2):.1f}" height="{ROW - 6}" rx="2" fill="{OURS if bar.ours else OTHERS}"/>',
    ]
    if bar.interval:
        low, high = (start + BAR * edge for edge in bar.interval)
        parts.append(f'<path d="M{low:.1f} {middle:g}H{high:.1f}" stroke="#1f2328" stroke-width="1.5"/>')
        end = max(end, high)
    parts.append(f'<text x="{end + 8:.1f}" y="{middle + 4:g}" class="quiet">{escape(bar.shown)}</text>')
    return parts


def _share(label: str, share: dict[str, float], *, ours: bool) -> Bar:
    return Bar(
        label=label,
        share=share["share"],
        shown=f"{100 * share['share']:.1f} %",
        interval=(share["low"], share["high"]),
        ours=ours,
    )


def draw_peers(told: dict[str, Any]) -> str:
    """Runs completed and effects repeated, by system."""
    rows = told["overall"]
    most = max(row["repeated"] for row in rows) or 1
    completed = [_share(row["system"], row["share"], ours=row["system"].startswith("midcourse")) for row in rows]
    repeated = [
        Bar(
            label=row["system"],
            share=row["repeated"] / most,
            shown=str(row["repeated"]),
            ours=row["system"].startswith("midcourse"),
        )
        for row in rows
    ]
    panels = [Panel(title="Runs completed", bars=completed), Panel(title="Effects repeated", bars=repeated)]
    return chart(f"The same task with the same faults, {rows[0]['runs']} runs a system", panels)


def draw_agentdojo(told: dict[str, Any]) -> str:
    """Attacks that succeed and tasks that are solved under attack, by suite, without and with approvals."""
    names = {"bare": "no approvals", "midcourse": "Midcourse"}
    figures = {"attacked": "Attacks that succeed", "useful_attacked": "Tasks solved under attack"}
    panels = [
        Panel(
            title=title,
            bars=[
                _share(f"{row['suite']}, {names[row['arm']]}", row[figure], ours=row["arm"] == "midcourse")
                for row in told["rows"]
            ],
        )
        for figure, title in figures.items()
    ]
    cases = next(row["cases"] for row in told["rows"] if row["suite"] == "all")
    return chart(f"AgentDojo with an agent that obeys every instruction, {cases} attacks", panels)


def read_result(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
