"""Points drawn from a density by rejection of uniform ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from specavg._arrays import Array
from specavg.spaces import Space

_LOWEST_ACCEPTANCE = 1e-6  # share of uniform proposals that are accepted, below which sampling is given up


def rejection_sample(density: Callable[[Array], Array], space: Space, n: int, rng: np.random.Generator) -> Array:
    """Independent points; the density is clipped at zero.

    The bound on the density is the largest value met so far, doubled; when a proposal exceeds it all starts again with
    the larger bound.

    Returns
    -------
    ndarray of shape (n, n_features)
    """
    if not n:
        return space.sample(0, rng)
    bound = 2.0 * float(density(space.sample(10_000, rng)).max())
    accepted: list[Array] = []
    found = tried = 0
    while found < n:
        proposals = space.sample(int(np.clip(1.2 * bound * (n - found) + 100, 1_000, 100_000)), rng)
        values = density(proposals)
        if values.max() > bound:
            bound, accepted, found, tried = 2.0 * float(values.max()), [], 0, 0
            continue
        accepted.append(proposals[rng.uniform(0.0, bound, len(proposals)) < values])
        found, tried = found + len(accepted[-1]), tried + len(proposals)
        if tried > 1e6 and found < _LOWEST_ACCEPTANCE * tried:
            raise ValueError(
                f"the density is concentrated on so little of {space!r} that {found} of {tried} uniform points "
                "were accepted: rejection is hopeless here. Lower the cutoff for a smoother density."
            )
    return np.concatenate(accepted)[:n]
