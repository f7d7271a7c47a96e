"""Families of functions: values, sums over data, predictions and Gram sums of one kind of function in one file.

A family knows points as plain arrays, and neither spaces nor groups. What runs compiled stands in `loops`. The files
by what they hold:

- what a family is: `_functions`, `_vector_functions` (vectors); what families share: `_compiled`, `_product_tree`,
  `_derivations`, `_few_rows`, `_plain_products`, `_threads`, `_compensated_sums`, `_types_of_functions`;
  coefficients of von Mises kernels: `_bessel_series`
- waves of tori: `_trigonometric_sums`, `_cosine_products`, `_symmetric_waves`, `_wave_tree`, `_frequency_types`,
  `_integer_vectors`, `_nufft`
- polynomials of intervals: `_one_coordinate`, `_chebyshev_orbits`
- harmonics of spheres: `_s2_harmonics`, `_sphere_harmonics`, `_block_harmonics`, `_monomials`, `_orbit_sums`,
  `_tangent_fields`; of the first, and of rotations: `_euler_family`; addition theorems, of rotations and tori too:
  `_zonal_sums`
- functions of rotations: `_wigner_functions`, `_wigner_matrices`, `_wigner_columns`, `_two_sided_sums`,
  `_one_direction`, `_orthonormal_matrices`
- functions of copies: `_symmetric_functions`, `_copy_by_copy`, `_copy_chains`, `_copy_tensors`, `_determinants`
- families made from others: `_combinations`, `_mapped_functions`, `_expanded_in_waves`, `_tensor_products`,
  `_factor_table`
- Gram matrices that are not formed: `_gram_operator`, `_toeplitz_gram`, `_euler_gram`, `_euler_sums`
"""
