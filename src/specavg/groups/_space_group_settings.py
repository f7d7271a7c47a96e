"""The 530 settings of the 230 space groups, and which of them a symbol names; spglib holds the tables."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from importlib import import_module
from typing import Any

_HALL_NUMBERS = 530  # settings of the 230 space groups in the International Tables
_MONOCLINIC = range(3, 16)  # numbers of the space groups with one axis or mirror
_DOUBLE_GLIDES = {39: "b", 41: "b", 64: "a", 67: "a", 68: "a"}  # what was written, until 1992, where now there is an e


def installed_spglib() -> Any:
    try:
        return import_module("spglib")
    except ImportError:
        raise ImportError(
            'space groups need spglib, which holds their tables: pip install "specavg[crystal]" (or pip install spglib)'
        ) from None


@lru_cache(maxsize=1)
def database() -> dict[int, Any]:
    """What spglib knows of each Hall number: number, choice, hall_symbol, ..."""
    spglib = installed_spglib()
    with warnings.catch_warnings():  # spglib announces, at every call, a change of its error handling
        warnings.simplefilter("ignore", DeprecationWarning)
        return {hall: spglib.get_spacegroup_type(hall) for hall in range(1, _HALL_NUMBERS + 1)}


def hall_number(given: int | str, setting: str | int | None) -> int:
    """The setting of a space group: its own if a symbol has one, the first that spglib lists if nothing is said."""
    named: list[int] = []
    number: Any = given
    if isinstance(given, str):
        named = [] if given.strip().isdigit() else _by_symbol().get(_plain(given), [])
        if not named and not given.strip().isdigit():
            raise ValueError(
                f"no space group has the symbol {given!r}: write it as the International Tables do ('Fm-3m', "
                "'P6_3/mmc', 'P2_1/n', 'P 1 1 2/m'), or give its number, 1 to 230, and for other axes or origins a "
                "setting"
            )
        number = database()[named[0]].number if named else int(given)
    if isinstance(number, bool) or number not in range(1, 231):
        raise ValueError(f"space groups have the numbers 1 to 230; got {given!r}")
    settings = [(hall, str(kind.choice)) for hall, kind in database().items() if kind.number == number]
    if setting is None:
        return named[0] if named else settings[0][0]
    for hall, choice in settings:
        if setting == hall or str(setting) == choice:  # an origin choice may be given as a number
            if named and hall not in named:
                own = ", ".join(repr(str(database()[other].choice)) for other in named)
                raise ValueError(
                    f"{given!r} is the symbol of the setting {own} of space group {number}, and not of {setting!r}: "
                    f"give the number, or leave the setting out"
                )
            return hall
    known = ", ".join(f"{choice!r} (Hall number {hall})" for hall, choice in settings)
    raise ValueError(f"space group {number} has no setting {setting!r}; it has {known}")


def setting_name(hall: int, ask: str | int | None = None) -> str:
    """How `space_group` is called for a Hall number: with a setting where it was asked for or is not the first."""
    kind, before = database()[hall], database().get(hall - 1)
    first = before is None or before.number != kind.number
    if ask is None and not first:
        ask = str(kind.choice)
    return str(kind.number) if ask is None else f"{kind.number}, setting={ask!r}"


@lru_cache(maxsize=1)
def _by_symbol() -> dict[str, list[int]]:
    """The Hall numbers of every symbol, without spaces and underscores, in spglib's order: the usual one is first."""
    found: dict[str, list[int]] = {}
    for hall, kind in database().items():
        for symbol in sorted(_symbols(kind)):
            found.setdefault(symbol, []).append(hall)
    return found


def _symbols(kind: Any) -> set[str]:
    """Every symbol of a setting: short and full, of monoclinic groups without the 1s, and as it was in old tables."""
    full, choice = str(kind.international_full), str(kind.choice)
    written = {str(kind.international_short), full, *str(kind.international).split("=")}
    if kind.number in _MONOCLINIC:
        written.add(re.sub(r" 1\b", "", full))  # P2_1/n is P 1 2_1/n 1
    if kind.number in _DOUBLE_GLIDES:  # Cmca is now Cmce, and with the axes cab Abma, since a is then called b
        axes = re.sub("[^abc]", "", choice) or "abc"
        written |= {symbol.replace("e", "abc"[axes.index(_DOUBLE_GLIDES[kind.number])]) for symbol in written}
    if kind.number > 194:  # cubic: Fm3m is now Fm-3m
        written |= {symbol.replace("-3", "3") for symbol in written}
    plain = {_plain(symbol) for symbol in written}
    if choice[:1] in ("1", "2", "H", "R"):  # as files have it: Fd-3m:2, R-3m:H
        plain |= {f"{symbol}:{choice[0]}" for symbol in plain}
    return plain


def _plain(symbol: str) -> str:
    return re.sub(r"[\s_]", "", symbol)
