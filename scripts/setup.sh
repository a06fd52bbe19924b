#!/usr/bin/env bash
# Makes .venv from requirements.lock, every package checked against its hash, and installs the project itself editable.
# Does nothing where .venv is newer than the lock and pyproject.toml. PYTHON=… names another interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lock=requirements.lock
stamp=.venv/.installed
venv_python=.venv/bin/python

fail() {
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

recent_enough() { # does this interpreter run, and is it 3.11 or later? (a shim may exist and not run)
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

has_wheels() { # are there wheels of every package for it? wordllama has none for 3.14: pip would need a compiler
    "$1" -c 'import sys; sys.exit(sys.version_info >= (3, 14))' >/dev/null 2>&1
}

find_python() {
    local candidate found=
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
        recent_enough "$candidate" || continue
        found=${found:-$candidate}
        if has_wheels "$candidate"; then
            found=$candidate
            break
        fi
    done
    [[ -n $found ]] && printf '%s\n' "$found"
}

with_uv() {
    uv venv --quiet --python "$python" .venv &&
        uv pip sync --require-hashes --python "$venv_python" "$lock" &&
        uv pip install --quiet --no-deps --no-build-isolation --python "$venv_python" --editable .
}

with_pip() {
    "$python" -c 'import ensurepip' 2>/dev/null ||
        fail "this Python ($python) has no ensurepip, so it cannot make a virtual environment with pip. On Debian and Ubuntu: apt install python3-venv; or install uv. Then run make setup again."
    "$python" -m venv .venv ||
        fail "$python could not make .venv (see above)."
    # --no-deps: the lock is complete, and a pip that resolves it anew can reach for a later release, which has no hash
    "$venv_python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement "$lock" ||
        fail "pip could not install $lock (see above). Check the network or the package index, then run make setup again."
    # setuptools comes from the lock as well, so that building fetches nothing that has no hash
    "$venv_python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . ||
        fail "the packages are installed, but the project itself could not be (see above)."
    "$venv_python" -m pip check --disable-pip-version-check >/dev/null ||
        fail "$lock does not hold what the packages need of each other: run .venv/bin/pip check, and make lock."
}

if [[ $stamp -nt $lock && $stamp -nt pyproject.toml ]] && recent_enough "$venv_python"; then
    exit 0
fi

python=$(find_python) || fail "no Python 3.11 or later found${PYTHON:+ under the name $PYTHON}. Install one, or name it: make setup PYTHON=/path/to/python3.12"
printf 'setup: making .venv with %s (%s); a few minutes\n' "$python" "$("$python" --version 2>&1)"

rm -rf .venv
if command -v uv >/dev/null; then
    if ! with_uv; then
        printf 'setup: uv did not get through (see above); trying again with pip\n' >&2
        rm -rf .venv
        with_pip
    fi
else
    with_pip
fi
touch "$stamp"
printf 'setup: done\n'
