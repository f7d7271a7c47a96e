"""Longitude and latitude as points of the sphere."""

import numpy as np
import pandas as pd
import pytest

import specavg as sa
from specavg.spaces import directions_from_lonlat, east_and_north, lonlat_from_directions

PLACES = np.random.default_rng(0).uniform([-180, -90], [180, 90], (200, 2))


def great_circle(a, b):
    """The angle between two places in degrees, by the haversine formula."""
    (lon1, lat1), (lon2, lat2) = np.deg2rad(a).T, np.deg2rad(b).T
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * np.arcsin(np.sqrt(h))


def test_angles_between_directions_are_great_circles():
    X = sa.Sphere(3).check_points(directions_from_lonlat(PLACES))
    cosines = np.einsum("ni,ni->n", X, np.roll(X, 1, axis=0))
    np.testing.assert_allclose(np.arccos(cosines), great_circle(PLACES, np.roll(PLACES, 1, axis=0)), atol=1e-9)


@pytest.mark.parametrize("degrees", [True, False])
def test_places_come_back(degrees):
    places = PLACES if degrees else np.deg2rad(PLACES)
    turn = 360 if degrees else 2 * np.pi
    X = directions_from_lonlat(places + np.array([turn, 0]), degrees=degrees)
    np.testing.assert_allclose(lonlat_from_directions(3 * X, degrees=degrees), places, atol=1e-11)


def test_longitudes_and_latitudes_are_taken_one_by_one():
    places = np.random.default_rng(0).uniform(-80, 80, size=(20, 2))
    for function in (directions_from_lonlat, east_and_north):
        np.testing.assert_array_equal(function(*places.T), function(places))
    for latitude in (places[1:, 1], places, 30.0):
        with pytest.raises(ValueError, match=r"have shape \(n,\); got \(20,\) and"):
            directions_from_lonlat(places[:, 0], latitude)


def test_east_is_to_the_right_of_north():
    X = directions_from_lonlat([[0, 0], [1, 0], [0, 1]])
    assert np.linalg.det([X[0], X[1] - X[0], X[2] - X[0]]) > 0  # up, east, north


@pytest.mark.parametrize(
    "lonlat, degrees, said",
    [
        ([[52.5, 13.4], [-33.9, 151.2]], True, r"1 of 2 do not, the first of them 151.2 in row 1.*X\[:, ::-1\]"),
        ([[100.0, 91.0]], True, "between −90 and 90 degrees.*Is the second column"),
        ([[13.4, 52.5]], False, "between −1.5708 and 1.5708 radians.*leave out degrees=False"),
        ([[1.0, 2.0, 3.0]], True, r"shape \(n, 2\).*got \(1, 3\)"),
        ([[1.0, np.nan]], True, "1 of 1 places have NaN"),
    ],
)
def test_what_is_no_latitude_is_refused(lonlat, degrees, said):
    with pytest.raises(ValueError, match=said):
        directions_from_lonlat(lonlat, degrees=degrees)


@pytest.mark.parametrize("names", [("latitude", "longitude"), ("Lat", "x"), ("x", "lon_deg"), ("lat", "lng")])
def test_a_table_that_names_the_latitude_first_is_refused(names):
    table = pd.DataFrame(PLACES[:, ::-1], columns=list(names))
    with pytest.raises(ValueError, match=rf"longitude comes first.*table\[\['{names[1]}', '{names[0]}'\]\]"):
        directions_from_lonlat(table)
    np.testing.assert_array_equal(directions_from_lonlat(table.to_numpy()[:, ::-1]), directions_from_lonlat(PLACES))


@pytest.mark.parametrize("names", [("lon", "lat"), ("x", "y"), ("latent", "y"), (0, 1)])
def test_other_names_are_taken(names):
    table = pd.DataFrame(PLACES, columns=list(names))
    np.testing.assert_array_equal(directions_from_lonlat(table), directions_from_lonlat(PLACES))


def test_two_columns_on_the_sphere_are_told_how_they_become_points():
    with pytest.raises(ValueError, match="directions_from_lonlat makes unit vectors"):
        sa.InvariantKernelRidge(sa.Sphere(3)).fit(PLACES, PLACES[:, 0])
    with pytest.raises(ValueError, match="directions_from_lonlat makes them"):
        sa.Sphere(3).check_points(PLACES)
    with pytest.raises(ValueError, match=r"shape \(n, 3\); got \(200, 2\)"):
        lonlat_from_directions(PLACES)


def test_east_and_north_are_derivatives_of_directions():
    """By central differences along the circle of latitude and the meridian, away from the poles."""
    places, step = PLACES[np.abs(PLACES[:, 1]) < 80], 1e-3
    across = [step, 0.0] / np.cos(np.deg2rad(places[:, 1:])), [[0.0, step]]
    for found, shift in zip(east_and_north(places), across, strict=True):
        ahead, behind = (directions_from_lonlat(places + sign * np.asarray(shift)) for sign in (1, -1))
        np.testing.assert_allclose(found, (ahead - behind) / np.deg2rad(2 * step), atol=1e-8)


@pytest.mark.parametrize("degrees", [True, False])
def test_east_north_and_up_are_a_frame(degrees):
    places = np.vstack([PLACES, [[30.0, 90.0], [30.0, -90.0]]])
    places = places if degrees else np.deg2rad(places)
    up, (east, north) = directions_from_lonlat(places, degrees=degrees), east_and_north(places, degrees=degrees)
    frames = np.stack([east, north, up], axis=1)
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), np.tile(np.eye(3), (len(places), 1, 1)), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(frames), 1, atol=1e-14)


@pytest.mark.parametrize("first", [-180, 0])
def test_radians_that_are_taken_for_degrees_are_questioned(first):
    places = np.random.default_rng(0).uniform([first, -90], [first + 360, 90], (50, 2))
    with pytest.warns(UserWarning, match=r"taken for degrees(.|\n)*degrees=False") as record:
        directions_from_lonlat(np.deg2rad(places).round(2))
    assert record[0].filename == __file__


@pytest.mark.parametrize("places", [PLACES / 20, np.deg2rad(PLACES[:5]), np.empty((0, 2))])
def test_places_that_are_degrees_or_few_are_not_questioned(places):
    directions_from_lonlat(places)  # warnings are errors
