"""Families of functions: values, sums over data, predictions and Gram sums of one kind of function in one file.

A family knows points as plain arrays, and neither spaces nor groups. What runs compiled stands in `loops`.
"""
