// A slender tapered trunk with a hole along it and six grooves around it; pulled by tendons.
$fn = 36;
h = 150; r1 = 15; r2 = 7;
function r(z) = r1 + (r2 - r1) * z / h;
difference() {
    cylinder(h = h, r1 = r1, r2 = r2);
    translate([0, 0, -1]) cylinder(h = h + 2, r1 = 4, r2 = 2);
    for (i = [1:6]) translate([0, 0, 20 * i]) rotate_extrude() translate([r(20 * i) - 2.6, 0]) square([6, 4]);
}
