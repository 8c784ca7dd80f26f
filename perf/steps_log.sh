#!/usr/bin/env bash
# The log of steps that decision trees are trained on (perf/results/steps): breadth-first searches, components,
# shortest paths and PageRank in every mode, by auto and by equation 1, on real and generated graphs.
#
#   perf/steps_log.sh GRAPHS STORE [SECONDS [TARGET [APP...]]]
#
# GRAPHS is where the real graphs lie as NAME.txt.xz; they are kept beside the store in gpop's own format, with
# every edge in both directions and without weights. After SECONDS no run begins; the same command goes on.
# TARGET is cpu or gpu. A GPU has larger graphs, whose local ids have one of two widths: a kernel for each.
# mix:APP, when the log of APP is there, trains a tree on 70 % of its steps and runs it (Mix-and-Match, in chapter 7
# of M. Verstraaten's thesis); training needs scikit-learn, and is not done again where the tree lies beside the store.
set -euo pipefail
graphs=$(realpath "${1:?usage: perf/steps_log.sh GRAPHS STORE [SECONDS [TARGET [APP...]]]}")
store=$(realpath -m "${2:?}") seconds=${3:-3600} target=${4:-cpu} apps=("${@:5}")
[ ${#apps[@]} -gt 0 ] || apps=(bfs cc sssp pagerank)
cd "$(dirname "$0")/.."
python=${PYTHON:-python3} end=$((SECONDS + seconds))
kept=$(dirname "$store")/graphs
mkdir -p "$kept"
perf() { "$python" -m perf "$1" "${@:2}" --store "$store"; }
add() { "$python" -m perf add --store "$store" "$@"; }

if [ "$target" = cpu ]; then
  name=gpop platform=() threads=$(nproc) series=()
  declare -A sets=(
    [citation]="cit-HepPh" [mail]="email-Enron" [net]="as-caida20071105 p2p-Gnutella31 PGPgiantcompo"
    [social]="soc-Slashdot0902 facebook_combined loc-brightkite fb100-Cornell5" [web]="cnr-2000 wordnet3"
    [road]="luxembourg_osm dimacs9-NY mpsp-Porto" [mesh]="4elt wing delaunay_n16 grid:width=300,height=300"
    [ring]="small_world:vertices=100000,degree=8,probability=0.01
            small_world:vertices=60000,degree=16,probability=0.2"
    [attached]="barabasi_albert:vertices=100000,degree=8"
    [uniform]="uniform:scale=16,degree=16,symmetrize uniform:scale=18,degree=6,symmetrize"
    [rmat]="rmat:scale=13,degree=16,symmetrize rmat:scale=15,degree=16,symmetrize
            rmat:scale=16,degree=8,symmetrize rmat:scale=17,degree=16,symmetrize rmat:scale=18,degree=4,symmetrize"
  )
else
  device=${DEVICE:-$("$python" -c "from gpop.gpu.device import current_device as d; print(d().name)")}
  name=gpop-gpu platform=(--platform "$device") threads=1 series=(--series 3)
  declare -A sets=(
    [net]="p2p-Gnutella31" [social]="soc-Slashdot0902 loc-brightkite ego-twitter" [items]="gowalla-bipartite"
    [web]="cnr-2000 wordnet3" [road]="mpsp-Porto algs4-usa-road luxembourg_osm dimacs9-NY"
    [mesh]="wing delaunay_n16 grid:width=512,height=512 grid:width=900,height=150
            grid3:width=64,height=64,depth=64 geometric:vertices=150000,degree=16"
    [ring]="small_world:vertices=300000,degree=8,probability=0.001
            small_world:vertices=250000,degree=12,probability=0.02
            small_world:vertices=200000,degree=16,probability=0.1"
    [attached]="barabasi_albert:vertices=200000,degree=8 barabasi_albert:vertices=500000,degree=4"
    [uniform]="uniform:scale=18,degree=4,seed=3 uniform:scale=18,degree=16 uniform:scale=20,degree=4,symmetrize"
    [rmat]="rmat:scale=17,degree=16,symmetrize rmat:scale=18,degree=32,symmetrize,seed=7
            rmat:scale=18,degree=8,symmetrize rmat:scale=19,degree=8 rmat:scale=20,degree=8,symmetrize,seed=6"
  )
fi
for set in "${!sets[@]}"; do
  for spec in ${sets[$set]}; do
    file=$kept/$spec.bin
    if [[ $spec != *:* && ! -f $file ]]; then
      "$python" -m gpop.convert --weights none --symmetrize "$graphs/$spec.txt.xz" "$file" &
    fi
  done
done
wait
if [ ! -f "$store" ]; then
  [ "$target" = cpu ] || add platform "$device"
  for set in "${!sets[@]}"; do
    specs=()
    for spec in ${sets[$set]}; do
      [[ $spec == *:* ]] || spec=$kept/$spec.bin
      specs+=("$spec")
    done
    add graphs "$set" "${specs[@]}"
  done
fi
measure() { # APP REPEATS MODE...
  add strategies "$1" --target "$target"
  add run-config "${!sets[@]}" --apps "$1" --threads "$threads" --repeats "$2" "${platform[@]}"
  only=$(printf ",$name-%s" "${@:3}")
  perf run-benchmarks --apps "$1" --only "${only:1}" --seconds $((end - SECONDS)) "${platform[@]}" "${series[@]}"
}
mix() { # APP
  local tree=${store%.db}-$1.json flags=("mode=tree:${store%.db}-$1.json")
  if [ ! -f "$tree" ]; then
    "$python" -m perf model --store "$store" train "$1" --app "$1" --target "$target"
    "$python" -m perf model --store "$store" export "$1" "$tree"
    [ "$target" = cpu ] || flags+=("target=$target")
    [[ $1 != cc && $1 != sssp ]] || flags+=(interleave=false)
    add implementation "$1" "$name-mix" "${flags[@]}"
  fi
  perf run-benchmarks --apps "$1" --only "$name-mix" --seconds $((end - SECONDS)) "${platform[@]}" "${series[@]}"
}
for app in "${apps[@]}"; do
  case $app in
    mix:*) mix "${app#mix:}" ;;
    bfs) add roots bfs 2; measure bfs 5 sc pc pull auto paper ;;
    cc) measure cc 5 sc pc auto paper ;;
    sssp) add roots sssp 1; measure sssp 3 sc pc auto paper ;;
    pagerank)
      by_name=()
      [ "$target" = cpu ] || by_name=(edge-list struct-edge-list reverse-edge-list reverse-struct-edge-list
        vertex-push vertex-push-warp vertex-pull vertex-pull-warp hyb)
      measure pagerank 5 sc pc pull auto paper "${by_name[@]}" ;;
    *) echo "perf/steps_log.sh: app $app: expected some of bfs, cc, sssp, pagerank, mix:APP" >&2; exit 2 ;;
  esac
done
