"""Names of a package that are imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str], modules: str = "") -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names are imported when they are first asked for.

    Parameters
    ----------
    package : str
    homes : mapping of str to str
        The names that each module has, with spaces between them; a module of the package has a dot in front.
    modules : str, default ""
        Names of modules of the package, with spaces between them.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    own = modules.split()

    def found(name: str) -> Any:
        if name in home_of:
            return getattr(import_module(home_of[name], package), name)
        if name in own:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return found
