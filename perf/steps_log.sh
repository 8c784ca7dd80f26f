#!/usr/bin/env bash
# The log of steps on this CPU that decision trees are trained on (perf/results/steps): breadth-first searches,
# components and shortest paths in every mode, by auto and by equation 1, on real and generated graphs.
#
#   perf/steps_log.sh GRAPHS STORE [SECONDS]
#
# GRAPHS is where the real graphs lie as NAME.txt.xz; they are kept beside the store in gpop's own format, with
# every edge in both directions and without weights. After SECONDS no run begins; the same command goes on.
set -euo pipefail
graphs=$(realpath "${1:?usage: perf/steps_log.sh GRAPHS STORE [SECONDS]}") store=$(realpath -m "${2:?}") seconds=${3:-3600}
cd "$(dirname "$0")/.."
python=${PYTHON:-python3} threads=$(nproc) end=$((SECONDS + seconds))
kept=$(dirname "$store")/graphs
mkdir -p "$kept"
perf() { "$python" -m perf "$1" "${@:2}" --store "$store"; }
add() { "$python" -m perf add --store "$store" "$@"; }

declare -A sets=(
  [citation]="cit-HepPh" [mail]="email-Enron" [net]="as-caida20071105 p2p-Gnutella31 PGPgiantcompo"
  [social]="soc-Slashdot0902 facebook_combined loc-brightkite fb100-Cornell5" [web]="cnr-2000 wordnet3"
  [road]="luxembourg_osm dimacs9-NY mpsp-Porto" [mesh]="4elt wing delaunay_n16 grid:width=300,height=300"
  [ring]="small_world:vertices=100000,degree=8,probability=0.01 small_world:vertices=60000,degree=16,probability=0.2"
  [attached]="barabasi_albert:vertices=100000,degree=8"
  [uniform]="uniform:scale=16,degree=16,symmetrize uniform:scale=18,degree=6,symmetrize"
  [rmat]="rmat:scale=13,degree=16,symmetrize rmat:scale=15,degree=16,symmetrize rmat:scale=16,degree=8,symmetrize
          rmat:scale=17,degree=16,symmetrize rmat:scale=18,degree=4,symmetrize"
)
if [ ! -f "$store" ]; then
  for set in "${!sets[@]}"; do
    specs=()
    for spec in ${sets[$set]}; do
      if [[ $spec != *:* ]]; then
        file=$kept/$spec.bin
        [ -f "$file" ] || "$python" -m gpop.convert --weights none --symmetrize "$graphs/$spec.txt.xz" "$file"
        spec=$file
      fi
      specs+=("$spec")
    done
    add graphs "$set" "${specs[@]}"
  done
fi
measure() { # APP REPEATS MODES
  add strategies "$1"
  add run-config "${!sets[@]}" --apps "$1" --threads "$threads" --repeats "$2"
  perf run-benchmarks --only "$3" --seconds $((end - SECONDS))
}
add roots bfs 2
add roots sssp 1
measure bfs 5 gpop-sc,gpop-pc,gpop-pull,gpop-auto,gpop-paper
measure cc 5 gpop-sc,gpop-pc,gpop-auto,gpop-paper
measure sssp 3 gpop-sc,gpop-pc,gpop-auto,gpop-paper
