"""Arguments that a class does not know are refused by the name of the class that was called."""

from __future__ import annotations

import difflib
import inspect
from typing import Any, Self


class KnownArguments:
    """Errors about arguments of a constructor name the class itself, and parameters that were probably meant.

    Python names the class where `__init__` is written, which may be one that nobody imports.

    Examples
    --------
    >>> import specavg as sa
    >>> sa.InvariantKernelRidge(max_dims=10)
    Traceback (most recent call last):
    TypeError: InvariantKernelRidge: got an unexpected keyword argument 'max_dims'. Did you mean max_dim?
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if args or kwargs:  # copies and pickles are made without
            signature = inspect.signature(cls)
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                unknown = [name for name in kwargs if name not in signature.parameters]
                near = [match for name in unknown for match in difflib.get_close_matches(name, signature.parameters)]
                known = f"Did you mean {' or '.join(near)}?" if near else f"It takes {', '.join(signature.parameters)}."
                raise TypeError(f"{cls.__name__}: {error}. {known}") from None
        return super().__new__(cls)
