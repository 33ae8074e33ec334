// A round bellows of five folds with a rib along one side, closed at both ends; it lengthens less where the rib is and bends to that side.
$fn = 40;
folds = 5; pitch = 11; out = 15; in = 9; wall = 2;
function zigzag(o) = [for (i = [0:2 * folds]) [(i % 2 == 0 ? in : out) - o, 4 + i * pitch / 2]];
top = 8 + folds * pitch;
difference() {
    union() {
        rotate_extrude(convexity = 6) polygon(concat([[0, 0], [in, 0]], zigzag(0), [[in, top], [0, top]]));
        translate([6, -3, 0]) cube([6.5, 6, top]);
    }
    rotate_extrude(convexity = 6) polygon(concat([[0, 4]], zigzag(wall), [[0, 4 + folds * pitch]]));
}
