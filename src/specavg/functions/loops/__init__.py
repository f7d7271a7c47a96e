"""Compiled loops on plain arrays: products of factors along a tree, recurrences, sums over many points.

Every loop works on blocks of a few hundred points, so that what it touches stays in cache, and releases the
interpreter, so that threads share the rows. Numba is imported when the first loop is used, not before.
"""
