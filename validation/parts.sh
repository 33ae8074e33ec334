#!/usr/bin/env bash
# People's own parts, drawn in OpenSCAD or with Gmsh's CAD kernel, from file to first shape.
#
#   validation/parts.sh ten [FOLDER]              seventeen parts: new --from, fk at the default mesh, fk on a finer one
#   validation/parts.sh random [COUNT] [FOLDER] [FIRST]   random parts: meshed, volumes compared, outcomes counted
#   validation/parts.sh step [COUNT] [FOLDER] [FIRST]     the same as STEP files, drawn with Gmsh's CAD kernel
#
# PARTS chooses among the first, FINER is the referee's edge length in mean ones of the default mesh (default 0.7).
# PLIANT names the command (default build/pliant), LIMIT the seconds of one command (default 600), SIZE the mesh size of
# random parts in mm (default 6). Needs openscad and gmsh (tools/install-deps validation). Prints a table in Markdown. Exit status 1: a crash, or a mesh off its part by more than 2 % without a word.
set -u
pliant=$(realpath "${PLIANT:-build/pliant}")
limit=${LIMIT:-600}
what=${1:-ten}

# The volume of an ASCII STL file, which shares nothing with the mesher: sum of a . (b x c) / 6.
stl_volume() {
    awk '$1 == "vertex" { x[n % 3] = $2; y[n % 3] = $3; z[n % 3] = $4; n++
           if (n % 3 == 0) v += x[0] * (y[1] * z[2] - z[1] * y[2]) + y[0] * (z[1] * x[2] - x[1] * z[2]) + z[0] * (x[1] * y[2] - y[1] * x[2]) }
         END { printf "%.9g", v / 6 }' "$1"
}

# number FILE KEY: the first number of that key in a JSON file
number() {
    grep -o "\"$2\": *[-0-9.e+]*" "$1" 2>/dev/null | head -n 1 | sed 's/.*: *//'
}

cpu_seconds() { # of a command: prints them, keeps its output in out.txt and err.txt
    local before after me=$BASHPID
    before=$(awk '{ print $16 + $17 }' /proc/$me/stat)
    timeout "$limit" "$@" >out.txt 2>err.txt
    local status=$?
    after=$(awk '{ print $16 + $17 }' /proc/$me/stat)
    awk -v t=$((after - before)) 'BEGIN { printf "%.1f", t / 100 }'
    return $status
}

