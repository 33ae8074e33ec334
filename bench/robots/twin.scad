// A square bar with two chambers of different length side by side.
difference() {
    cube([90, 22, 14]);
    translate([5, 2.5, 2.2]) cube([80, 7.5, 9.6]);
    translate([5, 12, 2.2]) cube([50, 7.5, 9.6]);
}
