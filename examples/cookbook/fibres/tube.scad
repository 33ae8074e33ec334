// A tube with closed ends, 60 mm long along z.
$fn = 32;
difference() {
    cylinder(r = 8, h = 60);
    translate([0, 0, 4]) cylinder(r = 6, h = 52);
}
