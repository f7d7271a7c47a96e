"""Solvers: each a way to find the invariant functions of an eigenspace, one a file."""