# ---- people's own parts: what is set, and the drawing (OpenSCAD, or Gmsh's CAD kernel for the STEP files)
all_parts="pneunet thin_pneunet bellows cylinder halfround trunk jaw pump block cone slats ball branch cup bent elbow_step tentacle_step"
draw_part() {
    ending=stl
    case $1 in
    pneunet) # six modules on a channel, inlet open at the base
        set_to="air=6kPa"
        echo 'difference() { union() { cube([80, 16, 5]); for (i = [0:5]) translate([4 + 13 * i, 0, 0]) cube([10, 16, 18]); }
              translate([-1, 6, 1.5]) cube([76, 4, 2]);
              for (i = [0:5]) translate([6 + 13 * i, 2, 1.5]) cube([6, 12, 14.5]); }' ;;
    thin_pneunet) # three modules with walls of 1 mm, closed
        set_to="air=3kPa"
        echo 'difference() { union() { cube([36, 14, 4]); for (i = [0:2]) translate([2 + 11 * i, 0, 0]) cube([9, 14, 14]); }
              translate([3, 6, 1.5]) cube([30, 2, 1.5]);
              for (i = [0:2]) translate([3 + 11 * i, 1, 1.5]) cube([7, 12, 11.5]); }' ;;
    bellows)
        set_to="air=3kPa"
        echo '$fn = 32; difference() { rotate_extrude() polygon([[0,0],[12,0],[12,4],[16,8],[12,12],[16,16],[12,20],[16,24],[12,28],[12,32],[0,32]]);
              translate([0, 0, 3]) rotate_extrude() polygon([[0,0],[10,0],[10,1.4],[13.6,5],[10,9],[13.6,13],[10,17],[13.6,21],[10,25],[10,26],[0,26]]); }' ;;
    cylinder) # of a fibre-reinforced actuator: the tube without its fibres
        set_to="air=10kPa"
        echo '$fn = 32; difference() { cylinder(d = 18, h = 80); translate([0, 0, 6]) cylinder(d = 12, h = 68); }' ;;
    halfround) # half-round actuator with a flat back
        set_to="air=10kPa"
        echo '$fn = 48; intersection() { translate([-20, 0, 0]) cube([40, 20, 90]); difference() { union() { cylinder(d = 22, h = 90); translate([-11, 0, 0]) cube([22, 3, 90]); }
              translate([0, 3, 5]) intersection() { translate([-20, 0, 0]) cube([40, 20, 80]); translate([0, -3, 0]) cylinder(d = 16, h = 80); } } }' ;;
    trunk) # tapered, with four tendon holes
        set_to="tendon=4mm"
        echo '$fn = 32; difference() { cylinder(d1 = 36, d2 = 20, h = 100); translate([0, 0, -1]) for (a = [0:90:270]) rotate(a) translate([7, 0, 0]) cylinder(d = 2.4, h = 102, $fn = 12); }' ;;
    jaw) # gripper jaw with a tendon hole and two notches
        set_to="tendon=3mm"
        echo 'difference() { cube([60, 14, 12]); for (x = [18, 38]) translate([x, -1, -1]) cube([3, 16, 9]);
              translate([-1, 7, 3]) rotate([0, 90, 0]) cylinder(d = 2, h = 62, $fn = 12); }' ;;
    pump) # membrane pump: a flat chamber under a thin membrane
        set_to="air=4kPa"
        echo '$fn = 40; difference() { cylinder(d = 40, h = 12); translate([0, 0, 4]) cylinder(d = 32, h = 6); }' ;;
    block) # two chambers side by side
        set_to="air=15kPa"
        echo 'difference() { cube([60, 24, 14]); translate([4, 3, 4]) cube([52, 7, 7]); translate([4, 14, 4]) cube([52, 7, 7]); }' ;;
    cone)
        set_to="air=15kPa"
        echo '$fn = 40; difference() { cylinder(d1 = 30, d2 = 16, h = 50); translate([0, 0, 4]) cylinder(d1 = 22, d2 = 10, h = 42); }' ;;
    slats) # long thin triangles: a bar with 100 mm grooves
        set_to="air=10kPa"
        echo 'difference() { cube([110, 20, 14]); for (y = [4:4:16]) translate([5, y - 0.5, 12]) cube([100, 1, 3]); translate([4, 4, 3]) cube([102, 12, 6]); }' ;;
    ball) # a ball on a foot, hollow, with an inlet through the foot
        set_to="air=8kPa"
        echo '$fn = 40; difference() { union() { sphere(d = 30); translate([0, 0, -19]) cylinder(d = 16, h = 8); } sphere(d = 24); translate([0, 0, -20]) cylinder(d = 3, h = 12); }' ;;
    branch) # a Y: one chamber that divides into two arms
        set_to="air=8kPa"
        echo '$fn = 24; module arm(r, t) { translate([0, 0, t]) cylinder(r = r, h = 34 - 2 * t); for (a = [-35, 35]) translate([0, 0, 28]) rotate([0, a, 0]) translate([0, 0, -3]) cylinder(r = r * 0.8, h = 36 - t); }
              difference() { arm(8, 0); arm(5.6, 3); }' ;;
    cup) # a sucker: an open cup on a hollow stem
        set_to="air=6kPa"
        echo '$fn = 36; difference() { union() { cylinder(d = 14, h = 20); translate([0, 0, 18]) cylinder(d1 = 14, d2 = 34, h = 10); }
              translate([0, 0, 3]) cylinder(d = 9, h = 12); translate([0, 0, 20]) cylinder(d1 = 9, d2 = 31.5, h = 8.01); }' ;;
    bent) # an L-shaped finger with a chamber round the corner
        set_to="air=10kPa"
        echo 'difference() { union() { cube([16, 14, 50]); translate([0, 0, 36]) cube([44, 14, 14]); }
              translate([3, 3, 4]) cube([10, 8, 43]); translate([3, 3, 39]) cube([37, 8, 8]); }' ;;
    elbow_step) # a bent round tube, closed: STEP
        set_to="air=10kPa" ending=step
        echo 'SetFactory("OpenCASCADE"); Torus(1) = {0, 0, 0, 30, 8, Pi / 2}; Torus(2) = {0, 0, 0, 30, 5.5, Pi / 2 - 0.3}; Rotate{{0, 0, 1}, {0, 0, 0}, 0.15}{ Volume{2}; }
              BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };' ;;
    tentacle_step) # tapered, two chambers side by side: STEP
        set_to="air=8kPa" ending=step
        echo 'SetFactory("OpenCASCADE"); Cone(1) = {0, 0, 0, 0, 0, 70, 11, 7}; Cylinder(2) = {4, 0, 4, 0, 0, 58, 2}; Cylinder(3) = {-4, 0, 4, 0, 0, 58, 2};
              BooleanDifference(4) = { Volume{1}; Delete; }{ Volume{2}; Volume{3}; Delete; };' ;;
    *) return 1 ;;
    esac
}

