// A tapered trunk of 100 mm along z with three tendon holes.
$fn = 24;
difference() {
    cylinder(d1 = 32, d2 = 20, h = 100);
    for (a = [0:120:240]) rotate(a) translate([6.5, 0, -1]) cylinder(d = 3, h = 102, $fn = 8);
}
