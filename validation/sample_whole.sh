#!/usr/bin/env bash
# Data sets are whole: one process, two, two of a parallel launcher, and two that are killed 20 times at random moments give the same
# samples to the last bit. First what two processes save against one on one core. About 3 minutes on two idle cores.
# usage: validation/sample_whole.sh BUILD [SAMPLES]
set -eu
pliant=$(cd "${1:?usage: sample_whole.sh BUILD [SAMPLES]}" && pwd)/pliant
samples=${2:-320} # 20 chains of 16: two processes end nearly together
export OPENBLAS_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$pliant" new cable_finger claw >/dev/null
"$pliant" mesh claw --size 20 >/dev/null 2>&1 || true # the mesh is stored before anything is timed
run() { "$pliant" sample claw --size 20 --samples "$samples" --threads 1 "$@" >/dev/null 2>&1; }
dump() { sqlite3 "$1" "SELECT number, outcome, hex(command), hex(marker), hex(jacobian) FROM sample ORDER BY number"; }
now() { date +%s%N; }
failed=0
same() {
    dump "$2" >other.txt
    if cmp -s one.txt other.txt; then echo "same samples: $1"; else echo "DIFFERENT: $1"; failed=1; fi
}
start=$(now)
run --jobs 1 --out one.sqlite
one=$(($(now) - start))
dump one.sqlite >one.txt
start=$(now)
run --jobs 2 --out two.sqlite
two=$(($(now) - start))
awk -v a=$one -v b=$two -v load="$(cut -d' ' -f1 /proc/loadavg)" 'BEGIN { printf "one process %.1f s, two %.1f s: %.2f times (load %s; a busy machine says nothing)\n", a / 1e9, b / 1e9, a / b, load }'
same "two processes" two.sqlite
if command -v mpirun >/dev/null; then
    mpirun --allow-run-as-root --oversubscribe -n 2 "$pliant" sample claw --size 20 --samples "$samples" --out rank.sqlite >/dev/null 2>&1
    "$pliant" sample --merge ranks.sqlite rank.0-of-2.sqlite rank.1-of-2.sqlite >/dev/null
    same "mpirun -n 2, merged" ranks.sqlite
else
    echo "skipped: mpirun is not installed"
fi
seed=${SEED:-17}
RANDOM=$seed
kills=0
for _ in $(seq 20); do
    "$pliant" sample claw --size 20 --samples "$samples" --jobs 2 --out killed.sqlite >/dev/null 2>&1 &
    child=$!
    sleep "$(awk -v r=$RANDOM -v t=$one 'BEGIN { print 0.3 + r / 32768 * t / 1e9 / 8 }')"
    kill -9 $child 2>/dev/null && kills=$((kills + 1))
    wait $child 2>/dev/null || true
done
stored=$(sqlite3 killed.sqlite "SELECT count(*) FROM sample")
run --jobs 2 --out killed.sqlite
same "killed $kills times (seed $seed; $stored of $samples stored before the last run)" killed.sqlite
exit $failed
