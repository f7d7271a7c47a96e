"""What a constructor does not know is refused by the name of the class that was called."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import specavg as sa
from specavg import baselines, molecules

CLASSES = [
    member
    for module in (sa, baselines, molecules)
    for name in module.__all__
    if inspect.isclass(member := getattr(module, name)) and issubclass(member, BaseEstimator)
]


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if not inspect.isabstract(cls)], ids=lambda cls: cls.__name__)
def test_an_unknown_keyword_is_refused_by_the_class_that_was_called(cls):
    required = [p for p in inspect.signature(cls).parameters.values() if p.default is p.empty]
    given = {p.name: None for p in required}
    known = next(reversed(inspect.signature(cls).parameters))
    with pytest.raises(TypeError, match=rf"^{cls.__name__}: .* '{known}s'\. Did you mean {known}"):
        cls(**given, **{f"{known}s": 1})
    with pytest.raises(TypeError, match=rf"^{cls.__name__}: .* 'zzz'\. It takes .*{known}"):
        cls(**given, zzz=1)


def test_too_many_and_too_few_arguments_are_refused_by_the_class_that_was_called():
    with pytest.raises(TypeError, match=r"^InvariantKernelRidge: too many positional"):
        sa.InvariantKernelRidge(sa.Torus(2), None, "matern")
    with pytest.raises(TypeError, match=r"^InvariantPotential: missing a required argument: 'symbols'"):
        molecules.InvariantPotential(max_dim=3)