# part_file NAME: draws NAME.stl or NAME.step
part_file() {
    if [ $ending = step ]; then
        draw_part "$1" >"$1.geo" && echo "Save \"$1.step\";" >>"$1.geo" && gmsh -0 -v 1 "$1.geo" >/dev/null 2>&1
    else
        draw_part "$1" >"$1.scad" && openscad -o "$1.stl" "$1.scad" >/dev/null 2>&1
    fi
    [ -s "$1.$ending" ]
}

# finer NAME: the edge length of the referee, FINER times the mean one of the default mesh (of regular tetrahedra as
# large), or what gives about 40000 elements
finer() {
    "$pliant" info "$1" --json info.json >/dev/null 2>&1
    awk -v v="$(number info.json volume)" -v n="$(number info.json elements)" -v f="${FINER:-0.7}" 'BEGIN { m = n / f ^ 3; if (m > 40000) m = 40000; printf "%.3g", (8.485 * v / m) ^ (1 / 3) }'
}

run_ten() {
    printf '| part | elements | CPU s: new, mesh and fk | warnings | moved mm | finer mesh | true error | mesh_error | verdict |\n'
    printf '| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n'
    local name bad=0
    for name in ${PARTS:-$all_parts}; do
        draw_part "$name" >/dev/null
        part_file "$name" || { echo "| $name | not drawn |"; bad=1; continue; }
        local new_s fk_s status
        new_s=$(cpu_seconds "$pliant" new --from "$name.$ending" "$name" $([ $ending = stl ] && echo --unit mm) --force)
        fk_s=$(cpu_seconds "$pliant" fk "$name" --set "$set_to" --json "$name.json")
        status=$?
        [ $status -ge 124 ] && bad=1
        local warnings elements a b error
        warnings=$(grep -c "warning:\|mesh is coarse\|penetrates" err.txt out.txt | awk -F: '{ s += $2 } END { print s }')
        [ -s "$name.json" ] || { echo "| $name | | $new_s, $fk_s | exit $status: $(head -c 160 err.txt | tr '\n|' '  ') |"; bad=1; continue; }
        elements=$(number "$name.json" elements)
        a=$(moved "$name.json") error=$(number "$name.json" mesh_error)
        cpu_seconds "$pliant" fk "$name" --size "$(finer "$name")" --set "$set_to" --json "$name.fine.json" >/dev/null
        b=$(moved "$name.fine.json")
        awk -v n="$name" -v e="$elements" -v s="$new_s, $fk_s" -v w="$warnings" -v a="$a" -v b="$b" -v m="$error" -v fe="$(number "$name.fine.json" elements)" 'BEGIN {
            t = b > 0 ? 1 - a / b : 0
            good = b <= 0 ? "no finer mesh" : (t < 0 ? -t : t) <= 0.03 ? "within 3 %" : m > 0.03 ? "warned" : "NOT WARNED"
            printf "| %s | %d | %s | %d | %.3f | %.3f (%d) | %.1f %% | %.1f %% | %s |\n", n, e, s, w, a, b, fe, 100 * t, 100 * m, good
            exit good == "NOT WARNED" }' || bad=1
    done
    return $bad
}

# The length of the first displacement.
moved() {
    [ -s "$1" ] && tr -d '\n ' <"$1" | grep -o '"displacement":\[[^]]*' | head -n 1 | sed 's/.*\[//' |
        awk -F, '{ printf "%.6g", sqrt($1 * $1 + $2 * $2 + $3 * $3) }'
}

