#!/usr/bin/env bash
# simulate and modes: motions from an equilibrium, the undeformed body and a saved state; ramps and tables; what
# is refused.
. "$(dirname "$0")/lib.sh"

expect_status 0 new beam beam
coarse="--size 30" # words and laws are tested here, not accuracy

# free vibrations: the frequency of modes is that of a release
expect_status 0 modes beam $coarse --count 3 --json m.json --out mode.glb
expect_words out.txt "frequency [Hz]"
expect_file mode.glb
expect_near "modes" "$(grep -c frequency_hz m.json)" 3 0
expect_status 2 modes beam $coarse --count 50
expect_words err.txt "--count"

# let go under gravity: columns with units, energy in every row, at least as much lost as gained
expect_status 0 simulate beam $coarse --until 0.2s --start undeformed --every 10ms --out fall.csv --out fall.pvd --save-state fall.state
expect_words fall.csv "t [s]"
expect_words fall.csv "tip.z [mm]"
expect_words fall.csv "tip.vz [mm/s]"
expect_words fall.csv "imbalance [mJ]"
expect_near "rows" "$(wc -l <fall.csv)" 22 0
expect_words out.txt "energy [mJ]"
for f in fall.pvd fall_0000.vtu fall_0020.vtu fall.state; do expect_file "$f"; done
expect_near "gains no energy" "$(tail -n +2 fall.csv | awk -F, '$NF > 1e-3 {n++} END {print n + 0}')" 0 0

# goes on from the state, to the same rows as in one run
expect_status 0 simulate beam $coarse --until 0.3s --start fall.state --every 10ms --out on.csv
expect_status 0 simulate beam $coarse --until 0.3s --start undeformed --every 10ms --out whole.csv
expect_near "tip at the end" "$(tail -1 on.csv | cut -d, -f5)" "$(tail -1 whole.csv | cut -d, -f5)" 0.05

# a state of a motion is a start for statics too
expect_status 0 fk beam $coarse --state fall.state --save-state rest.state --no-mesh-error

# at rest in its equilibrium nothing moves
expect_status 0 simulate beam $coarse --until 0.1s --every 50ms --out rest.csv
expect_near "stays" "$(tail -1 rest.csv | cut -d, -f5)" "$(sed -n 2p rest.csv | cut -d, -f5)" 1e-3

# a ramp and the same ramp as a table
printf 't [ms],tendon [mm]\n0,0\n50,4\n200,4\n' >c.csv
expect_status 0 simulate beam $coarse --until 0.2s --set tendon=4mm --ramp 50ms --every 20ms --out ramp.csv
expect_status 0 simulate beam $coarse --until 0.2s --table c.csv --every 20ms --json table.json
expect_words table.json '"outcome": "done"'
expect_words table.json '"tendon [mm]"'
expect_status 0 simulate beam $coarse --until 0.2s --table c.csv --every 20ms --out table.csv
expect_near "tip of the table" "$(tail -1 table.csv | cut -d, -f5)" "$(tail -1 ramp.csv | cut -d, -f5)" 0.05

# what is wrong is named
expect_status 2 simulate beam $coarse
expect_words err.txt "--until"
expect_status 2 simulate beam $coarse --until 1s --mass nose=5g
expect_words err.txt "nose"
expect_status 2 simulate beam $coarse --until 1s --start nowhere.state
expect_status 2 simulate beam $coarse --until 1s --table c.csv --set tendon=1mm
expect_words err.txt "--set and --ramp"
printf 't,tendon [mm]\n1,0\n0,4\n' >bad.csv
expect_status 2 simulate beam $coarse --until 1s --table bad.csv
expect_words err.txt "bad.csv:3"
sed 's/density: [^,}]*/density: 0 kg\/m^3/' beam/robot.yaml >beam/weightless.yaml
expect_status 2 simulate beam/weightless.yaml $coarse --until 1s
expect_words err.txt "density"
finish
