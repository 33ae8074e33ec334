#!/usr/bin/env bash
# Chapter 5 of the thesis of Fang (2022) on our designs: data sets of the trunk and the arm, error over samples with and without
# derivatives beside the published settings, times of the inverse, paths judged by the full model.
# usage: validation/learned_paper.sh BUILD FOLDER [trunk|arm ...]      data sets in FOLDER are continued
# About 4 CPU minutes of solving for the trunk (256 + 64 samples), 10 for the arm (160 + 64), and 3 of training each.
set -eu
build=$(cd "${1:?usage: learned_paper.sh BUILD FOLDER [trunk|arm ...]}" && pwd)
mkdir -p "${2:?usage: learned_paper.sh BUILD FOLDER [trunk|arm ...]}"
cd "$2"
shift 2
pliant=$build/pliant
export OPENBLAS_NUM_THREADS=1
[ -x "$build/learned_curve" ] || { echo "build it first: tools/build release --target learned_curve"; exit 2; }
[ $# -gt 0 ] || set -- trunk arm
for robot in "$@"; do
    case $robot in
    trunk) design=bellows_trunk samples=256 hidden=35,35 path=flower:63,69:0,0,139 ;;
    arm) design=planar_arm samples=160 hidden=30,30,30 path=eight:40,40:140,0,0 ;;
    *) echo "$robot: expected trunk or arm"; exit 2 ;;
    esac
    [ -d $robot ] || "$pliant" new $design $robot >/dev/null
    "$pliant" sample $robot --samples $samples --shapes --out $robot.sqlite
    "$pliant" sample $robot --levels 4 --out $robot-test.sqlite
    "$build/learned_curve" $robot.sqlite $robot-test.sqlite $hidden $path $robot-curve.png | tee $robot-curve.txt
done
