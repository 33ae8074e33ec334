// A PneuNet finger of five modules on a channel, closed at both ends; walls 2 mm. The underside is z = 0. With
// -D half=true the half below its plane of symmetry, y = 7.
half = false;
intersection() {
    difference() {
        union() {
            cube([62, 14, 6]);
            for (i = [0:4]) translate([1.5 + 12.5 * i, 0, 0]) cube([9, 14, 15]);
        }
        translate([4, 5, 2]) cube([54, 4, 2]);
        for (i = [0:4]) translate([3.5 + 12.5 * i, 2, 2]) cube([5, 10, 11]);
    }
    translate([-1, -1, -1]) cube([64, half ? 8 : 16, 17]);
}
