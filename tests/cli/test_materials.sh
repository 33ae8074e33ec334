#!/usr/bin/env bash
# materials and calibrate: the library, and fits to a tensile test made here from known constants.
. "$(dirname "$0")/lib.sh"

expect_status 0 materials
expect_words out.txt "dragon_skin_20" "ecoflex_00_30" "fit error"
expect_status 0 materials dragon_skin_20
expect_words out.txt "Dragon Skin 20" "source" "{use: dragon_skin_20}"
expect_status 2 materials dragon_skin_21x
expect_words err.txt "did you mean 'dragon_skin_20'"
expect_status 0 materials ecoflex_00_30 --json m.json
expect_keys m.json format pliant materials ecoflex_00_30 model constants strain_range fit_error source

# an exact neo-Hookean bar with c10 = 0.1 MPa and Poisson's ratio 0.49 (K = 9.933 MPa), l its stretch and J its volume
# ratio: stress = 2 c10 (s^2 - 1/s) / l with s = l J^(-1/3), and 3 K J (J - 1) = stress l
awk 'BEGIN {
    print "strain,stress"
    K = 2 * 0.2 * 1.49 / (3 * 0.02)
    for (i = 0; i <= 50; ++i) {
        l = 1 + i / 25
        J = 1
        for (k = 0; k < 200; ++k) {
            s = l / J ^ (1 / 3)
            J = (1 + sqrt(1 + 4 * 0.2 * (s * s - 1 / s) / (3 * K))) / 2
        }
        printf "%.6f,%.9f\n", i / 25, 0.2 * (s * s - 1 / s) / l
    }
}' >exact.csv
expect_status 0 calibrate tensile exact.csv --json fit.json --out fit.png
expect_words out.txt "neo_hookean" "mooney_rivlin" "yeoh" "silicone: {model:" "poisson: 0.49}"
expect_keys fit.json fits neo_hookean c10 error stable
expect_near "c10 found again" "$(json_number fit.json c10)" 0.1 1e-5
expect_file fit.png
expect_status 0 calibrate tensile exact.csv --model yeoh --max-strain 1
expect_no_words out.txt "neo_hookean"
expect_status 2 calibrate tensile exact.csv --model hencky
expect_words err.txt "expected neo_hookean, mooney_rivlin, yeoh, gent or ogden"
expect_status 2 calibrate compression exact.csv
expect_words err.txt "expected tensile"
expect_status 3 calibrate tensile absent.csv
echo "not a table" >bad.csv
expect_status 2 calibrate tensile bad.csv
expect_words err.txt "bad.csv"
expect_status 2 calibrate tensile exact.csv --out exact.csv
expect_status 3 calibrate tensile exact.csv --out no_such_folder/fit.png
expect_words err.txt "there is no folder no_such_folder"
expect_clean
finish
