#!/bin/sh
# Drives the crawler through voltage cycles and lets it walk: cycle.sh [ROBOT] [HIGHEST] [POINTS] [CYCLES]
#
# Feet that grip in one direction only: while the voltage rises the robot lengthens, its rear foot stands and the
# front one is pushed forward; while it falls the front foot stands and the rear one is pulled along. Writes up.csv
# and down.csv (what pliant sweep writes) and walk.csv (both feet on the ground, mm) into the working directory.
set -eu
here=$(dirname "$0")
robot=${1:-$here/robot.yaml}
highest=${2:-8kV}
points=${3:-9}
cycles=${4:-3}
# $PLIANT, an installed one, or the one built here
pliant=${PLIANT:-$(command -v pliant || echo "$here/../../build/pliant")}

state=$(mktemp -u)
trap 'rm -f "$state"' EXIT
"$pliant" sweep "$robot" --set "voltage=0:$highest:$points" --out up.csv --state "$state"
"$pliant" sweep "$robot" --set "voltage=$highest:0:$points" --out down.csv --state "$state"

awk -F, -v cycles="$cycles" '
    FNR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; phase++; next }
    {
        n[phase]++
        volt[phase, n[phase]] = $column["voltage [V]"]
        span[phase, n[phase]] = $column["front.x [mm]"]
        top[phase, n[phase]] = ($column["top_left.z [mm]"] + $column["top_right.z [mm]"]) / 2
    }
    END {
        print "cycle,voltage [V],rear [mm],front [mm],top [mm]"
        rear = 0
        front = span[1, 1]
        for (c = 1; c <= cycles; ++c) {
            for (phase = 1; phase <= 2; ++phase) {
                for (i = 1; i <= n[phase]; ++i) {
                    if (phase == 1) front = rear + span[phase, i]
                    else rear = front - span[phase, i]
                    printf "%d,%g,%.4f,%.4f,%.4f\n", c, volt[phase, i], rear, front, top[phase, i]
                }
            }
        }
        if (n[1] != n[2]) exit 1
    }' up.csv down.csv > walk.csv

awk -F, 'NR > 1 { rear[$1] = $3; last = $1 }
    END { for (c = 1; c <= last; ++c) printf "cycle %d: the rear foot stands at %.3f mm, a step of %.3f mm\n", c, rear[c], rear[c] - rear[c - 1] }' walk.csv