# ---- random parts: holes, fillets, thin walls, long triangles, open inlets
random_part() {
    awk -v seed="$1" 'function r(a, b) { return a + (b - a) * rand() }
    BEGIN { srand(seed); for (i = 0; i < 5; i++) rand()
        kind = int(r(0, 5)); l = r(20, 120); w = r(8, 30); h = r(6, 25); wall = r(0.8, 3); fn = int(r(8, 40))
        printf "$fn = %d;\ndifference() {\n", fn
        if (kind == 0) printf "cube([%g, %g, %g]);\n", l, w, h
        if (kind == 1) printf "rotate([0, 90, 0]) cylinder(d1 = %g, d2 = %g, h = %g);\n", w, r(0.3, 1) * w, l
        if (kind == 2) printf "hull() for (x = [0, %g], y = [0, %g], z = [0, %g]) translate([x, y, z]) sphere(%g, $fn = 12);\n", l, w, h, r(1, 3)
        if (kind == 3) printf "union() { cube([%g, %g, %g]); translate([%g, %g, %g]) sphere(d = %g); }\n", l, w, h, l, w / 2, h / 2, w
        if (kind == 4) printf "union() { cube([%g, %g, %g]); for (i = [0:3]) translate([i * %g, 0, 0]) cube([%g, %g, %g]); }\n", l, w, h / 3, l / 4, l / 8, w, h
        if (rand() < 0.7 && kind != 1 && w > 2.6 * wall && h > 2.6 * wall)
            printf "translate([%g, %g, %g]) cube([%g, %g, %g]);\n", (rand() < 0.3 ? -1 : wall), wall, wall, l - 2 * wall, w - 2 * wall, (kind == 4 ? h / 3 : h) - 2 * wall
        if (kind == 1 && rand() < 0.7) printf "translate([%g, 0, 0]) rotate([0, 90, 0]) cylinder(d = %g, h = %g);\n", wall, r(0.1, 0.25) * w, l - 2 * wall
        n = int(r(0, 4))
        for (i = 0; i < n; i++) printf "translate([%g, %g, -50]) cylinder(d = %g, h = 100);\n", r(0.15, 0.85) * l, (kind == 1 ? r(-0.2, 0.2) : r(0.2, 0.8)) * w, r(1, 4)
        if (rand() < 0.3) printf "for (y = [%g:%g:%g]) translate([2, y, %g]) cube([%g, %g, 50]);\n", 2, 4, w - 2, (kind == 4 ? h / 3 : h) - 1, l - 4, r(0.3, 1)
        printf "}\n" }'
}

# The same kinds of parts as CAD: box, cone or two joined boxes, round edges, a closed or an open void, holes.
random_geo() {
    awk -v seed="$1" -v out="$2" 'function r(a, b) { return a + (b - a) * rand() }
    BEGIN { srand(seed); for (i = 0; i < 5; i++) rand()
        kind = int(r(0, 3)); l = r(20, 120); w = r(8, 30); h = r(6, 25); wall = r(0.8, 3)
        printf "SetFactory(\"OpenCASCADE\");\n"
        if (kind == 0) printf "Box(1) = {0, %g, %g, %g, %g, %g};\n", -w / 2, -h / 2, l, w, h
        if (kind == 1) { h = w; printf "Cone(1) = {0, 0, 0, %g, 0, 0, %g, %g};\n", l, w / 2, r(0.4, 1) * w / 2 }
        if (kind == 2) printf "Box(2) = {0, %g, %g, %g, %g, %g};\nBox(3) = {%g, %g, %g, %g, %g, %g};\nBooleanUnion(1) = { Volume{2}; Delete; }{ Volume{3}; Delete; };\n",
            -w / 2, -h / 2, l, w, h, r(0.2, 0.6) * l, -w / 2, 0, l / 5, w, h
        if (kind == 0 && rand() < 0.6) printf "f() = Abs(Boundary{ Volume{1}; });\ne() = Unique(Abs(Boundary{ Surface{f()}; }));\nb() = Fillet{1}{e()}{%g};\nv = b(0);\n", r(0.05, 0.2) * (w < h ? w : h)
        else printf "v = 1;\n"
        n = 0
        if (rand() < 0.7 && kind != 1 && w > 2.6 * wall && h > 2.6 * wall)
            printf "Box(%d) = {%g, %g, %g, %g, %g, %g};\n", 20 + n++, (rand() < 0.3 ? -1 : wall), -w / 2 + wall, -h / 2 + wall, l - 2 * wall, w - 2 * wall, h - 2 * wall
        if (kind == 1 && rand() < 0.7) printf "Cylinder(%d) = {%g, 0, 0, %g, 0, 0, %g};\n", 20 + n++, wall, l - 2 * wall, r(0.05, 0.12) * w
        for (i = int(r(0, 4)); i > 0; i--) printf "Cylinder(%d) = {%g, %g, -60, 0, 0, 120, %g};\n", 20 + n++, r(0.15, 0.85) * l, r(-0.2, 0.2) * w, r(0.5, 2)
        if (n > 0) printf "BooleanDifference(99) = { Volume{v}; Delete; }{ Volume{20:%d}; Delete; };\nv = 99;\n", 19 + n
        printf "Save \"%s\";\nm() = Mass Volume{v};\nPrintf(\"volume %%.9g\", m(0)) > \"%s.txt\";\n", out, out }'
}

