"""Compiled loops over the rows of plain arrays: products of factors along a tree, recurrences, sums over many points.

A loop works on one chunk of rows, in blocks of up to a few hundred points, so that what it reads and writes stays in
cache. It releases the interpreter's lock, so that threads can work on different chunks. Numba is imported when the
first loop is used, not before.

Names that all loops share: B is the number of points of a block, b or j runs over them, and a *row* is an array with
one number for each point of a block. The last block is padded with the last point; what it gives for the padding is not
written. `out` is what a loop writes to. Each row of the coefficients C makes one combination.
"""
