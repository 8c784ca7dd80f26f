#!/usr/bin/env bash
# Everything that needs a GPU, on a machine that has one: the tests marked `gpu` in all modes, then every app
# on a small graph under compute-sanitizer (memcheck, racecheck). Writes all it prints to the file given.
#
#   perf/gpu_check.sh perf/results/gpu-check.txt
#
# Needs Python with CuPy, Numba, SciPy, psutil, tqdm, NetworkX, Matplotlib, pytest. pytest's plugins are not
# used: tests are dealt out to PROCESSES plain pytest processes, by turns on each GPU (or those of GPUS=1,3); LIMIT is
# the most seconds of one. PARTS="racecheck" runs that part alone, with WATCHED seconds for each app (racecheck is the
# slow one); no more than PROCESSES apps are watched at once. GPOP_TEST_KERNELS=quick: kernels of the tests are optimised
# less, and compiled in a third of the time (NVRTC 12.9 or newer). LOGS=DIR: what every process said is left there. Exit code 0 when every part that was asked for passed.
set -uo pipefail
out=$(realpath "${1:?usage: perf/gpu_check.sh OUTPUT_FILE}")
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-python3}
processes=${PROCESSES:-8} limit=${LIMIT:-420} watched=${WATCHED:-200}
parts=" ${PARTS:-tests memcheck racecheck} "
wanted() { [[ $parts == *" $1 "* ]]; }
for part in $parts; do
  [[ " tests memcheck racecheck " == *" $part "* ]] || { echo "PARTS: no part is named $part" >&2; exit 2; }
done
# `on I COMMAND...`: all GPUs are seen, the I-th of those in turn first: it is used unless a program asks for another.
mapfile -t there < <(nvidia-smi --query-gpu=index --format=csv,noheader)
mapfile -t gpus < <(tr ' ,' '\n' <<<"${GPUS:-${there[*]}}")
on() {
  local first=${gpus[$(($1 % ${#gpus[@]}))]}
  CUDA_VISIBLE_DEVICES=$first$(printf '%s\n' "${there[@]}" | grep -vx "$first" | sed 's/^/,/' | tr -d '\n') "${@:2}"
}
[ "${#there[@]}" -gt 0 ] || { echo "no GPU is here" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} XDG_CACHE_HOME=$work/cache PYTHONUNBUFFERED=1
: >"$out"
exec > >(tee -a "$out") 2>&1
started=$SECONDS failed=0

"$python" -m perf.provenance gpu perf/gpu_check.sh "$@" || exit 2
echo

if wanted tests; then
# --- tests -------------------------------------------------------------------------------------------------
cat >"$work/pytest.ini" <<'INI'
[pytest]
markers =
    gpu: needs a CUDA device and CuPy
    slow: big or long checks
    timeout: most seconds of a test
INI
pytest=("$python" -m pytest -c "$work/pytest.ini" --rootdir "$root" -p no:cacheprovider -p no:xdist -v --tb=short -m gpu
  -o faulthandler_timeout=$((limit / 3)))  # says where it is when a test hangs
# Every file with a marked test; one that cannot be collected here is an error, not left out.
mapfile -t where < <(grep -rl 'mark\.gpu' tests --include='test_*.py' | sort)
"${pytest[@]}" -qq --collect-only "${where[@]}" >"$work/collected" 2>&1 || { cat "$work/collected"; exit 2; }
grep '::' "$work/collected" >"$work/tests"
# With `-c` elsewhere, names are relative to that file: what counts begins with tests/.
sed -i 's|^.*\(tests/\)|\1|' "$work/tests"
# Dealt out at random, the same way every time: processes come to one kernel at different times, so that all but
# the first find it compiled, and none has all the long tests.
shuf --random-source=<(yes) "$work/tests" | split -n "r/$processes" - "$work/part."
export GPOP_TEST_CACHE=$work/jit
running=()
for part in "$work"/part.??; do
  {
    on ${#running[@]} timeout "$limit" xargs -d '\n' -a "$part" "${pytest[@]}" >"$part.log" 2>&1
    echo $? >"$part.code"
    [ -z "${LOGS:-}" ] || cp "$part.log" "$LOGS/tests_${part##*.}.txt"
    echo "process ${part##*.} after $((SECONDS - started)) s: $(tail -n 1 "$part.log")"
    grep -E '^(FAILED|ERROR|E  )|SKIPPED' "$part.log" | head -40
  } &
  running+=($!)
done
wait "${running[@]}"
for part in "$work"/part.??; do
  code=$(cat "$part.code")
  echo "process ${part##*.}: $(wc -l <"$part") tests, exit code $code: $(tail -n 1 "$part.log")"
  [ "$code" = 0 ] || { failed=1; tail -n 40 "$part.log"; }
done
# A test that was skipped or never came to its turn has not passed.
all=$(wc -l <"$work/tests")
passed=$(grep -ohE '[0-9]+ passed' "$work"/part.??.log | awk '{ sum += $1 } END { print sum + 0 }')
[ "$passed" = "$all" ] || failed=1
echo "tests: $passed of $all passed in $((SECONDS - started)) s$([ $failed = 0 ] || echo ', FAILED')"
fi
wanted memcheck || wanted racecheck || exit $failed

# --- compute-sanitizer ---------------------------------------------------------------------------------------
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
if [ -z "$sanitizer" ]; then
  echo "compute-sanitizer is not here: not run"
  exit 1
fi
"$sanitizer" --version | tail -n 2
apps=$("$python" -c 'from perf.gpu_sanitize import WATCHED; print(*WATCHED)') || exit 2
# `watch I TOOL APP`: its verdict is printed as it comes, so that a run that is cut off has those until then.
watch() {
  local log=$work/$2.$3.log code=0
  on "$1" timeout "$watched" "$sanitizer" --tool "$2" --error-exitcode 9 "$python" -m perf.gpu_sanitize "$3" \
    >"$log" 2>&1 || code=$?
  echo "$code" >"$work/$2.$3.code"
  echo "$2 $3: exit code $code after $((SECONDS - started)) s, $(grep -c 'as on the CPU' "$log") answers right:" \
    "$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | tail -n 1)"
  [ "$code" = 0 ] || tail -n 30 "$log"
}
running=()
for tool in memcheck racecheck; do
  wanted "$tool" || continue
  turn=0
  for app in $apps; do
    while [ "$(jobs -rp | wc -l)" -ge "$processes" ]; do wait -n; done
    watch $((turn++)) "$tool" "$app" &
    running+=($!)
  done
done
wait "${running[@]}"
for tool in memcheck racecheck; do
  wanted "$tool" || continue
  for app in $apps; do
    [ "$(cat "$work/$tool.$app.code" 2>/dev/null)" = 0 ] || { failed=1; echo "$tool $app: not clean, or never ended"; }
  done
done
echo "all: $((SECONDS - started)) s, $([ $failed = 0 ] && echo 'all is well' || echo FAILED)"
exit $failed
