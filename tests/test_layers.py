"""Which part of the package may import which: the real tree obeys, and the check can fail."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tools" / "check_layers.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_layers", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_layers"] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


check_layers = _load()

# A small tree that obeys; each case below changes one file of it.
OBEDIENT = {
    "__init__.py": "def __getattr__(name):\n    from .estimators import _fit\n    return _fit\n",
    "_config.py": "import os\n",
    "isometries.py": "from ._config import limit\n",
    "spaces/__init__.py": "from ._torus import Torus\n",
    "spaces/_torus.py": "import numpy as np\nfrom .. import isometries\nfrom ..isometries import shift\n",
    "groups/__init__.py": "from specavg.isometries import permutation\n",
    "invariants/__init__.py": "from ..spaces import Torus\nfrom ..groups import trivial\n",
    "estimators/__init__.py": "",
    "estimators/_fit.py": (
        "from typing import TYPE_CHECKING\n"
        "from ..invariants import invariant_basis\n"
        "if TYPE_CHECKING:\n    from ..spaces import Torus\n"
    ),
    "estimators/_symmetrized.py": "from ..spaces import Torus\nfrom ._fit import Fit\n",
    "baselines/__init__.py": "from ..estimators import _fit\nfrom ..spaces import Torus\n",
    "testing.py": "from .invariants import invariant_basis\n",
    "experiments/__init__.py": "import specavg\nfrom .. import testing\nfrom ..baselines import Ridge\n",
    "cli.py": "from .experiments import run\nfrom specavg import Torus\n",
    "__main__.py": "from .cli import main\n",
}


def _tree(folder: Path, **changed: str) -> Path:
    package = folder / "specavg"
    for name, source in (OBEDIENT | changed).items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    return package


def test_the_package_obeys():
    found = check_layers.violations(ROOT / "src" / "specavg")
    assert not found, "\n".join(map(str, found))


def test_an_obedient_tree_passes(tmp_path):
    found = check_layers.violations(_tree(tmp_path))
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize(
    "file, source, line",
    [
        ("spaces/_torus.py", "from ..groups import trivial\n", 1),
        ("spaces/_torus.py", "import specavg.groups\n", 1),
        ("spaces/_torus.py", "import os\nfrom specavg import groups\n", 2),
        ("spaces/_torus.py", "def f():\n    from ..estimators._fit import Fit\n    return Fit\n", 2),
        ("spaces/_torus.py", "import importlib\nm = importlib.import_module('specavg.groups')\n", 2),
        (
            "spaces/_torus.py",
            "from importlib import import_module\nm = import_module('..groups', __package__)\n",
            2,
        ),
        ("spaces/_torus.py", "import specavg as sa\n", 1),
        ("spaces/_torus.py", "from specavg import InvariantFeatures\n", 1),
        ("spaces/_torus.py", "from .. import *\n", 1),
        ("spaces/_torus.py", "try:\n    from .. import testing\nexcept ImportError:\n    pass\n", 2),
        ("spaces/__init__.py", "from ..invariants import invariant_basis\n", 1),
        ("groups/__init__.py", "from ..spaces import Torus\n", 1),
        ("isometries.py", "from .spaces import Torus\n", 1),
        ("_config.py", "from . import isometries\n", 1),
        ("invariants/__init__.py", "from ..io import load\n", 1),
        ("regression/_sums.py", "from ..spaces import Torus\n", 1),
        ("regression/_sums.py", "from ..groups._catalogue import trivial\n", 1),
        ("regression/_sums.py", "if not TYPE_CHECKING:\n    from ..spaces import Torus\n", 2),
        ("regression/_sums.py", "if TYPE_CHECKING:\n    pass\nelse:\n    from ..spaces import Torus\n", 4),
        ("estimators/_fit.py", "if TYPE_CHECKING:\n    from ..baselines import KernelRidge\n", 2),
        ("estimators/_symmetrized.py", "from ..baselines import KernelRidge\n", 1),
        ("baselines/__init__.py", "from ..experiments import run\n", 1),
        ("testing.py", "from .experiments import run\n", 1),
        ("experiments/__init__.py", "from ..cli import main\n", 1),
        ("newcomer.py", "import os\n", 1),
    ],
)
def test_an_import_that_is_not_allowed_is_found_at_its_line(tmp_path, file, source, line):
    package = _tree(tmp_path, **{file: source})
    found = check_layers.violations(package)
    assert [(v.file, v.line) for v in found] == [(package / file, line)]


def test_the_script_names_file_line_and_rule_and_fails(tmp_path):
    package = _tree(tmp_path, **{"groups/__init__.py": "import os\nfrom ..spaces import Torus\n"})
    run = subprocess.run([sys.executable, SCRIPT, package], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 1
    assert f"{Path('specavg', 'groups', '__init__.py')}:2: groups may not import spaces" in run.stdout


def test_the_script_does_not_pass_when_there_is_nothing_to_check(tmp_path):
    run = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 2
