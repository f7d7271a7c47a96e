"""Families of functions: one kind of functions in a file, with values, sums over data, combinations and gradients.

A family works on plain arrays of points, and knows neither spaces nor groups. Compiled code is in `loops`. The files:

- what a family is: `_functions` (scalar functions), `_vector_functions`
- what several families use: `_compiled` (families with loops), `_factor_table` and `_product_tree` (products along a
  tree), `_plain_products` (the same by NumPy), `_derivations` (gradients), `_few_rows`, `_threads`,
  `_compensated_sums`, `_types_of_functions`, `_integer_vectors`
- waves on tori: `_trigonometric_sums`, `_wave_tree`, `_cosine_products`, `_symmetric_waves`, `_expanded_in_waves`,
  `_frequency_types`, `_nufft`
- polynomials on intervals: `_one_coordinate`, `_chebyshev_orbits`
- harmonics on spheres: `_s2_harmonics` (of S²), `_sphere_harmonics` (of any dimension), `_block_harmonics`,
  `_monomials`, `_orbit_sums`, `_tangent_fields`
- functions on rotations: `_wigner_functions`, `_wigner_matrices`, `_wigner_columns`, `_two_sided_sums`,
  `_one_direction`, `_orthonormal_matrices`; on S² and rotations: `_euler_family`
- functions of copies: `_symmetric_functions`, `_copy_by_copy`, `_copy_chains`, `_copy_tensors`, `_determinants`
- families made from others: `_combinations`, `_mapped_functions`, `_tensor_products`
- Gram matrices that are not formed: `_gram_operator`, `_toeplitz_gram`, `_euler_gram`, `_euler_sums`
- kernels: `_zonal_sums` (addition theorems), `_bessel_series` (coefficients of von Mises kernels)
"""
