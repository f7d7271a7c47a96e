"""Figure 1: kernel ridge regression is not invariant, Spec-Avg is."""

from __future__ import annotations

from functools import partial

import numpy as np

from specavg.experiments import _paper_task as task
from specavg.experiments._figure_style import PALETTE, new_figure, sequence
from specavg.experiments._result import Experiment, Record, Result, Track

NAME = "figure-1"
INVARIANT = 1e-6  # a discrepancy up to it is none: rounding leaves 1e-12, of values up to 5.5


def run(quick: bool, track: Track, changes: task.Changes) -> Result:
    """ID of KRR against n for several λ, over all 1024 sign flips, and of Spec-Avg."""
    sweep = task.sweep(quick, track, changes)
    krr = {
        alpha: sweep.values("discrepancy", "KRR", eta=task.ETA, alpha=alpha, penalty="sum", sigma=0.0)
        for alpha in changes.penalties
    }
    spec = sweep.values("discrepancy", "Spec-Avg", D=176, sigma=0.0)
    used = changes.functions(176)
    counted = "" if used == 176 else f" ({used} functions)"  # whole eigenspaces are taken
    name = f"Spec-Avg, D = 176{counted}"
    of_krr = np.concatenate([values.ravel() for values in krr.values()])
    moved = int(np.count_nonzero(of_krr > INVARIANT))
    result = Result(
        f"The invariance discrepancy ID(f) = max |f(gx) − f(x)| over the 100 test points and {changes.elements}, "
        f"for kernel ridge regression with the von Mises kernel (η = {task.ETA:g}, noise-free, K "
        f"+ λI) and for Spec-Avg with D = 176{counted}. Means over seeds {sweep.seeds[0]}–{sweep.seeds[-1]}."
    )
    never = moved == of_krr.size
    caption = _figure.__doc__ if never else "Means over seeds, with standard errors."
    result.figure(NAME, _figure(sweep.sizes, krr, spec, name, never), caption)
    largest_spec = float(spec.max())
    told = (
        f"is never below {of_krr.min():.2g} in {of_krr.size} fits (the target's values range over [0, 5.5]): not "
        "invariant for any λ and n tried."
    )
    if not never:
        told = (
            f"is no more than rounding in {of_krr.size - moved} of {of_krr.size} fits, and {of_krr.max():.2g} at most: "
        )
        told += "those are invariant." if moved else "under this group KRR is invariant too."
    result.claim("KRR is not G-invariant.", f"The discrepancy of KRR {told}", never)
    result.claim(
        "ID is zero for Spec-Avg.",
        f"The largest discrepancy of Spec-Avg over all fits is {largest_spec:.3g}"
        + (": equal to the last bit." if largest_spec == 0 else "."),
        largest_spec <= 1e-12,
    )
    methods = {f"KRR, λ = {alpha:g}": values for alpha, values in krr.items()} | {name: spec}
    rows = [[name, *(f"{v:.3g}" for v in values.mean(axis=0))] for name, values in methods.items()]
    result.table("Mean invariance discrepancy", ["method", *(f"n = {n}" for n in sweep.sizes)], rows)
    if changes.group == task.GROUP:
        result.notes.append(
            "The maximum is over every element: the kernel is a product over coordinates, so all 1024 "
            "images of a test point come from two sets of 32 products and one matrix product."
        )
    more = {"elements": changes.elements, **changes.named}
    result.records = [
        Record(NAME, fit.method, "ID", fit.discrepancy, fit.n, fit.seed, {**fit.settings, **more})
        for fit in sweep.fits
        if fit.discrepancy is not None
    ]
    return result


def _figure(sizes: tuple[int, ...], krr: dict[float, np.ndarray], spec: np.ndarray, name: str, never: bool) -> object:
    """Means over seeds, with standard errors.

    The curves of KRR with small penalties lie on top of each other. More data do not make KRR invariant; a larger
    penalty shrinks the whole function, and the discrepancy with it.
    """
    figure, axes = new_figure(width=6.4, height=3.9)
    for (alpha, values), colour in zip(krr.items(), sequence(len(krr)), strict=True):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        axes.errorbar(sizes, values.mean(axis=0), error, fmt="o-", color=colour, label=f"KRR, λ = {alpha:g}")
    axes.plot(sizes, spec.mean(axis=0), "s-", color=PALETTE[1], label=name)
    axes.set(xscale="log", xlabel="number of samples n", ylabel="invariance discrepancy", ylim=(-0.03, None))
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.minorticks_off()
    axes.set_title("KRR is not invariant at any n" if never else "KRR and Spec-Avg")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def experiment(changes: task.Changes) -> Experiment:
    """Figure 1 with these changes."""
    return Experiment(
        NAME, "Figure 1: invariance discrepancy", partial(run, changes=changes), changed=changes.described()
    )
