"""The spectrum: how many functions there are, how many survive, and what Weyl's law says."""

from __future__ import annotations

from math import log, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from specavg._arrays import Array
from specavg._messages import shown
from specavg.invariants import EquivariantBasis, InvariantBasis
from specavg.plot._style import COLORS, INK, axes_or_new, pyplot, without_frame
from specavg.theory import log_weyl_constant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST_LOG = 700.0  # beyond, a float overflows


def spectrum(model: Any, *, weyl: bool = True, legend: bool = True, ax: Axes | None = None) -> Axes:
    """The multiplicity of each eigenvalue, and how much of it is invariant, as bars; the totals as steps.

    Beside the totals D_λ and D_{λ,G} stands Weyl's law, ω_d vol(M) (√λ / 2π)^d for all functions (ω_d the volume of
    the unit ball of R^d), and its invariant version, the same divided by the order of the group. Both are p times as
    large for functions with p outputs.

    Parameters
    ----------
    model : InvariantBasis, EquivariantBasis or fitted estimator
    weyl : bool, default True
        Whether to draw Weyl's law. The invariant version is left out where the order is not known, and both where
        eigenvalues are not those of the Laplacian (another order of the basis).
    legend : bool, default True
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("Oh"), max_eigenvalue=200)
    >>> ax = sa.plot.spectrum(basis)
    >>> ax.get_yscale()
    'log'
    """
    basis = _basis_of(model)
    pyplot()  # says what to install, before anything else of Matplotlib is imported
    from matplotlib.ticker import MaxNLocator

    panel: Any = axes_or_new(ax, (6.8, 3.8))
    eigenvalues = np.array([row.eigenvalue for row in basis.table])
    gaps = np.diff(eigenvalues)
    bent = len(gaps) > 1 and gaps.max() > 3 * gaps.min()  # as on a sphere: √λ spreads the bars evenly
    values = np.sqrt(eigenvalues) if bent else eigenvalues
    sizes = [row.dim for row in basis.table]
    invariant = [row.invariant_dim for row in basis.table]
    width = _widths(values)
    floor = 0.5  # the height from which a bar of one function is seen on a logarithmic axis
    edge = values[-1] + (width[-1] if len(values) > 1 else 1.0)
    for counts, side, color, hatch, name, total in (
        (sizes, -1, COLORS[0], None, "$m_\\lambda$, all functions", "$D_\\lambda$"),
        (invariant, 1, COLORS[1], "////", f"$m_{{\\lambda,G}}$, {basis.kind} functions", "$D_{\\lambda,G}$"),
    ):
        heights = np.maximum([_float(c) - floor for c in counts], 0)
        style = {"color": color, "edgecolor": "white", "linewidth": 0.4, "hatch": hatch, "label": name}
        panel.bar(values + side * width / 4, heights, width / 2, bottom=floor, **style)
        totals = np.array([_float(c) for c in np.cumsum(np.array([*counts, 0], dtype=object))])
        steps: Any = (np.append(values, edge), totals)
        panel.step(*steps, where="post", color=INK, linewidth=2.4)
        panel.step(*steps, where="post", color=color, linewidth=1.5, label=f"{total}, their sum so far")
    if weyl and len(values) > 1 and basis.order.name == "eigenvalue":
        x = np.linspace(0, values[-1], 400)[1:]
        constant = log_weyl_constant(basis.space) + log(basis.n_rows if isinstance(basis, EquivariantBasis) else 1)
        for divisor, dash, name in ((0.0, "--", "Weyl's law"), (_log_order(basis), ":", "Weyl's law / |G|")):
            if divisor is not None and (divisor or dash == "--"):
                y = constant + basis.space.dim / 2 * np.log(x**2 if bent else x) - divisor
                shown = (y < _LARGEST_LOG) & (y > np.log(floor))
                panel.plot(x[shown], np.exp(y[shown]), color=INK, linestyle=dash, linewidth=1.2, label=name)
    panel.set(xlabel="eigenvalue λ", ylabel="number of functions", yscale="log")
    panel.set_ylim(bottom=floor)
    if bent:
        ticks = MaxNLocator(7, steps=[1, 2, 5, 10]).tick_values(0, float(eigenvalues[-1]))
        ticks = ticks[ticks <= eigenvalues[-1] * 1.02]
        panel.set_xticks(np.sqrt(ticks), [f"{t:g}" for t in ticks])
    without_frame(panel)
    panel.grid(False, axis="x")
    panel.set_title(
        f"{basis.dim} of {_count(basis.total_dim)} functions are {basis.kind}", fontsize="medium", loc="left"
    )
    if legend:
        panel.legend(frameon=False, fontsize="small", ncols=2, loc="upper left", bbox_to_anchor=(0, -0.16))
    return panel


def _basis_of(model: Any) -> InvariantBasis | EquivariantBasis:
    basis = model if isinstance(model, InvariantBasis | EquivariantBasis) else getattr(model, "basis_", None)
    if not isinstance(basis, InvariantBasis | EquivariantBasis):
        raise TypeError(
            f"the spectrum of what? Give an invariant or equivariant basis or a fitted estimator; got {shown(model)}"
        )
    return basis


def _widths(values: Array) -> Array:
    if len(values) < 2:
        return np.ones(1)
    gaps = np.diff(values)
    return 0.86 * np.minimum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))


def _count(n: int) -> str:
    return f"{n:,}" if n < 10**9 else f"about $10^{{{int(log10(n))}}}$"


def _float(count: int) -> float:
    return float(count) if count < 10**300 else np.inf


def _log_order(basis: InvariantBasis | EquivariantBasis) -> float | None:
    try:
        return log(basis.group.finite_order)
    except ValueError:
        return None
