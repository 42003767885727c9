# Run in a bare system, as root: installs the wheel with pip, which takes NumPy from its index, and runs
# kernels without a compiler and with one.
set -eu
cd /trial
step() { echo "-- $(date +%T) $*"; }
install() { apt-get install -y -qq --no-install-recommends "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }; }

step "Installing Python"
apt-get update -qq >/dev/null
install python3 python3-venv
if command -v c++ g++ clang++; then echo "This system has a compiler"; exit 1; fi
python3 -m venv /tmp/venv
step "Installing the wheel"
/tmp/venv/bin/pip install --quiet --disable-pip-version-check /trial/*.whl

cat >/tmp/program.py <<'PY'
import sys
import heddle as hd

x = hd.linspace(0.0, 1.0, 12).reshape((3, 4))
y = hd.sin(x) * 2 + x
y[y > 2] = 2
assert abs(float(hd.sum(y)) - 15.442998) < 1e-4, float(hd.sum(y))
assert hd.sort(hd.array([3.0, 1.0, 2.0] * 1000))[999] == 1
hd.savez_compressed("/tmp/x.npz", y=y)
assert hd.array_equal(hd.load("/tmp/x.npz")["y"], y)
compiled = hd.statistics()["compiler_runs"]
print("compiled:", compiled)
sys.exit(0 if (compiled > 0) == (sys.argv[1] == "compiled") else 1)
PY
step "Running without a compiler: the right result, and a message that says what to install"
/tmp/venv/bin/python /tmp/program.py interpreted 2>/tmp/messages
cat /tmp/messages
grep -q "Install g++" /tmp/messages
step "Installing a compiler for kernels"
install g++
step "Running with it"
/tmp/venv/bin/python /tmp/program.py compiled 2>/tmp/messages
[ ! -s /tmp/messages ] || { cat /tmp/messages; exit 1; }
step "Running from the cache"
/tmp/venv/bin/python /tmp/program.py cached || { echo "programs were compiled again"; exit 1; }
