# Meshes drawn elsewhere (PLIANT_DATA/sofa): they import, the PneuNet's cavity is found from a point inside, and it bends.
data=${PLIANT_DATA:-$(dirname "$0")/../../../shared/data}
data=$(cd "$data" 2>/dev/null && pwd || echo "$data")
. "$(dirname "$0")/lib.sh"

if [ ! -d "$data/sofa" ]; then
    echo "  skipped: no folder sofa in PLIANT_DATA ($data)"
    exit 0
fi
for mesh in finger trunk diamond pneunet; do
    expect_status 0 mesh "$data/sofa/$mesh.vtk" --out "$mesh.vtu"
    expect_words out.txt "0 inverted"
done

cat >robot.yaml <<YAML
pliant: 1
name: pneunet
mesh: {file: $data/sofa/pneunet.vtk, unit: mm, order: 1}
surfaces:
  cavity: {seen_from: [-57, 14, 0]}
  base: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}
materials: {silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.45}}
regions: {body: silicone}
fixed: [{surface: base}]
actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 30 kPa]}]
markers: {tip: {at: [-115, 15, 0]}}
YAML
expect_status 0 info robot.yaml
expect_words out.txt "8887.50" "closed"
expect_status 0 fk robot.yaml --set air=3kPa
expect_words out.txt "solved"
finish
