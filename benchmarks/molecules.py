"""Methane from few geometries with forces, beside sGDML on the same splits."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.molecules_data import molecule, rms, split
from benchmarks.timing import row

SIZES, SEEDS = (50, 100, 200), range(10)


def methane() -> list[dict[str, Any]]:
    peers = json.loads((Path(__file__).parent / "molecules_peers.json").read_text(encoding="utf-8"))["sGDML methane"]
    symbols, R, E, G = molecule("methane")
    sa.InvariantPotential(symbols, degree=2).fit(R[:10], E[:10], -G[:10]).forces(R[:10])  # compiles
    rows, ratios, seconds = [], [], []
    for n in SIZES:
        found = []
        for seed in SEEDS:
            train, _, test = split(len(E), n, seed)
            start = time.process_time()
            model = sa.InvariantPotential(symbols).fit(R[train], E[train], -G[train])
            fitted = time.process_time() - start
            start = time.process_time()
            energies, forces = model.energy_and_forces(R[test])
            seconds.append((time.process_time() - start) / len(test) * 1e4)
            found.append([rms(energies - E[test]), rms(forces + G[test]), fitted])
        energy, gradient, fit_seconds = np.mean(found, axis=0)
        theirs = [peer for peer in peers if peer["n"] == n and peer["seed"] in SEEDS]
        other = {key: float(np.mean([peer[key] for peer in theirs])) for key in ("energy", "gradient")}
        ratios.append((energy / other["energy"], gradient / other["gradient"]))
        rows.append(
            row(
                f"methane from {n} geometries with forces: error of energies over sGDML 1.0.3",
                ratios[-1][0],
                note=f"{energy:.2f} and {other['energy']:.2f} cm⁻¹; forces {gradient:.1f} and {other['gradient']:.1f} "
                f"cm⁻¹/Å; means of {len(found)} splits; {fit_seconds:.1f} s of one core",
            )
        )
    largest = np.max(ratios, axis=0)
    name = "methane from 50, 100, 200 geometries with forces, largest error of {} over sGDML 1.0.3"
    fast = float(np.median(seconds))
    slow = float(np.median([peer["predict_cpu_seconds_per_1e4"] for peer in peers]))
    return [
        row(name.format("energies"), largest[0], 0.35, at_most=True),
        row(name.format("forces"), largest[1], 0.3, at_most=True),
        *rows,
        row(
            "energies and forces of 10^4 geometries of methane, over sGDML",
            slow / fast,
            seconds=fast,
            note=f"{fast:.3f} and {slow:.2f} CPU seconds, the latter measured once, on a machine of the same kind",
        ),
    ]
