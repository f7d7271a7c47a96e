"""Descriptions: what spaces, groups and isometries are, in plain JSON values.

A description is made of numbers, strings, lists and dictionaries only; fractions are strings such as ``"1/3"``.
Saved models and the files of the command line are written in it. Reading one checks everything and runs nothing.
"""

from typing import TYPE_CHECKING

from specavg._lazy_names import lazy_names

if TYPE_CHECKING:
    from specavg.persistence._bases import basis_arrays, describe_basis, read_basis
    from specavg.persistence._plain_values import DescriptionError
    from specavg.persistence._values import describe, read

__all__ = ["DescriptionError", "basis_arrays", "describe", "describe_basis", "read", "read_basis"]

__getattr__ = lazy_names(
    __name__,
    {
        "._bases": "basis_arrays describe_basis read_basis",
        "._plain_values": "DescriptionError",
        "._values": "describe read",
    },
)
