"""Where a basis ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["TOLERANCE", "Cutoff"]

# Relative: an eigenvalue or a number of functions that exceeds a cutoff by less is rounding, and belongs to it
# (1000^(1/3) is 9.999999999999998).
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Cutoff:
    """Where a basis ends: whole eigenspaces only, exactly one bound.

    Attributes
    ----------
    kind : str
        "max_eigenvalue", "max_dim" or "max_invariant_dim".
    value : float

    Examples
    --------
    >>> import specavg as sa
    >>> sa.invariant_basis(sa.Torus(2), max_dim=10).cutoff
    Cutoff(kind='max_dim', value=10.0)
    """

    kind: str
    value: float

    @property
    def most(self) -> float:
        """The value, with what may be rounding added."""
        return self.value * (1 + TOLERANCE)

    @classmethod
    def of(cls, max_eigenvalue: float | None, max_dim: float | None, max_invariant_dim: float | None) -> Cutoff | None:
        """The one cutoff that is given; None if there is none, an error if there are several."""
        given = {
            kind: value
            for kind, value in (
                ("max_eigenvalue", max_eigenvalue),
                ("max_dim", max_dim),
                ("max_invariant_dim", max_invariant_dim),
            )
            if value is not None
        }
        if not given:
            return None
        if len(given) > 1:
            raise ValueError(f"give exactly one cutoff; got {' and '.join(f'{k}={v!r}' for k, v in given.items())}")
        kind, value = next(iter(given.items()))
        lowest = 0.0 if kind == "max_eigenvalue" else 1.0
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"{kind} must be a number; got {value!r}") from None
        if not number >= lowest or not np.isfinite(number):
            raise ValueError(
                f"{kind} = {value!r} is impossible: it must be finite and at least {lowest:g} "
                "(the constant function is always there)"
            )
        return cls(kind, number)
