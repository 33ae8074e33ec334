#!/usr/bin/env bash
# calibrate ratio and syringe: answers, tables that a robot file takes, and refusals.
. "$(dirname "$0")/lib.sh"

# Table II of Fang et al. 2020: the interface is met to 0.1 % of the bar. Thin bars, (2 + R) / (3 R) = 3.75
# and 5.68, would give 5.125 and 8.02.
expect_status 0 calibrate ratio --elasticity 3.75 --json ratio.json
expect_words out.txt "R_m = 3.7500" "twist test" "r_omega"
expect_near "error of the bar" "$(json_number ratio.json error_of_bar)" 0 1e-3
expect_near "ratio" "$(json_number ratio.json ratio)" 5.29 0.05
expect_status 0 calibrate ratio --elasticity 5.68 --json ratio.json
expect_near "error of the bar" "$(json_number ratio.json error_of_bar)" 0 1e-3
expect_near "ratio" "$(json_number ratio.json ratio)" 8.37 0.08
expect_status 0 calibrate ratio --length 60 --interface 20 --pull 3 --moved 2 --json soft_base.json
expect_near "elasticity" "$(json_number soft_base.json elasticity)" 0.25 1e-6
# as published the twist is solved to the fixed point too: halves turn about as thin bars share a twist
expect_status 0 calibrate ratio --elasticity 3.75 --method fang2020 --json fang.json
expect_near "twist" "$(json_number fang.json twisted)" 0.1128 0.01
expect_status 2 calibrate ratio
expect_words err.txt "--moved" "--elasticity"
expect_status 2 calibrate ratio --moved 5 --pull 4
expect_words err.txt "between 0 and the elongation"
expect_status 2 calibrate ratio some.csv
expect_status 2 calibrate pressure some.csv
expect_words err.txt "tensile, relaxation, cycles, release, ratio, syringe, poses or cameras"

# a cyclic tensile test: the law of the first loading and its softening, and lines for a robot file
python3 - >cyclic.csv <<'PY'
import math
print("strain [%],stress [kPa]")
largest = 0
for peak in (0.5, 1.0, 1.6):
    for k in list(range(25)) + list(range(25, -1, -1)):
        l = 1 + peak * k / 25
        W = 0.05 * (l * l + 2 / l - 3)
        eta = 1 if W >= largest else 1 - math.erf((largest - W) / (0.01 + 0.15 * largest)) / 1.7
        largest = max(largest, W)
        print("%.4f,%.5f" % (100 * (l - 1), 1e3 * eta * 0.1 * (l - 1 / l**2)))
PY
expect_status 0 calibrate cycles cyclic.csv --model neo_hookean --out cycles.png --json cycles.json
expect_words out.txt "mullins: {r: 1.6" "work that does not come back"
expect_near "share of work lost" "$(json_number cycles.json lost)" "$(json_number cycles.json lost_measured)" 0.01
expect_file cycles.png
# up to a strain: the test as if it had ended there; options of other kinds are refused
awk -F, 'NR > 1 && $1 > 100.5 { exit } 1' cyclic.csv >first.csv
expect_status 0 calibrate cycles first.csv --model neo_hookean --json first.json
expect_status 0 calibrate cycles cyclic.csv --model neo_hookean --max-strain 1.005 --out up-to.png --json up-to.json
expect_near "error up to 100 %" "$(json_number up-to.json error)" "$(json_number first.json error)" 1e-12
expect_near "work lost up to 100 %" "$(json_number up-to.json lost)" "$(json_number first.json lost)" 1e-12
awk -v a="$(json_number up-to.json lost)" -v b="$(json_number cycles.json lost)" 'BEGIN { exit a == b }' || fail "the limit changes nothing"
expect_status 2 calibrate cycles cyclic.csv --length 10mm
expect_words err.txt "--length is not for cycles" "it belongs to ratio"
expect_status 2 calibrate ratio --moved 0.842 --folds 3
expect_words err.txt "--folds is not for ratio"
expect_status 2 calibrate cycles cyclic.csv --model linear
expect_words err.txt "neo_hookean"

