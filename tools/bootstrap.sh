#!/bin/sh
# Make VENV hold this package (editable) with the extras EXTRA, on a machine with Python >= 3.11 and nothing else.
#
#     tools/bootstrap.sh VENV EXTRA
#
# PYTHON=/path/to/python picks the interpreter; otherwise the first suitable one of a short list is taken.
set -eu

venv=$1
extra=$2
cd "$(dirname "$0")/.."

fail() {
    printf '\nset-up stopped: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 1
}

# Run candidates instead of trusting their names: a shim on the PATH may exist and still refuse to start.
runs() { "$1" -c 'pass' >/dev/null 2>&1; }
recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
has_venv() { "$1" -c 'import venv, ensurepip' >/dev/null 2>&1; }
version() { "$1" -c 'import platform; print(platform.python_version())'; }

find_python() {
    too_old= without_venv=
    if [ -n "${PYTHON:-}" ]; then
        set -- "$PYTHON"
    else
        set -- python3 python3.13 python3.12 python3.11 python3.14 python
    fi
    for candidate in "$@"; do
        runs "$candidate" || continue
        if ! recent "$candidate"; then
            too_old="$too_old $candidate=$(version "$candidate")"
        elif ! has_venv "$candidate"; then
            without_venv="$without_venv $candidate=$(version "$candidate")"
        else
            python=$candidate
            return
        fi
    done
    if [ -n "$without_venv" ]; then
        fail "Python is recent enough (${without_venv# }) but lacks the modules venv and ensurepip." \
            "On Debian and Ubuntu they are a package of their own: apt install python3-venv" \
            "Or name another interpreter: make PYTHON=/path/to/python ..."
    elif [ -n "$too_old" ]; then
        fail "Python >= 3.11 is needed, and only older ones were found:$too_old" \
            "Install a newer Python, or name one: make PYTHON=/path/to/python ..."
    elif [ -n "${PYTHON:-}" ]; then
        fail "PYTHON=$PYTHON does not run."
    else
        fail "no Python found (tried python3, python3.11 to python3.14, python)." \
            "Install Python >= 3.11, or name one: make PYTHON=/path/to/python ..."
    fi
}

# An environment whose interpreter was removed or upgraded away is made anew.
usable() { [ -x "$1" ] && recent "$1" && "$1" -m pip --version >/dev/null 2>&1; }
if ! usable "$venv/bin/python"; then
    find_python
    echo "creating $venv with $python ($(version "$python"))"
    "$python" -m venv --clear "$venv" ||
        fail "'$python -m venv $venv' failed; its own message is above."
fi

echo "installing specavg[$extra] into $venv"
log=$venv/pip-$extra.log
rm -f "$log"
if ! "$venv/bin/python" -m pip install --quiet --progress-bar off --disable-pip-version-check \
    --log "$log" --editable ".[$extra]"
then
    if grep -qE 'NewConnectionError|ConnectTimeout|ReadTimeout|NameResolution|ProxyError|SSLError|Retrying \(' "$log"
    then
        fail "pip could not reach the package index." \
            "Check the network and proxy settings, or point pip at a mirror (PIP_INDEX_URL)." \
            "pip's full log: $log"
    fi
    fail "pip could not install specavg[$extra]; its own message is above." \
        "A Python too new for a dependency's wheels is a common cause: try make PYTHON=python3.12 ..." \
        "pip's full log: $log"
fi
