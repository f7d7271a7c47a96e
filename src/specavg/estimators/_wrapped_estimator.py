"""What is wrapped by an estimator of ours: a regressor of scikit-learn's kind."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from specavg._messages import shown
from specavg.spaces import Space


def check_wrapped(estimator: Any, owner: str, *, averages: bool) -> None:
    """Refuse what cannot be wrapped, before it is cloned.

    Parameters
    ----------
    estimator : object
    owner : str
        The class that wraps it, for messages.
    averages : bool
        Whether the wrapper takes means of predictions, which labels of classes do not have.
    """
    if isinstance(estimator, Space):
        raise TypeError(
            f"the first argument is the estimator to wrap; got the space {estimator!r}. Write "
            f"{owner}(RandomForestRegressor(), space, group)"
        )
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise TypeError(
            "estimator must be an object with the methods fit and predict, such as RandomForestRegressor(); got "
            f"{shown(estimator)}"
        )
    if averages and hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator):
        raise ValueError(
            f"{type(estimator).__name__} predicts classes, and averages of labels are no labels. For classes "
            "put sa.InvariantFeatures and a classifier (for instance LogisticRegression) in a pipeline."
        )
