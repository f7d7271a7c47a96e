"""Regression: problem, path, choice and posterior, as plain linear algebra that knows no group."""
