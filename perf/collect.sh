#!/usr/bin/env bash
# The results of perf/results that need many cores and a GPU, within a time: the GPU's table, the scaling table,
# the share of the bandwidth, and the figures (those last, as far as the time goes). What OUT has already is not measured again.
#
#   [SECONDS_IN_ALL=280] [SCALE=22] [SCALES=20] [REAL=FOLDER] perf/collect.sh OUT [BEFORE]
#
# BEFORE is the OUT of an earlier call that is to be continued. OUT gets gpu.txt, scaling.txt, machine.txt,
# log.txt and figures.tar.gz (index.md, pictures, and perf.db, from which the next call goes on). SCALE is of the RMAT graph of
# both tables, SCALES of those of the figures, REAL where the real graphs lie (python -m perf figures --help).
# Exit code 0 when nothing is left to measure. Kernels of the CPU are compiled while the GPU is measured.
set -uo pipefail
out=$(realpath -m "${1:?usage: perf/collect.sh OUT [BEFORE]}")
before=${2:+$(realpath "$2")}
end=${SECONDS_IN_ALL:-280} scale=${SCALE:-22} drawing=45
cd "$(dirname "$0")/.."
real=${REAL:+$(realpath "$REAL")}
python=${PYTHON:-python3}
export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH}
mkdir -p "$out"
[ -n "$before" ] && cp -n "$before"/*.txt "$before"/*.gz "$out" 2>/dev/null
exec > >(tee -a "$out/log.txt") 2>&1
cores=$(nproc)
teams=1
for ((t = 2; t <= cores; t *= 2)); do teams+=,$t; done
status=0
left() { echo $((end - SECONDS)); }
step() { # FILE COMMAND...: run it unless the file is there; it has the time that is left
  local file=$1
  shift
  [ -f "$out/$file" ] && { echo "$file: there already"; return; }
  [ "$(left)" -gt 5 ] || { echo "$file: no time left"; status=1; return; }
  timeout --signal=INT --kill-after=5 "$(left)" "$python" -m perf "$@" || status=1
  echo "$file: after $SECONDS s"
}

warm=
if [ ! -f "$out/scaling.txt" ]; then
  "$python" -m perf scaling --scale 10 --threads "1,$cores" --rounds 1 >/dev/null 2>&1 &
  warm=$!
fi
step gpu.txt gpu --scales "$scale" --rounds 3 --out "$out/gpu.txt"
[ -n "$warm" ] && wait "$warm"
step scaling.txt scaling --scale "$scale" --threads "$teams" --rounds 3 --out "$out/scaling.txt"
step machine.txt machine "rmat:scale=$scale" "uniform:scale=$scale" --out "$out/machine.txt"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -f "$out/figures.tar.gz" ] && tar -xzf "$out/figures.tar.gz" -C "$work"
minutes=$(awk -v left="$(left)" -v drawing=$drawing 'BEGIN { m = (left - drawing) / 60; print (m > 0 ? m : 0) }')
timeout --signal=INT --kill-after=5 "$(($(left) > 10 ? $(left) - 5 : 5))" "$python" -m perf figures \
  --folder "$work/figures" --scales "${SCALES:-20}" --repeats 3 --budget "$minutes" ${real:+--real "$real"} \
  | tee "$work/said" || status=1
grep -q 'left for the next call' "$work/said" && status=1
[ -d "$work/figures" ] && tar -czf "$out/figures.tar.gz" -C "$work" figures
echo "all: $SECONDS s$([ $status = 0 ] || echo ', something is left or failed: call again with BEFORE')"
exit $status
