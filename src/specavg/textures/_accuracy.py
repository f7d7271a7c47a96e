"""How exactly numbers of a texture are computed: bounds that several of them share."""

SETTLED = 1e-3  # relative change between two rules: numbers of a texture are quoted with two digits
OFF = 0.01  # distance of the integral of f from 1, beyond which nodes are too far apart to see f, or f is no density
MOST_DRAWN = 40_000  # orientations drawn from a density of kernels, altogether
