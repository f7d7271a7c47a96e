"""Messages of the library in the words of the command line: options in place of Python."""

from __future__ import annotations

import re

# What a message says, and what is said here, in this order. A test makes the messages, and finds no Python left.
_WORDS = (
    (r"with np\.deg2rad, or take sa\.Torus\((\d+), period=360\)", r"to radians, or give --space torus:\1,period=360"),
    (r"take sa\.Torus\((\d+), period=2\*np\.pi\)", r"give --space torus:\1,period=2pi"),
    (r"give its torus period=2\*np\.pi", "give --space a torus with period=2pi"),
    (r"Give the space the period of the data", "Give --space the period of the data"),
    (r"give the space period=1", "give --space torus:D,period=1"),
    (r"use sa\.Interval\b", "use --space interval:LOW,HIGH"),
    (r",( or give)? order=(sa\.invariants\.)?(\"[^\"]*\"|'[^']*'|\w+(\([^)]*\))?)", ""),  # there is no such option
    (r"X(\[[^]]*\])? @ np\.linalg\.inv\(space\.[^)]*lattice\) / \(2 \* np\.pi\)", "the same inverse over 2π"),
    (r"X(\[[^]]*\])? @ np\.linalg\.inv\(space\.[^)]*lattice\)", "a product with the inverse of the lattice"),
    (r", with east, north = spaces\.east_and_north\(lonlat\)", "; --lonlat takes u and v as two targets"),
    (r"For radians pass degrees=False", "Radians have to be converted to degrees"),
    (r"sa\.symmetry_test\([^)]*\)", "`specavg check`"),
    (r"sa\.discover_symmetry\([^)]*\)", "`specavg discover`"),
    (r"sa\.invariants\.plan\b", "`specavg info --plan`"),
    (r"use EquivariantKernelRidge\(space, group, '(\w+)'\)", r"give --targets-are \1"),
    (
        r"the loo_error_ of InvariantKernelRidge with the group",
        "the leave-one-out errors of `specavg fit` with --group",
    ),
    (r"give sample_weight proportional", "give --weights, a column proportional"),
    (r"use InvariantKernelRidge", "use --model ridge"),
    (r" A scaler to its ends needs to clip: MinMaxScaler\(clip=True\)\.", ""),
    (r"are the rows of X\.reshape\(-1, (\d+)\), each", r"have the same number of columns, \1, and each is"),
    (r"X\.reshape\([^)]*\)\.swapaxes\(1, 2\) orders them", "name them in this order with --features"),
    (r": see \.table$", ""),
    (r"X\[:, ::-1\] exchanges the columns", "--features LONGITUDE,LATITUDE names them in this order"),
    (r"X\[\['(.*?)', \.\.\.\]\]", lambda names: f"--features {names[1].replace(chr(39), '').replace(' ', '')},..."),
    (r" \(sa\.config\(memory_limit=\.\.\.\) sets the limit\.\)", ""),
    (r"\bmax_(eigenvalue|dim)\b", r"--max-\1"),
    (r"\bmax_invariant_dim\b", "--max-invariant-dim"),
    (r"(--max-[a-z-]+) ?= ?(?=\d)", r"\1 "),
)


def in_words_of_the_command(message: str) -> str:
    """A message of the library with options in the place of arguments and functions of Python.

    Examples
    --------
    >>> in_words_of_the_command("More functions may help: give max_invariant_dim=400.")
    'More functions may help: give --max-invariant-dim 400.'
    """
    for said, here in _WORDS:
        message = re.sub(said, here, message)
    return message
