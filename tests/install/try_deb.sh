# Run in a bare system, as root: installs the Debian package, runs the command, and builds and runs a
# project of its own against the library.
set -eu
cd /trial
step() { echo "-- $(date +%T) $*"; }
install() { apt-get install -y -qq --no-install-recommends "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }; }

step "Installing the package and what it depends on"
apt-get update -qq >/dev/null
install /trial/*.deb
dpkg-query -W -f '${Package} ${Version} ${Installed-Size} KiB\n${Depends}\n' heddle
heddle --version
heddle doctor >/tmp/doctor.txt || true
grep -q "Install g++" /tmp/doctor.txt
step "Installing a compiler and CMake"
install g++ cmake make
step "Building and running a program"
cmake -S consumer -B /tmp/consumer >/dev/null
cmake --build /tmp/consumer -j 2 >/tmp/build.log 2>&1 || { cat /tmp/build.log; exit 1; }
/tmp/consumer/consumer
heddle doctor
