# Sourced by ./dev: brings a machine to where the tree builds and its tests run. Where nothing is
# missing, nothing is asked of the network.

# name | how to tell that it is there | Debian package
requirements() {
  cat <<'TXT'
C++ compiler|has_command c++|g++
CMake|has_command cmake|cmake
Ninja|has_command ninja|ninja-build
Python 3|has_command python3|python3
Python's headers|has_python_headers|python3-dev
fmt|has_header fmt/format.h|libfmt-dev
spdlog|has_header spdlog/spdlog.h|libspdlog-dev
nlohmann-json|has_header nlohmann/json.hpp|nlohmann-json3-dev
CLI11|has_header CLI/CLI.hpp|libcli11-dev
doctest|has_header doctest/doctest.h|doctest-dev
xxhash|has_xxhash|libxxhash-dev
OpenBLAS|has_library libopenblas.so.0|libopenblas0-pthread
OpenSSL|has_library libcrypto.so.3|libssl3
TXT
}

# The same for what is built without where it cannot be had.
options() {
  cat <<'TXT'
ccache|has_command ccache|ccache
libzip|has_header zip.h|libzip-dev
Highway|has_header hwy/contrib/sort/vqsort.h|libhwy-dev
TXT
}

has_command() { command -v "$1" >/dev/null; }
has_header() { printf '#include <%s>\n' "$1" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1; }
has_library() { ldconfig -p 2>/dev/null | grep -qF "$1" || /sbin/ldconfig -p | grep -qF "$1"; }
has_python_headers() {
  python3 -c 'import os, sysconfig
os.stat(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null
}
# cmake/Findxxhash.cmake also takes the header from pyarrow.
has_xxhash() { has_header xxhash.h || python3 -c 'import pyarrow' 2>/dev/null; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt_install() {
  if ! has_command apt-get; then
    echo "Missing: $*. Install them with this system's package manager (the names are Debian's)." >&2
    return 1
  fi
  say "Installing $* with apt"
  as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends "$@"
}

# The packages that the list's checks miss, in one line.
missing_packages() {
  local name check package
  while IFS='|' read -r name check package; do
    $check || { echo "   missing: $name" >&2; echo -n "$package "; }
  done
}

setup_packages() {
  local missing optional
  missing=$(requirements | missing_packages)
  optional=$(options | missing_packages)
  [ -z "$missing" ] || apt_install $missing
  [ -z "$optional" ] || [ -n "${offline:-}" ] || apt_install $optional || say "Continuing without $optional"
}

setup_tool() {
  has_command "$1" || apt_install "$1"
}

has_oracle_packages() {
  "$1" -c 'import numpy, ml_dtypes; assert int(numpy.__version__.split(".")[0]) >= 2' 2>/dev/null
}
has_modules() {
  local python=$1
  shift
  "$python" -c 'import importlib.util, sys
assert all(importlib.util.find_spec(name) for name in sys.argv[1:])' "$@" 2>/dev/null
}
# Offline, tests beside a neighbour that is missing are skipped.
has_module_packages() {
  local neighbours=(array_api_compat dask einops matplotlib mpi4py pandas scipy sklearn xarray)
  [ -z "${offline:-}" ] || neighbours=()
  has_oracle_packages "$1" && has_modules "$1" nanobind pytest "${neighbours[@]}"
}

# The Python that tests/oracle runs in, and that the module is built for: this machine's, or .venv.
oracle_python() {
  if [ -x .venv/bin/python ] && has_oracle_packages .venv/bin/python; then
    echo "$PWD/.venv/bin/python"
  else
    command -v python3
  fi
}

make_venv() {
  [ -x .venv/bin/python ] && return
  say "Making .venv"
  python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
  python3 -m venv .venv
}

setup_python() {
  if ! has_oracle_packages "$(oracle_python)"; then
    make_venv
    say "Installing $(tr '\n' ' ' <tests/oracle/requirements.txt)into .venv"
    .venv/bin/pip install --quiet --disable-pip-version-check -r tests/oracle/requirements.txt
  fi
}

# The Python module is built with nanobind and tested with pytest.
setup_python_module() {
  ! has_module_packages "$(oracle_python)" || return 0
  make_venv
  say "Installing packages to build and test the Python module into .venv"
  .venv/bin/pip install --quiet --disable-pip-version-check \
    -r tests/python/requirements.txt -r tests/oracle/requirements.txt
}

# What builds the site of docs/. Doxygen reads the public headers.
setup_docs() {
  setup_tool doxygen
  make_venv
  .venv/bin/python -c 'import breathe, furo, myst_parser, sphinx, sphinx_copybutton' 2>/dev/null && return
  say "Installing $(tr '\n' ' ' <docs/requirements.txt)into .venv"
  .venv/bin/pip install --quiet --disable-pip-version-check -r docs/requirements.txt
}

has_nvrtc() {
  has_library libnvrtc.so ||
    compgen -G '/usr/local/cuda*/lib*/libnvrtc.so*' >/dev/null ||
    compgen -G "${CUDA_PATH:-${CUDA_HOME:-/nonexistent}}/lib*/libnvrtc.so*" >/dev/null ||
    compgen -G '.venv/lib/python3*/site-packages/nvidia/cu13/lib/libnvrtc.so*' >/dev/null
}

# NVRTC compiles the emitted CUDA in the tests, GPU or not. Heddle itself does without it.
setup_nvrtc() {
  has_nvrtc && return
  make_venv
  say "Installing NVRTC from PyPI into .venv (there is no CUDA toolkit here)"
  .venv/bin/pip install --quiet --disable-pip-version-check -r tools/nvrtc-requirements.txt
}

has_browser() {
  has_command chromium-headless-shell || has_command chromium || has_command google-chrome
}

# The page of `heddle explain --html` is tested in a browser, whose smallest package Debian has.
setup_browser() {
  has_browser || [ -n "${offline:-}" ] || apt_install chromium-headless-shell ||
    say "Continuing without a browser: tests/page is skipped"
}

setup() {
  say "Checking what the build needs"
  setup_packages
  setup_python
  setup_python_module
  setup_nvrtc
  # Heddle looks for CUDA's libraries in the active virtual environment too.
  if [ -d .venv ]; then export VIRTUAL_ENV=$PWD/.venv; fi
}

# Reports name the commit; a copy of the tree without .git reads it from .commit, and one whose .git
# is not of the tree takes it from HEDDLE_COMMIT.
record_commit() {
  if [ -n "${HEDDLE_COMMIT:-}" ]; then
    echo "$HEDDLE_COMMIT" >.commit
    return
  fi
  git rev-parse HEAD >/dev/null 2>&1 || return 0
  local commit
  commit=$(git rev-parse HEAD)
  [ -z "$(git status --porcelain 2>/dev/null)" ] || commit+=-modified
  echo "$commit" >.commit
}
