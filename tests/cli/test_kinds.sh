#!/usr/bin/env bash
# A magnetic actuator and a law with fibres from file to answer: words, units, inverse kinematics, what is refused.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"

cp -r "$root/examples/magnet" "$root/examples/tissue" .
coarse="--size 2.5"

# the command is the strength of the field, in mT; the measure is the moment along it
expect_status 0 fk magnet $coarse --set coil=20mT --json up.json
expect_words out.txt "magnet" "field" "mA m^2" "20  mT"
expect_words up.json '"kind": "magnet"' '"drive": "field"' '"field_mt"' '"moment"'
expect_near "field reported" "$(json_number up.json field_mt)" 20 1e-9
expect_status 0 fk magnet $coarse --set coil=0.02T --json same.json
expect_near "tesla are understood" "$(json_number same.json field_mt)" 20 1e-9
# info shows the moment at rest in the unit of the kind: B V / mu0 = 143 mT * 72.24 mm^3 / mu0
expect_status 0 info magnet $coarse --json info.json
expect_words out.txt "8.22  mA m^2"
expect_near "moment at rest" "$(json_number info.json moment)" 8.22 5e-3
expect_status 2 fk magnet $coarse --set coil=20
expect_words err.txt "20 could be mT or T"
expect_status 2 fk magnet $coarse --set coil=80mT
expect_words err.txt "outside its range of -50 to 50 mT"
expect_status 0 ik magnet $coarse --target 0,0,6 --axes z
expect_words out.txt "reached" "coil"
expect_status 0 jacobian magnet $coarse --set coil=5mT
expect_words out.txt "coil" "mT"
expect_status 2 fk magnet $coarse --set coil=5mT --method local_global
expect_words err.txt "magnet" "exact"

# what is missing is named
sed 's/remanence:.*/remanence: [0 mT, 0 mT, 0 mT]/' magnet/robot.yaml > magnet/none.yaml
expect_status 2 fk magnet/none.yaml $coarse
expect_words err.txt "expected 'remanence'"
sed 's/kind: magnet/kind: chamber/' magnet/robot.yaml > magnet/other.yaml
expect_status 2 fk magnet/other.yaml $coarse
expect_words err.txt "drive of a chamber"

# fibres: their directions belong to the law, and the method local_global has none
expect_status 0 fk tissue --size 8 --json fibres.json
expect_words fibres.json '"outcome": "solved"'
sed 's/, fibres: \[\[0.866, 0.5, 0\]\]//' tissue/robot.yaml > tissue/none.yaml
expect_status 2 fk tissue/none.yaml
expect_words err.txt "0 directions of fibres"
sed 's/model: hgo/model: neo_hookean/; s/k1: 80 kPa, k2: 0.8, kappa: 0.05, //' tissue/robot.yaml > tissue/neo.yaml
expect_status 2 fk tissue/neo.yaml
expect_words err.txt "the model neo_hookean has none"
expect_status 2 fk tissue --size 8 --method local_global
expect_words err.txt "depends on a direction"
finish
