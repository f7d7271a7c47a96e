"""Winds of a table: components to the east and to the north beside longitude and latitude, from the command line."""

import numpy as np
import pandas as pd
import pytest

import specavg as sa
from specavg.cli import _tables, main

WIND = ["--space", "sphere:3", "--group", "point_group:C∞", "--targets-are", "tangent vector"]


def a_wind(places):
    """Solid rotation, and a flow from the equator towards the poles."""
    latitude = np.deg2rad(places[:, 1])
    return np.column_stack([np.cos(latitude), np.sin(2 * latitude)])


@pytest.fixture
def wind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    places = np.random.default_rng(0).uniform([0, -90], [360, 90], (200, 2))
    frame = pd.DataFrame(np.hstack([places, a_wind(places)]), columns=["lon", "lat", "u", "v"])
    frame.to_csv("wind.csv", index=False)
    return frame


@pytest.mark.parametrize("held", [True, False])
def test_two_targets_of_a_tangent_vector_are_east_and_north(wind, capsys, monkeypatch, held):
    if not held:
        monkeypatch.setattr(_tables.Table, "fits_in_memory", lambda self, n_columns: False)
    asked = ["--lonlat", "--target", "u,v", *WIND, "--max-eigenvalue", "20"]
    assert main(["fit", "wind.csv", *asked, "-o", "wind.specavg", "--quiet"]) == 0
    new = np.random.default_rng(1).uniform([-180, -90], [180, 90], (50, 2))
    pd.DataFrame(new, columns=["lon", "lat"]).to_csv("new.csv", index=False)
    assert main(["predict", "wind.specavg", "new.csv", "-o", "found.csv"]) == 0
    found = pd.read_csv("found.csv")
    assert list(found) == ["prediction_u", "prediction_v"]
    np.testing.assert_allclose(found, a_wind(new), atol=1e-6)
    assert main(["info", "wind.specavg"]) == 0
    assert "'tangent vector'), to the east and to the north" in capsys.readouterr().out


def test_deviations_are_those_along_east_and_north(wind, capsys):
    """Of predictions in R³, turned by hand into the frame of each place."""
    noise = 0.1 * np.random.default_rng(2).normal(size=(200, 2))
    wind[["u", "v"]] += noise
    wind.to_csv("wind.csv", index=False)
    asked = ["--lonlat", "--target", "u,v", *WIND, "--max-eigenvalue", "20"]
    assert main(["fit", "wind.csv", *asked, "-o", "wind.specavg", "--quiet"]) == 0
    assert main(["predict", "wind.specavg", "wind.csv", "--std", "-o", "found.csv"]) == 0
    found = pd.read_csv("found.csv")
    lon, lat = np.deg2rad(wind[["lon", "lat"]].to_numpy()).T
    X = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    east = np.cross([0.0, 0.0, 1.0], X) / np.cos(lat)[:, None]
    frames = np.stack([east, np.cross(X, east)], axis=1)
    mean, covariance = sa.load("wind.specavg").predict(X, return_cov=True)
    np.testing.assert_allclose(
        found[["prediction_u", "prediction_v"]], np.einsum("nki,ni->nk", frames, mean), atol=1e-9
    )
    deviations = np.sqrt(np.einsum("nki,nij,nkj->nk", frames, covariance, frames))
    np.testing.assert_allclose(found[["std_u", "std_v"]], deviations, atol=1e-9)
    assert deviations.min() > 0


def test_two_targets_without_longitude_and_latitude_are_told_the_option(wind, capsys):
    wind.assign(w=0.0).to_csv("xyz.csv", index=False)
    asked = ["--features", "lon,lat,w", "--target", "u,v", *WIND]
    assert main(["fit", "xyz.csv", *asked, "-o", "wind.specavg"]) == 2
    assert "needs 3 targets; got 2. Components to the east and to the north go with --lonlat" in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_radians_are_questioned_in_words_of_the_command(wind, capsys):
    np.deg2rad(wind[["lon", "lat"]]).assign(u=wind["u"]).to_csv("radians.csv", index=False)
    asked = ["--lonlat", "--target", "u", "--space", "sphere:3", "--max-eigenvalue", "2"]
    assert main(["fit", "radians.csv", *asked, "-o", "m.specavg", "--quiet"]) == 0
    assert "Radians have to be converted to degrees" in capsys.readouterr().err