# a relaxation test: its branches, and lines for a robot file
awk 'BEGIN { print "t [s],stress [MPa]"; for (k = 0; k <= 300; ++k) { t = 0.01 * exp(k * 0.03); print t ", " 0.1 * (1 + 0.3 * exp(-t / 0.5) + 0.1 * exp(-t / 8)) } }' >held.csv
expect_status 0 calibrate relaxation held.csv --times 0.5s,8s --out held.png --json held.json
expect_words out.txt "prony: [{g: 0." "tau: 0.5 s}" "tau: 8 s}]"
expect_near "modulus" "$(json_number held.json modulus)" 0.1 1e-4
expect_file held.png
# the same in other units, decimal commas refused, a stress that rises refused
awk -F, 'NR == 1 { print "t [min];Stress [kPa]" } NR > 1 { printf "%.9g;%.9g\r\n", $1 / 60, 1e3 * $2 }' held.csv >minutes.csv
expect_status 0 calibrate relaxation minutes.csv --times 0.5s,8s --json minutes.json
expect_near "modulus in other units" "$(json_number minutes.json modulus)" "$(json_number held.json modulus)" 1e-6
tr . , <minutes.csv >commas.csv
expect_status 2 calibrate relaxation commas.csv
expect_words err.txt "commas.csv:2: column 1 t" "write the decimal sign as a point"
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," 0.24 - $2 }' held.csv >rising.csv
expect_status 2 calibrate relaxation rising.csv
expect_words err.txt "rising.csv" "expected a stress that falls"
echo "a,b
1,2
3,4" >wrong.csv
expect_status 2 calibrate relaxation wrong.csv
expect_words err.txt "t [s]"

# a beam let go: its own motion, held for 50 ms before, gives back the constants it was computed with
cat >let_go.yaml <<'END'
pliant: 1
name: let_go
mesh: {design: {kind: beam}, size: 30, order: 2}
materials:
  silicone: {model: neo_hookean, young: 0.27 MPa, poisson: 0.45, density: 1070 kg/m^3, prony: [{g: 0.1, tau: 20 ms}]}
regions: {body: silicone}
fixed: [{surface: base}]
markers: {tip: {surface: tip}}
loads: {gravity: [0, 0, -9.81 m/s^2]}
END
expect_status 0 simulate let_go.yaml --start undeformed --until 0.6s --step 5ms --every 10ms --out motion.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "tip.z [mm]") c = i; print "t [s],tip.z [mm]" }
    NR == 2 { for (k = 0; k < 5; ++k) print 0.01 * k "," $c }
    NR > 1 { printf "%.4f,%.9f\n", $1 + 0.05, $c }' motion.csv >run.csv
sed 's/young: 0.27/young: 0.31/; s/g: 0.1,/g: 0.05,/' let_go.yaml >guess.yaml
expect_status 0 calibrate release guess.yaml run.csv --free silicone.young,silicone.prony.0.g --until 0.55s --out fit.png --out fitted.yaml --json fit.json
expect_words out.txt "silicone.young" "the hand lets go"
expect_near "young" "$(python3 -c 'import json; print(json.load(open("fit.json"))["parameters"][0]["value"])')" 0.27 2e-3
expect_near "g" "$(python3 -c 'import json; print(json.load(open("fit.json"))["parameters"][1]["value"])')" 0.1 3e-3
expect_file fit.png
grep -q "prony" fitted.yaml
expect_status 2 calibrate release guess.yaml run.csv
expect_words err.txt "--free is missing"
expect_status 2 calibrate release guess.yaml held.csv --free silicone.young
expect_words err.txt "coordinate of a marker"

# a syringe test up and down; its table drives a chamber
{
    echo "P [kPa], dV [mL]"
    for g in 0 5 10 15 20 25 30 25 20 15 10 5 0; do
        awk -v g=$g 'BEGIN { p = 100 + g; a = 1 + g / 100; printf "%.6f, %.6f\n", p, (a * p * 10 - 1000 + g * 23) / p }'
    done
} >pv.csv
expect_status 0 calibrate syringe pv.csv --chamber 10mL --tube 3mL --syringe 20mL --out pv.png --json pv.json
expect_words out.txt "loading: 7 measurements" "unloading" "[30 kPa, 1.3]"
expect_file pv.png
table=$(grep -m1 -o 'table: .*' out.txt)
# volumes that do not belong to the line: less was pushed than the gas yields
printf 'P [kPa],dV [mL]\n100,0\n110,1\n120,2\n130,3\n' >less.csv
expect_status 2 calibrate syringe less.csv --chamber 12mL --tube 3mL --syringe 50mL
expect_words err.txt "check the volumes of chamber, tube and syringe"
expect_status 2 calibrate syringe less.csv --chamber 12mL --gauge
expect_status 2 calibrate syringe pv.csv
expect_words err.txt "--chamber"

expect_status 0 new sphere_shell sphere
sed -i "s/^  - {name: air.*/  - {name: air, kind: chamber, surface: cavity, drive: pressure, $table}/" sphere/robot.yaml
expect_status 0 fk sphere --size 8 --set air=20kPa --json fk.json
expect_near "volume ratio" "$(json_number fk.json ratio)" 1.2 1e-5
expect_status 2 fk sphere --size 8 --set air=40kPa
expect_status 2 fk sphere --size 8 --set air=40kPa --beyond-range
expect_words err.txt "outside its table"
# errors of the fits name the file
printf 'strain,stress [MPa]\n0,0\n0.1,0\n0.2,0\n' >zero.csv
expect_status 2 calibrate tensile zero.csv --model neo_hookean
expect_words err.txt "zero.csv: tensile fit"

finish
