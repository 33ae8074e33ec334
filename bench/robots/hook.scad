// A hollow hook: a finger drawn curved, with a thin outer wall; it opens when inflated.
$fn = 48;
module sweep(angle) rotate_extrude(angle = angle, convexity = 4) children();
difference() {
    sweep(100) translate([34, -7]) square([14, 14]);
    rotate([0, 0, 6]) sweep(86) translate([37.5, -4.5]) square([8.3, 9]);
}
