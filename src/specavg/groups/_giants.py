"""Recognising the largest groups of (signed) permutations, whose stabiliser chains would be long."""

from __future__ import annotations

from collections.abc import Sequence

from specavg.groups._structure import Structure
from specavg.isometries import SignedPermutation

__all__ = ["giant"]


def giant(generators: Sequence[SignedPermutation]) -> Structure | None:
    """S_d, A_d or B_d, where these permutations are shown to generate it; None where they are not."""
    return None
