"""Solvers: each a way to find the invariant functions of an eigenspace, one a file.

What a solver is stands in `_solver`, and `invariants/_solver_choice.py` lists them all, the cheapest first. By where
they work:

- everywhere: `_null_space`, `_trivial_group`, `_random_elements`
- tori and intervals: `_frequency_orbits`, `_signed_frequencies`, `_translations`, `_exponent_orbits`
- spheres: `_s2_point_groups`, `_s2_frames`, `_even_harmonics`, `_partitions`, `_monomial_orbits`,
  `_harmonic_polynomials`, `_blocks_of_directions`
- rotations and Stiefel manifolds: `_left_times_right`, `_parity_classes`,
  `_functions_of_a_direction`
- products and copies: `_factor_by_factor`, `_factor_eigenspaces`, `_copies_of_one_space`, `_one_copy`,
  `_copies_together`, `_types_of_copies`, `_harmonics_turned_together`, `_determinants_of_copies`
- vector functions: `_output_solver`, `_null_space_of_outputs`, `_outputs_apart`, `_outputs_left_alone`,
  `_one_output_for_all`, `_factors_and_outputs`, `_wave_orbits_of_outputs`
- shared: `_orbits`, `_stored_arrays`, `_symmetric_powers`
"""