# draw NUMBER: rNUMBER.stl or rNUMBER.step, and its volume in $part
draw_random() {
    if [ "$what" = step ]; then
        random_geo "$1" "r$1.step" >"r$1.geo"
        rm -f "r$1.step" "r$1.step.txt"
        timeout "$limit" gmsh -0 -v 1 "r$1.geo" >/dev/null 2>&1
        part=$(sed -n 's/^volume //p' "r$1.step.txt" 2>/dev/null)
        [ -s "r$1.step" ] && [ -n "$part" ]
    else
        random_part "$1" >"r$1.scad"
        timeout "$limit" openscad -o "r$1.stl" "r$1.scad" >/dev/null 2>&1 && part=$(stl_volume "r$1.stl")
    fi
}

run_random() {
    local count=${1:-200} first=${2:-1} i bad=0 part ending=stl unit="--unit mm"
    [ "$what" = step ] && ending=step unit=
    declare -A outcome
    for ((i = first; i < first + count; i++)); do
        local word
        if ! draw_random "$i"; then
            word="not drawn"
        else
            rm -rf r$i
            timeout "$limit" "$pliant" new --from r$i.$ending r$i $unit >out.txt 2>err.txt
            local status=$?
            if [ $status -eq 0 ]; then
                timeout "$limit" "$pliant" info r$i --size "${SIZE:-6}" --no-cache --json r$i.json >out.txt 2>err.txt
                status=$?
            fi
            local mesh
            mesh=$(number r$i.json volume)
            case $status in
            0) word=$(awk -v p="$part" -v m="${mesh:-0}" -v w="$(grep -c 'warning' err.txt)" 'BEGIN {
                   d = (m - p) / p; d = d < 0 ? -d : d
                   print d <= 0.02 ? (w ? "meshed, with a warning" : "meshed") : (w ? "meshed off by more than 2 %, warned" : "SILENT BAD MESH") }') ;;
            124) word="time limit" ;;
            1 | 2 | 3) word="refused with a sentence" ;;
            *) word="CRASH (status $status)" ;;
            esac
            [ "$word" = "refused with a sentence" ] && [ ! -s err.txt ] && word="REFUSED WITHOUT A WORD"
            printf 'r%d: %s; part %s mm^3, mesh %s mm^3 %s\n' $i "$word" "$part" "${mesh:--}" "$([ $status -ne 0 ] && head -n 1 err.txt | head -c 150)" >&2
        fi
        case $word in *[A-Z][A-Z]*) bad=1 ;; esac
        outcome[$word]=$((${outcome[$word]:-0} + 1))
        rm -rf r$i r$i.json
    done
    printf '| outcome | parts |\n| --- | --- |\n'
    for word in "${!outcome[@]}"; do printf '| %s | %d |\n' "$word" "${outcome[$word]}"; done | sort
    return $bad
}

case $what in
ten) folder=${2:-$(mktemp -d)} ;;
random | step) folder=${3:-$(mktemp -d)} ;;
*) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
mkdir -p "$folder" && cd "$folder" || exit 3
if [ "$what" = ten ]; then run_ten; else run_random "${2:-200}" "${4:-1}"; fi
