"""The figure of the results: one bar for each comparison, with its target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import measured

__all__ = ["draw"]


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = [r for r in rows if r["target"] and np.isfinite(r["value"])]  # a target of zero has no margin
    shown.reverse()
    figure, axes = plt.subplots(figsize=(9, 0.55 * len(shown) + 1.2), layout="constrained")
    for i, r in enumerate(shown):
        margin = r["target"] / r["value"] if r["at_most"] else r["value"] / r["target"]
        axes.barh(i, margin, color="#2a7f62" if margin >= 1 else "#c0504d", height=0.6)
        axes.text(margin * 1.05, i, measured(r), va="center", fontsize=8)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlim(right=axes.get_xlim()[1] * 3)
    axes.set_yticks(range(len(shown)), [r["name"] for r in shown], fontsize=7)
    axes.set_xlabel("margin over the target (1: just met)")
    figure.savefig(path, dpi=130)
    plt.close(figure)
