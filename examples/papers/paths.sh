#!/bin/sh
# The paths of the geometric papers, each with a table and a picture: sh examples/papers/paths.sh [FOLDER]
# PLIANT names the program. All five take about 15 CPU minutes.
set -eu
pliant=${PLIANT:-pliant}
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-papers}
mkdir -p "$out"
for design in bellows_trunk planar_arm; do
    [ -f "$out/$design/robot.yaml" ] || "$pliant" new $design "$out/$design"
done
follow() { # NAME ROBOT OPTIONS...: the last lines of the report; goes on where a path is not reached as a whole
    name=$1 robot=$2
    shift 2
    echo "$name"
    "$pliant" follow "$robot" "$@" --out "$out/$name.csv" --out "$out/$name.png" >"$out/$name.txt" || true
    tail -n 6 "$out/$name.txt"
}
# across and along the band that the tip of the finger reaches
across=-.65,0,.76:.76,0,.65
follow ell "$here/finger" --path ell --span 20,40 --center 82,0,-34 --plane=$across --axes xz --count 55
follow flame "$here/finger" --path flame --span 16,34 --center 84,0,-33 --plane=$across --axes xz --count 85
follow flower "$out/bellows_trunk" "$here/flower.csv"
follow eight "$out/planar_arm" --path eight --span 80,40 --center 150,60,0 --plane=0,1,0:1,0,0 --axes xy --count 200
follow box "$out/bellows_trunk" --path box --span 24,24,7 --center 0,0,142.5 --count 240
