# Sourced by ./dev: what needs a GPU. Builds from what is on the machine and downloads nothing.

gpu() {
  local verb=${1:-} out= more=()
  [ $# -eq 0 ] || shift
  while [ $# -gt 0 ]; do
    case $1 in
      --out) out=$2; shift 2 ;;
      *) more+=("$1"); shift ;;
    esac
  done
  if [ "$verb" != peers ] && [ ${#more[@]} -gt 0 ]; then
    echo "./dev gpu $verb: no such argument: ${more[0]}" >&2
    return 2
  fi
  [ -z "$out" ] || mkdir -p "$out"
  case $verb in
    suite | bench | peers | sanitize)
      if ! has_command nvidia-smi || ! nvidia-smi -L >/dev/null 2>&1; then
        echo "./dev gpu $verb: nvidia-smi finds no GPU here." >&2
        return 3
      fi
      offline=1
      export HEDDLE_DEVICE=cuda:0
      [ "$verb" = peers ] || build  # which needs little of it
      "gpu_$verb" "$out" "${more[@]}"
      ;;
    *) usage >&2; return 2 ;;
  esac
}

gpu_suite() {
  local status=0
  say "Running every test on $HEDDLE_DEVICE"
  run_tests || status=$?
  [ -z "$1" ] || python3 tools/report.py suite "$build_folder/test.xml" >"$1/suite.json"
  return "$status"
}

gpu_bench() {
  local bench status=0
  for bench in "$build_folder"/bench/bench_*; do
    [ -x "$bench" ] && [ ! -d "$bench" ] || continue
    say "Running $(basename "$bench")"
    "$bench" --json "$build_folder/$(basename "$bench").json" || status=$?
  done
  [ -z "$1" ] || python3 tools/report.py bench "$build_folder"/bench_*.json >"$1/bench.json"
  return "$status"
}

# Peers are those that the Python at hand has; one that is missing is a line in the report.
gpu_peers() {
  local out=$1
  shift
  peers ${out:+--out "$out"} "$@"
}

# What the sanitizers run over, as folder:file. They slow a kernel down by tens of times.
sanitized_tests=(runtime:cuda_kernels frontend:jit frontend:indexing frontend:histograms
  frontend:random_families numerics:normalizations numerics:scans numerics:sorting numerics:views)

gpu_sanitize() {
  local tool test log status=0
  local -A running
  has_command compute-sanitizer || { echo "compute-sanitizer is not on the PATH." >&2; return 3; }
  for tool in memcheck racecheck; do
    running=()
    for test in "${sanitized_tests[@]}"; do
      log=$build_folder/sanitize-$tool-${test/:/-}.log
      # The tests call the driver wrongly on purpose, and start compilers, which nobody checks.
      compute-sanitizer --tool "$tool" --target-processes application-only --report-api-errors no \
        --error-exitcode 9 --log-file "$log" \
        "$build_folder/tests/test_${test%:*}" --source-file="*/${test/://}.cpp" >"$log.tests" 2>&1 &
      running[$test]=$!
    done
    for test in "${sanitized_tests[@]}"; do
      log=$build_folder/sanitize-$tool-${test/:/-}.log
      wait "${running[$test]}" || { status=$?; tail -n 40 "$log.tests"; }
      say "$tool over ${test/://}: $(tail -n 1 "$log")"
    done
  done
  [ -z "$1" ] || python3 tools/report.py sanitize "$build_folder"/sanitize-*.log >"$1/sanitize.json"
  return "$status"
}
