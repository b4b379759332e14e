"""The drawings of the page `scale.md`: what was measured as something grows, and what follows for many runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from drawing.lines import Line, Panel, draw_panels, make_linear_axis, make_log_axis
from unit_costs import read_costs, read_result

ACTIVE = (1e3, 1e4, 1e5, 1e6)
WAITING = (1e5, 1e6, 1e7, 1e8)
"""Numbers of runs."""


def draw_measured_growth() -> str:
    panels = [_plot_long_run(), _plot_page_size(), _plot_waiting_worker()]
    note = f"Measured. CPU time: a point stands for {read_result('growth')['window']} steps. Bytes: both axes are logarithmic."
    return draw_panels("What grows, and what does not", note, panels)


def _plot_long_run() -> Panel:
    result = read_result("growth")
    points = [((window["from"] + window["to"]) / 2, window["ms"]) for window in result["windows"]]
    return Panel(
        title="CPU time per step, ms",
        across="step of one run",
        x=make_linear_axis(result["steps"]),
        y=make_linear_axis(max(ms for _, ms in points)),
        lines=[Line(label="Midcourse", points=points)],
    )


def _plot_page_size() -> Panel:
    result = read_result("bytes")
    pages = [page for page in result["pages"] if page["steps"] == result["steps"]]
    kept, whole = ([(page["elements"], page[what]) for page in pages] for what in ("kept", "whole"))
    bytes_ = [count for _, count in kept + whole]
    sizes = [elements for elements, _ in kept]
    return Panel(
        title="Bytes per step in SQLite",
        across="elements of the page",
        x=make_log_axis(min(sizes), max(sizes)),
        y=make_log_axis(min(bytes_), max(bytes_)),
        lines=[
            Line(label="kept by Midcourse", points=kept),
            Line(label="whole observations", points=whole, ours=False),
        ],
    )


def _plot_waiting_worker() -> Panel:
    result = read_result("chaos_waiting")
    memory = result["rss_mb"]
    points = [(result["waiting"] * tenth / (len(memory) - 1), mb) for tenth, mb in enumerate(memory)]
    return Panel(
        title="Memory of a worker, MB",
        across="waiting runs",
        x=make_linear_axis(result["waiting"]),
        y=make_linear_axis(max(memory)),
        lines=[Line(label="one worker", points=points)],
    )


def draw_needs() -> str:
    costs = read_costs()
    own = _calculate("a Chromium for each", ACTIVE, lambda runs: costs.count_browser_gb(runs, shared=False))
    shared = _calculate("sessions share them", ACTIVE, costs.count_browser_gb)
    stored = _calculate("PostgreSQL", WAITING, costs.count_waiting_gb)
    panels = [
        _plot_need("Memory for browsers, GB", "active runs", [replace(own, ours=False), _move_labels_below(shared)]),
        _plot_need("Storage in PostgreSQL, GB", "waiting runs", [stored]),
    ]
    note = "Calculated from the unit costs, not measured at this size. All axes are logarithmic."
    return draw_panels("What many runs need", note, panels)


def _calculate(label: str, runs: Sequence[float], need: Callable[[float], float]) -> Line:
    points = [(count, need(count)) for count in runs]
    return Line(label=label, points=points, labels_above=_label_points(points[1:]), dotted=False)


def _label_points(points: Sequence[tuple[float, float]]) -> list[tuple[float, float, str]]:
    return [(count, need, _write_gb(need)) for count, need in points]


def _move_labels_below(line: Line) -> Line:
    return replace(line, labels_above=(), labels_below=_label_points(line.points[:-1]))


def _write_gb(size: float) -> str:
    """In the unit that makes the number short: 43 GB, 4.3 TB."""
    unit, size = ("TB", size / 1000) if size >= 1000 else ("GB", size)
    return f"{size:.{1 if size < 10 else 0}f} {unit}"


def _plot_need(title: str, across: str, lines: Sequence[Line]) -> Panel:
    runs = [count for line in lines for count, _ in line.points]
    needs = [need for line in lines for _, need in line.points]
    return Panel(
        title=title,
        across=across,
        x=make_log_axis(min(runs), max(runs)),
        y=make_log_axis(min(needs), max(needs)),
        lines=lines,
    )
