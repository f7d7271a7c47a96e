"""What `space=None` and `group=None` mean."""

from __future__ import annotations

from specavg.groups import Group, trivial
from specavg.spaces import Space, Torus

__all__ = ["default_group", "default_space"]


def default_space(n_features: int) -> Space:
    """What `space=None` means: the paper's torus [−1, 1)^d.

    Examples
    --------
    >>> default_space(3)
    Torus(3)
    """
    return Torus(n_features)


def default_group(space: Space) -> Group:
    """What `group=None` means: no symmetry.

    Examples
    --------
    >>> import specavg as sa
    >>> default_group(sa.Sphere(3))
    trivial(3)
    """
    return trivial(space.shape[0])
