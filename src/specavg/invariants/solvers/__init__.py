"""Solvers: each a way to find the invariant functions of an eigenspace, those of one idea in a file.

What a solver is stands in `_solver`, and `invariants/_solver_choice.py` lists them all, the cheapest first. A solver
that has a twin for vector functions has it in the same file. By where they work:

- everywhere: `_null_space`, `_trivial_group`, `_random_elements`
- tori and intervals: `_frequency_orbits`, `_exponent_orbits`; changes of sign on tori and spheres: `_sign_flips`
- spheres: `_s2_point_groups`, `_s2_frames`, `_harmonic_polynomials`, `_blocks_of_directions`
- rotations and Stiefel manifolds: `_left_times_right`, `_functions_of_a_direction`
- products and copies: `_factor_by_factor`, `_permuted_copies`, `_copies_together`, `_copies_exchanged`,
  `_moves_together`, `_types_of_copies`, `_harmonics_turned_together`
- vector functions alone: `_outputs_apart`, `_one_output_for_all`
- shared: `_orbits`, `_stored_arrays`, `_symmetric_powers`
"""
