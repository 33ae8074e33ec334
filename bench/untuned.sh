#!/usr/bin/env bash
# Five robots that nobody tuned to (bench/robots): counts and CPU time from rest and of ten moves of 2 %, beside CalculiX
# where it has the drive; then, where perf is installed, the share of factor, solves, element loops and the rest in the CPU
# time of a solve from rest, of the moves, and of an inverse solve.
#
#   bench/untuned.sh BUILD [counts|profile] [NAME ...]        default: both, all five
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${1:-build}" && pwd)
what=${2:-both}
names=("${@:3}")
[ ${#names[@]} -gt 0 ] || names=(hook bellows trunk twin stub)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp bench/robots/* "$work"
export PLIANT_THREADS=1

if [ "$what" != profile ]; then
    "$build/bench_untuned" "$work" all "${names[@]}" || true
fi
[ "$what" != counts ] || exit 0
command -v perf >/dev/null || { echo "skipped: perf is not installed"; exit 0; }

# samples by kind: BLAS of level 3 and fronts, BLAS of level 2 and substitution, elements and assembly, the rest
kinds() {
    perf report -i "$work/perf.data" --stdio --sort sym -n 2>/dev/null | awk '
        $1 !~ /%$/ { next }
        { n = $2; all += n }
        /gemm|trsm|syrk|trmm|front_|multifrontal_update|multifrontal_factor|potrf|sytrf/ { factor += n; next }
        /substitute|gemv|trsv|dot_k|axpy_k|scal_k|linear_solve/ { solve += n; next }
        /kernel_|eval_|pl_block|pl_element|pairs_assemble|elements_|bound|pl_volume|pl_law|pl_eigen3|pl_polar3|mass_|functional/ { element += n; next }
        { rest += n }
        END { print all + 0, factor + 0, solve + 0, element + 0, rest + 0 }'
}
measure() { perf record -q -F 499 -o "$work/perf.data" "$@" >"$work/out.txt" 2>&1 || true; }
row() { awk -v name="$1" -v a="$2" -v b="$3" 'BEGIN { split(a, x); split(b, y); t = x[1] - y[1]
    if (t < 20) { printf "%-20s too few samples\n", name; exit }
    printf "%-20s %8.2f %7.0f %7.0f %7.0f %7.0f\n", name, t / 499, 100 * (x[2] - y[2]) / t, 100 * (x[3] - y[3]) / t,
        100 * (x[4] - y[4]) / t, 100 * (x[5] - y[5]) / t }'; }

printf '%-20s %8s %7s %7s %7s %7s\n' "share of CPU, %" "CPU s" factor solve element rest
for name in "${names[@]}"; do
    "$build/pliant" info "$work/$name.yaml" >/dev/null # the mesh
    measure "$build/bench_untuned" "$work" cold "$name"
    cold=$(kinds)
    row "$name, cold" "$cold" "0 0 0 0 0"
    measure "$build/bench_untuned" "$work" ours "$name"
    row "$name, ten moves" "$(kinds)" "$cold"
    # the place of the tip at a quarter of the commands, as a target from rest
    set=$(case $name in hook) echo air=15kPa ;; bellows) echo air=8kPa ;; trunk) echo a=6 ;; twin) echo one=10kPa ;; stub) echo air=4kPa ;; esac)
    target=$("$build/pliant" fk "$work/$name.yaml" --set "$set" --json - 2>/dev/null |
        python3 -c 'import json,sys; print(*json.load(sys.stdin)["markers"]["tip"]["position"], sep=",")')
    measure "$build/pliant" ik "$work/$name.yaml" --marker tip --target "$target" --tolerance 0.05
    row "$name, inverse" "$(kinds)" "0 0 0 0 0"
done
