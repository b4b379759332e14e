"""Draws the curve that the threshold is chosen from."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.report import RESULTS
from benchmarks.lesson_recall.scoring import Round, curve, steps

PLOT = RESULTS / "memory.png"


def draw(
    scores: dict[str, NDArray[np.float32]], tuning: list[Round], testing: list[Round], chosen: dict[str, float]
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, method in zip(axes, ("full text", "trigrams"), strict=True):
        for given, style, name in ((tuning, "--", "to choose from"), (testing, "-", "reported")):
            walked = curve(scores[method], given, steps(scores[method], given))
            at = [point[0] for point in walked]
            axis.plot(at, [point[1] for point in walked], f"C0{style}", label=f"right first, {name}")
            axis.plot(at, [point[2] for point in walked], f"C3{style}", label=f"false match, {name}")
        axis.axvline(chosen[method], color="grey", linewidth=0.8)
        axis.set(title=f"{method}, threshold {chosen[method]:.2f}", xlabel="threshold", ylim=(0, 1))
    axes[1].legend(fontsize=8)
    figure.savefig(PLOT, dpi=110)
