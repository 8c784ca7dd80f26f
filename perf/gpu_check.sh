#!/usr/bin/env bash
# Everything that needs a GPU, on a machine that has one: the tests marked `gpu` in all modes, then every app
# on a small graph under compute-sanitizer (memcheck, racecheck). Writes all it prints to the file given.
#
#   perf/gpu_check.sh perf/results/gpu-check.txt
#
# Needs Python with CuPy, Numba, SciPy, psutil, tqdm, NetworkX, Matplotlib, pytest. pytest's plugins are not
# used: PROCESSES plain pytest processes, by turns on each GPU (or those of GPUS=1,3), take the tests from one pile
# (tests/dealt.py) for LIMIT seconds. PARTS="racecheck" runs that part alone, with WATCHED seconds for each share of an
# app (racecheck is the slow one); no more than PROCESSES are watched at once. GPOP_TEST_KERNELS=max: kernels are
# optimised as little as NVRTC knows how to (12.9 or newer; also min and mid), and compiled in a fifth of the time.
# LOGS=DIR: what every process said is left there, with a line for each test. Exit code 0 when every part that was
# asked for passed.
set -uo pipefail
out=$(realpath "${1:?usage: perf/gpu_check.sh OUTPUT_FILE}")
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-python3}
processes=${PROCESSES:-$(nproc)} limit=${LIMIT:-420} watched=${WATCHED:-200}
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
export NUMBA_NUM_THREADS=4  # with all cores for each of many processes, they would wait for each other's
logs=${LOGS:-$work}

if wanted tests; then
# --- tests -------------------------------------------------------------------------------------------------
cat >"$work/pytest.ini" <<'INI'
[pytest]
markers =
    gpu: needs a CUDA device and CuPy
    slow: big or long checks
    timeout: most seconds of a test
INI
pytest=("$python" -m pytest -c "$work/pytest.ini" --rootdir "$root" -p no:cacheprovider -p no:xdist -p tests.dealt
  -v --tb=short -m gpu -o faulthandler_timeout=$((limit / 3)))  # says where it is when a test hangs
# Every file with a marked test; one that cannot be collected here is an error, not left out.
mapfile -t where < <(grep -rl 'mark\.gpu' tests --include='test_*.py' | sort)
export GPOP_TEST_CACHE=$work/jit GPOP_PILE=$work/pile GPOP_PILE_SECONDS=$limit
mkdir "$GPOP_PILE"
running=()
for ((i = 0; i < processes; i++)); do
  {
    on "$i" timeout $((limit + 30)) "${pytest[@]}" --basetemp "$work/tmp.$i" "${where[@]}" >"$logs/tests_$i.txt" 2>&1
    echo $? >"$work/tests.$i.code"
    grep -E '^(FAILED|ERROR|E  )|SKIPPED' "$logs/tests_$i.txt" | head -40
  } &
  running+=($!)
done
wait "${running[@]}"
for ((i = 0; i < processes; i++)); do
  code=$(cat "$work/tests.$i.code")
  echo "process $i: exit code $code: $(tail -n 1 "$logs/tests_$i.txt")"
  [ "$code" = 0 ] || { failed=1; tail -n 40 "$logs/tests_$i.txt"; }
done
# A test that was skipped or never came to its end has not passed.
touch "$GPOP_PILE/all" "$GPOP_PILE/done"
[ -z "${LOGS:-}" ] || cp "$GPOP_PILE/done" "$LOGS/tests.txt"
sort -k 2nr "$GPOP_PILE/done" | head -n 15 | sed 's/^/longest: /'
unmet() { comm -23 <(sort "$GPOP_PILE/all") <(cut -d ' ' -f 3- "$GPOP_PILE/done" | sort) | sed 's/^/not ended: /'; }
grep -E '^(failed|skipped)' "$GPOP_PILE/done"
unmet
count() { grep -c "^$1" "$GPOP_PILE/done"; }
all=$(wc -l <"$GPOP_PILE/all")
[ "$all" -gt 0 ] && [ "$(count passed)" = "$all" ] || failed=1
echo "tests: $(count passed) of $all passed, $(count failed) failed, $(count skipped) skipped, $(unmet | wc -l) not" \
  "ended, in $((SECONDS - started)) s$([ $failed = 0 ] || echo ', FAILED')"
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
# Blocks of these wait for each other at every level, and with others on the device take minutes in place of seconds.
alone=$("$python" -c 'from perf.gpu_sanitize import LEVELS; print(*LEVELS)') || exit 2
# `watch I TOOL APP`: its verdict is printed as it comes, so that a run that is cut off has those until then.
watch() {
  local log=$logs/$2.$3.txt code=0 began=$SECONDS
  on "$1" timeout "$watched" "$sanitizer" --tool "$2" --error-exitcode 9 "$python" -m perf.gpu_sanitize "$3" \
    >"$log" 2>&1 || code=$?
  echo "$code" >"$work/$2.$3.code"
  echo "$2 $3: exit code $code after $((SECONDS - began)) s, at $((SECONDS - started)) s, $(grep -c 'as on the CPU' "$log") answers right:" \
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
  for app in $alone; do watch 0 "$tool" "$app"; done
done
for tool in memcheck racecheck; do
  wanted "$tool" || continue
  for app in $apps $alone; do
    [ "$(cat "$work/$tool.$app.code" 2>/dev/null)" = 0 ] || { failed=1; echo "$tool $app: not clean, or never ended"; }
  done
done
echo "all: $((SECONDS - started)) s, $([ $failed = 0 ] && echo 'all is well' || echo FAILED)"
exit $failed
