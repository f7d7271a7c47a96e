"""Is a map of generators a homomorphism? Relations between the generators decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, islice
from math import lcm

import numpy as np
from numpy.typing import NDArray

from specavg.groups._algebra import generated_algebra
from specavg.groups._group import Group
from specavg.groups.recognition._actions import Action, faithful_action
from specavg.isometries import Affine, Factors, Isometry, Orthogonal, SignedPermutation, identity, permutation
from specavg.isometries._linear import linear
from specavg.isometries.fields import FactorsField, Field, RotationField, period

Linear = SignedPermutation | Orthogonal
Word = tuple[int, ...]
"""Generators by their numbers; the last one acts first, as in g0 @ g1."""
Place = tuple[NDArray[np.intp], Linear, Word]
"""An element as a permutation, its image, and a word for it."""

# Images are orthogonal to 1e-9, and a relation multiplies some ten of them.
TOLERANCE = 1e-8
_ELEMENTS = 2_000  # largest group whose elements are all visited: every point and space group, in less than 0.1 s
_DENSE, _SIGNED = 2e8, 4e6  # entries multiplied on that walk (matrices) or copied (signed permutations): 0.1 s
_PRODUCTS = 500  # products of two generators whose order is tried: all of those of 32 generators
_LONGEST = 1e7  # a rounded image to a power above this one has lost the digits that the comparison needs
_TURNS = 1e-14  # rounding of the angles of an image, in turns
_DENOMINATOR = 1_000  # largest of fractions of a turn that an angle is taken for where it is one to rounding
# The order of the pairs (g, ρ(g)) took 0.07 s for S_20 and 2.5 s for S_50, each with as many outputs.
COORDINATES = 40
# Largest order of words of generators that show no finite group, and how near their angles, in turns, are to fractions:
# words of ten exact matrices err by 1e-14, and other angles are as near to one in 2 of 10⁹ cases.
_WORD_ORDER, _WORD_TURNS = 60, 1e-12
_RANDOM_WORDS, _LETTERS = 20, 10  # of images that generate an infinite group nearly every such word shows it: 10 ms


def check_relations(group: Group, images: Sequence[Linear]) -> None:
    """Raise `ValueError` where a relation between the generators does not hold for their images."""
    if not images:
        return
    _check_orders(group, images)
    try:
        action = faithful_action(group.generators)
    except ValueError:  # the generators show no finite group: relations are powers whose angles are those of one
        _check_turns(group, images)
        return
    p = images[0].size
    dense = any(isinstance(image, Orthogonal) for image in images)
    work = _DENSE / p**3 if dense else _SIGNED / (p + action.degree)
    limit = int(min(_ELEMENTS, 1 + work / len(images)))
    walked = sum(1 for _ in islice(_walk(group, action, images), limit))
    if walked == limit and group.columns + p <= COORDINATES:
        _check_order_of_pairs(group, action, images)


def check_brackets(group: Group, images: Sequence[Linear], field_images: Sequence[RotationField]) -> None:
    """Raise `ValueError` where the images of fields do not have the brackets, periods and symmetries of the fields."""
    fields: list[Field] = list(group.fields)
    velocities: list[Field] = list(field_images)
    for g, image in zip(group.generators, images, strict=True):
        fields += [field.moved(g) for field in group.fields]
        velocities += [velocity.moved(image) for velocity in field_images]
    # The pairs (ξ, dρ(ξ)) generate an algebra as large as the fields ξ do if and only if dρ keeps all brackets.
    both = [FactorsField(pair) for pair in zip(fields, velocities, strict=True)]
    found, expected = generated_algebra(both).dim, generated_algebra(fields).dim
    if found != expected:
        raise ValueError(
            f"the field_images are no representation of {group!r}: its fields generate {expected} dimensions under "
            f"brackets, and the pairs (field, image) {found}. The image of a bracket must be the bracket of the images."
        )
    for i, (field, velocity) in enumerate(zip(group.fields, field_images, strict=True)):
        time = period(field)
        if time is not None:
            flow = linear(velocity.flow(time))
            residual = float(np.abs(flow.matrix - np.eye(velocity.size)).max())
            if residual > TOLERANCE:
                raise _failure(group, f"exp({time:.6g} · field {i}) = 1", residual)


def pairs(group: Group, images: Sequence[Linear], dim: int) -> Iterator[tuple[Isometry, Linear]]:
    """Every element of a finite group once, with its image of size `dim`; the identity first."""
    if not images:
        yield group.identity, identity(dim)
        return
    action = faithful_action(group.generators)
    for at, image, _ in _walk(group, action, images):
        yield action.isometry(at), image


def _walk(group: Group, action: Action, images: Sequence[Linear]) -> Iterator[Place]:
    """Breadth first through the group; every relation met is checked on the images."""
    steps = [action.permutation(g) for g in group.generators]
    start: Place = (np.arange(action.degree), identity(images[0].size), ())
    seen: dict[bytes, Place] = {start[0].tobytes(): start}
    front: list[Place] = [start]
    for at, image, word in front:  # grows while it is read
        yield at, image, word
        for i, (step, factor) in enumerate(zip(steps, images, strict=True)):
            new: Place = (step[at], linear(image @ factor), (*word, i))  # g @ g_i
            known = seen.setdefault(new[0].tobytes(), new)
            if known is new:
                front.append(new)
            else:
                _compare(group, new, known)


def _compare(group: Group, new: Place, known: Place) -> None:
    if new[1] == known[1]:
        return
    residual = float(np.abs(new[1].matrix - known[1].matrix).max())
    if residual > TOLERANCE:
        left, right = new[2], known[2]
        while left and right and left[0] == right[0]:
            left, right = left[1:], right[1:]
        raise _failure(group, f"{_text(left)} = {_text(right)}", residual)


def _check_orders(group: Group, images: Sequence[Linear]) -> None:
    """Check that a power that makes a generator, or a product of two, the identity does so with their images."""
    words: list[Word] = [(i,) for i in range(len(images))]
    words += islice(combinations(range(len(images)), 2), _PRODUCTS)
    for word in words:
        g, image = group.generators[word[0]], images[word[0]]
        for i in word[1:]:
            g, image = g @ group.generators[i], linear(image @ images[i])
        order = _element_order(g)
        if order is None:
            continue
        residual = _distance_from_one(image, order)
        if residual > TOLERANCE:
            text = f"({_text(word)})^{order}" if len(word) > 1 else f"{_text(word)}^{order}"
            raise _failure(group, f"{text} = 1", residual)


def _distance_from_one(image: Linear, order: int) -> float:
    """How far a power of an image is from the identity.

    Of a high power of a rounded image only what its angles tell to rounding: a seventh of a turn is one exactly, and no
    power of it that 7 does not divide is the identity.
    """
    if order <= _LONGEST or not isinstance(image, Orthogonal):
        power = linear(image**order)
        return 0.0 if power.is_identity else float(np.abs(power.matrix - np.eye(power.size)).max())
    worst = 0.0
    for t in (np.angle(np.linalg.eigvals(image.matrix)) / (2 * np.pi)).tolist():
        fraction = Fraction(t).limit_denominator(_DENOMINATOR)
        known = abs(t - fraction) < _TURNS
        turns = order * (fraction if known else Fraction(t))
        rest = float(abs(turns - round(turns)))
        if known or rest > order * _TURNS:
            worst = max(worst, 2 * np.sin(np.pi * rest))
    return worst


def _check_order_of_pairs(group: Group, action: Action, images: Sequence[Linear]) -> None:
    """The pairs (g, ρ(g)) are as many as the elements g if and only if ρ is a homomorphism.

    Where the search does not find how many they are, powers of random words that are the identity are checked.
    """
    try:
        order = Group(group.generators).order if group.fields else group.order
        found = Group([Factors(pair) for pair in zip(group.generators, images, strict=True)]).order
    except ValueError:  # it says as little of a group without short orbits as of an infinite one
        _check_random_words(group, action, images)
        return
    if found != order:
        raise ValueError(
            f"the images are no representation of {group!r}: its generators have {order} elements, and the pairs "
            f"(g, image of g) generate {found}. Some product of generators is the identity, and the same product of "
            "images is not."
        )


def _check_random_words(group: Group, action: Action, images: Sequence[Linear]) -> None:
    rng = np.random.default_rng(0)
    for word in _random_words(len(images), rng):
        at, image = np.arange(action.degree), identity(images[0].size)
        for i in word:
            at, image = action.permutation(group.generators[i])[at], linear(image @ images[i])
        order = permutation(at.tolist()).order
        residual = _distance_from_one(image, order)
        if residual > TOLERANCE * order:  # each of the equal factors errs by as much as a relation may
            raise _failure(group, f"({_text(word)})^{order} = 1", residual)


def _check_turns(group: Group, images: Sequence[Linear]) -> None:
    """As `_check_orders`, with the orders that the angles of matrices show; of random words too."""
    count, rng = len(images), np.random.default_rng(0)
    words: list[Word] = [(i,) for i in range(count)]
    words += islice(combinations(range(count), 2), _PRODUCTS)
    words += [w[: 2 + k % (_LETTERS - 1)] for k, w in enumerate(_random_words(count, rng))]
    for word in words:
        order = _turning_order(_product(group.generators, word))
        if order is not None:
            residual = _distance_from_one(linear(_product(images, word)), order)
            if residual > TOLERANCE * order:
                raise _failure(group, f"({_text(word)})^{order} = 1", residual)


def _turning_order(g: Isometry) -> int | None:
    """The order of an orthogonal map of moderate order, from its angles; None where they show none."""
    if isinstance(g, Factors):
        parts = [_turning_order(part) for part in g.parts]
        known = [order for order in parts if order is not None]
        order = lcm(*known) if len(known) == len(parts) else None
    elif isinstance(g, SignedPermutation):
        order = g.order
    elif isinstance(g, Orthogonal):
        turns: list[float] = (np.angle(np.linalg.eigvals(g.matrix)) / (2 * np.pi)).tolist()
        near = [Fraction(t).limit_denominator(_WORD_ORDER) for t in turns]
        exact = all(abs(t - fraction) < _WORD_TURNS for t, fraction in zip(turns, near, strict=True))
        order = lcm(*(fraction.denominator for fraction in near)) if exact else None
    else:
        order = None
    return order if order is not None and order <= _WORD_ORDER else None


def _product(factors: Sequence[Isometry], word: Word) -> Isometry:
    return reduce(lambda g, h: g @ h, (factors[i] for i in word))


def _random_words(letters: int, rng: np.random.Generator) -> list[Word]:
    return [tuple(word) for word in rng.integers(letters, size=(_RANDOM_WORDS, _LETTERS)).tolist()]


def _failure(group: Group, relation: str, residual: float) -> ValueError:
    return ValueError(
        f"the images are no representation of {group!r}: the relation {relation} fails by {residual:.2g} for the "
        f"images (tolerance {TOLERANCE:.0e}). Correct the images, or their order: there is one for each of "
        "group.generators."
    )


def _text(word: Word) -> str:
    return " ".join(f"g{i}" for i in word) or "1"


def _element_order(g: Isometry) -> int | None:
    """The least power of `g` that is the identity, where integers show it."""
    if isinstance(g, Affine) and g.is_shift and g.is_exact:
        return lcm(*(t.denominator for t in g.shift if isinstance(t, Fraction)))
    return g.order if isinstance(g, SignedPermutation) else None
