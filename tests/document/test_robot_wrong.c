// Wrong robot files are refused with the line and the words that name the defect.
#include "document/robot_text.h"

#define PUMP "actuators:\n- {name: pump, kind: chamber, surface: cavity, drive: syringe}\n"
#define LAYER "layers:\n- {name: paper"
#define FIBRE "fibres:\n- {name: thread"
#define SPRING "markers: {tip: {at: [10, 10, 10]}}\nsprings:\n- {name: s1"

#define DESIGN(numbers) "pliant: 1\nmesh: {design: {kind: block, " numbers "}, order: 1}\n"
#define MODEL "pliant: 1\nmodel: {kind: constant_curvature, sections: [{name: s, length: 100}]}\n"

// Two blocks of 40 x 30 x 30 mm, the second one moved.
#define TWO_BODIES(moved)                                                                                    \
    "pliant: 1\nmaterials: {m: {model: neo_hookean, c10: 0.1}}\nbodies:\n"                                   \
    "- {name: a, mesh: {design: {kind: block}, order: 1}, regions: {skin: m, layer: m, plug: m}, fixed: "    \
    "[{surface: base}]}\n"                                                                                   \
    "- {name: b, mesh: {design: {kind: block}, order: 1}, regions: {skin: m, layer: m, plug: m}, fixed: "    \
    "[{surface: base}], pose: {move: " moved "}}\ncontact: {self: false}\n"

static const struct {
    const char *text;
    int line;
    const char *words;
} wrong[] = {
    {"", 1, "empty"},
    {"pliant: 1\n", 1, "'mesh' is missing"},
    {"name: x\n", 1, "'pliant: 1'"},
    {"pliant: 2\n", 1, "this program reads version 1"},
    {"[1, 2]\n", 1, "expected a block of keys, found a list"},
    {"pliant: 1\n\tname: x\n", 2, "YAML"},
    {"pliant: 1\nname: [a\n", 3, "YAML"},
    {"pliant: 1\nname: &a x\n", 2, "anchors"},
    {"pliant: 1\nname: *a\n", 2, "aliases"},
    {"pliant: 1\nname: a\nname: b\n", 3, "is given twice, first on line 2"},
    {"pliant: 1\n---\npliant: 1\n", 2, "second document"},
    {GOOD_HEAD FIXED "colour: red\n", 5, "unknown key 'colour'"},
    {GOOD_HEAD FIXED "actuator: []\n", 5, "did you mean 'actuators'"},
    {GOOD_HEAD FIXED "contact: {slef: true}\n", 5, "did you mean 'self'"},
    {GOOD_HEAD FIXED "contact: {friction: -1}\n", 5, "friction"},
    {GOOD_HEAD FIXED "contact: {obstacles: [{name: a}]}\n", 5, "has no shape"},
    {GOOD_HEAD FIXED "contact: {obstacles: [{name: a, sphere: {centre: [0, 0, 0], radius: 1}, box: {}}]}\n",
     5, "has two shapes"},
    {GOOD_HEAD FIXED "contact: {obstacles: [{name: a, sphere: {centre: [0, 0, 0], radius: 0}}]}\n", 5,
     "radius"},
    {GOOD_HEAD FIXED "contact: {obstacles: [{name: a, plane: {point: [0, 0, 0], normal: [0, 0, 0]}}]}\n", 5,
     "has no direction"},
    {GOOD_HEAD FIXED "contact: {obstacles: [{name: a, surface: part.stl}]}\n", 5, "'unit' is missing"},
    {GOOD_HEAD FIXED
     "contact: {obstacles: [{name: a, plane: {point: [0, 0, 0], normal: [0, 0, 1]}, range: [0, 1]}]}\n",
     5, "has a range but no `move`"},
    {GOOD_HEAD FIXED "contact: {obstacles: [{name: self, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}]}\n",
     5, "choose another"},
    {GOOD_HEAD FIXED "hardware: 3\n", 5, "hardware: expected"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pmp: {axis: X, per_unit: 1 mL}\n", 8, "did you mean 'pump'"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {axis: Q, per_unit: 1 mL}\n", 8, "expected one of X, Y, Z"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {per_unit: 1 mL}\n", 8, "'axis' is missing"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {axis: X}\n", 8, "'per_unit' is missing"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {axis: X, per_unit: 1 mm}\n", 8,
     "is a length, expected a volume"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {axis: X, per_unit: -1 mL}\n", 8, "reverse: true"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {axis: X, per_unit: 1 mL, feed: 0}\n", 8,
     "must be greater than 0"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {axis: X, per_unit: 1 mL, offset: 9, range: [0, 5]}\n", 8,
     "outside the range of the axis"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {axis: X, per_unit: 1 mL, speed: 5}\n", 8,
     "unknown key 'speed'"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {below_zero: suck}\n", 8, "expected one of refuse, clip, pull"},
    {GOOD_HEAD FIXED PUMP "hardware:\n  pump: {below_zero: clip, axis: X}\n", 8, "'per_unit' is missing"},
    {GOOD_HEAD FIXED AIR "}\nhardware:\n  air: {axis: X, per_unit: 1 mL}\n", 8,
     "the drive pressure has no axis"},
    {GOOD_HEAD FIXED AIR ", rate: 5}\n", 6, "write 5 kPa/s"},
    {GOOD_HEAD FIXED AIR ", rate: 5 kPa}\n", 6, "per second"},
    {GOOD_HEAD FIXED AIR ", rate: 0}\n", 6, "must be greater than 0"},
    {GOOD_HEAD FIXED AIR ", rate: [1]}\n", 6, "expected a number per second"},
    {"pliant: 1\nmesh: {order: 2}\n", 2, "no source given"},
    {"pliant: 1\nmesh: {file: a.msh, step: b.step}\n", 2, "exactly one source"},
    {"pliant: 1\nmesh: {file: a.stl}\n", 2, "is a surface, not a volume mesh"},
    {"pliant: 1\nmesh: {file: a.txt}\n", 2, "an extension that cannot be read, expected "},
    {"pliant: 1\nmesh: {step: a.igs}\n", 2, "expected .step"},
    {"pliant: 1\nmesh:\n  parts: [{surface: a.stl, region: r}]\n", 3, "'unit' is missing"},
    {"pliant: 1\nmesh:\n  unit: mm\n  parts:\n  - {region: r}\n", 5, "'surface' is missing"},
    {"pliant: 1\nmesh: {design: {length: 3}}\n", 2, "'kind' is missing"},
    {"pliant: 1\nmesh: {design: {kind: block, length: [3]}}\n", 2, "expected a number, found a list"},
    {"pliant: 1\nmesh: {design: {kind: block}, order: 3}\n", 2, "expected 1 or 2"},
    {"pliant: 1\nmesh: {design: {kind: block}, size: -1}\n", 2, "must be greater than 0"},
    {"pliant: 1\nmesh: {design: {kind: block}, size: 5 bar}\n", 2, "is a pressure, expected a length"},
    {"pliant: 1\nmesh: {file: a.msh, unit: ft}\n", 2, "'ft' is unknown"},
    {GOOD_HEAD FIXED "surfaces: {s: {box: [[0,0,0],[1,1]]}}\n", 5,
     "expected three numbers [x, y, z], found 2"},
    {GOOD_HEAD FIXED "surfaces: {s: {box: [[0,0,0],[-1,1,1]]}}\n", 5, "reversed along x"},
    {GOOD_HEAD FIXED "surfaces: {s: {plane: {point: [0,0,0], normal: [0,0,0]}}}\n", 5, "no direction"},
    {GOOD_HEAD FIXED "surfaces: {s: {seen: [0,0,0]}}\n", 5, "seen_from"},
    {GOOD_HEAD FIXED "surfaces: {s: {box: [[90,0,0],[99,1,1]]}}\n", 5, "selects no face"},
    {"pliant: 1\nmesh: {design: {kind: block}}\n" FIXED, 1, "'materials' is missing"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials: {m: {use: dragon_skin_200}}\n" FIXED, 3,
     "did you mean 'dragon_skin_20'"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials: {m: {model: neohookean}}\n" FIXED, 3,
     "did you mean 'neo_hookean'"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: linear, young: 1, poisson: 0.3, "
     "c10: 1}\n" FIXED,
     4, "not a constant of the model linear"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: linear, young: 1, poisson: "
     "0.6}\n" FIXED,
     4, "poisson"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: linear, young: 1, poisson: 0.4, "
     "density: 1070}\n" FIXED,
     4, "write 1070 kg/m^3"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: linear, young: 1, poisson: 0.4, "
     "damping: 1}\n" FIXED,
     4, "reserved"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: linear, young: 1, poisson: 0.4, "
     "prony: 3}\n" FIXED,
     4, "prony"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: linear, young: 1, poisson: 0.4, "
     "prony: [{g: 0.1}]}\n" FIXED,
     4, "tau"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: linear, young: 1, poisson: 0.4, "
     "prony: [{g: 0.1, tau: -1 s}]}\n" FIXED,
     4, "tau"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {use: a, model: linear}\n" FIXED, 4,
     "both given"},
    {GOOD_HEAD FIXED "regions:\n  skin: n\n", 6, "no material 'n'"},
    {GOOD_HEAD FIXED "regions:\n  skin: m\n  layre: m\n  plug: m\n", 7, "did you mean 'layer'"},
    {GOOD_HEAD FIXED "regions:\n  skin: m\n", 6, "has no material"},
    {GOOD_HEAD, 1, "the body has no support"},
    {GOOD_HEAD "fixed: [{surface: bse}]\n", 4, "did you mean 'base'"},
    {GOOD_HEAD "fixed: [{surface: base, region: skin}]\n", 4, "exactly one of surface, region, box"},
    {GOOD_HEAD "fixed: [{surface: base, axes: [w]}]\n", 4, "'w' is unknown"},
    {GOOD_HEAD "fixed: [{box: [[90,0,0],[99,1,1]]}]\n", 4, "contains no vertex"},
    {GOOD_HEAD "fixed:\n- {surface: base}\n- {surface: top, move: [1, 0, 0]}\n", 6,
     "along x, but 'base' (line 5)"},
    {GOOD_HEAD "fixed: [{surface: base, rotate: {axis: [0,0,0], angle: 1}}]\n", 4, "has no direction"},
    {GOOD_HEAD FIXED "rigid: [{region: plugg}]\n", 5, "did you mean 'plug'"},
    {GOOD_HEAD FIXED "rigid: [{region: plug}, {region: layer}]\n", 5, "shares vertices"},
    {GOOD_HEAD FIXED AIR ", range: [0, 25]}\n", 6, "25 could be Pa, kPa or MPa"},
    {GOOD_HEAD FIXED AIR ", range: [9 kPa, 5 kPa]}\n", 6, "reversed"},
    {GOOD_HEAD FIXED AIR ", range: 5 kPa}\n", 6, "expected a range"},
    {GOOD_HEAD FIXED AIR ", radius: 3}\n", 6, "is only for a cable"},
    {GOOD_HEAD FIXED AIR ", fluid: gas}\n", 6, "is only for the drive syringe"},
    {GOOD_HEAD FIXED AIR ", delay: -3}\n", 6, "must not be negative"},
    {GOOD_HEAD FIXED AIR ", dead_zone: 2 mm}\n", 6, "dead_zone"},
    {GOOD_HEAD FIXED AIR ", table: 3}\n", 6, "expected a list"},
    {GOOD_HEAD FIXED AIR ", table: [[0 kPa, 1]]}\n", 6, "at least 2"},
    {GOOD_HEAD FIXED AIR ", table: [[0 kPa, 1], [5, 2]]}\n", 6, "5 could be Pa, kPa or MPa"},
    {GOOD_HEAD FIXED AIR ", table: [[0 kPa, 1], [5 kPa]]}\n", 6, "expected [pressure, ratio]"},
    {GOOD_HEAD FIXED AIR ", table: [[5 kPa, 1], [2 kPa, 2]]}\n", 6, "must come after"},
    {GOOD_HEAD FIXED AIR ", table: [[0 kPa, 1], [5 kPa, 2], [9 kPa, 1.5]]}\n", 6, "not monotone"},
    {GOOD_HEAD FIXED AIR ", range: [0 kPa, 20 kPa], table: [[0 kPa, 1], [5 kPa, 2]]}\n", 6,
     "exceeds its table"},
    {GOOD_HEAD FIXED AIR ", modulus: 1}\n", 6, "needs actuation: growth"},
    {GOOD_HEAD FIXED AIR ", actuation: grow}\n", 6, "did you mean 'growth'"},
    {GOOD_HEAD FIXED AIR ", actuation: growth, modulus: 1}\n", 6, "driven by a ratio"},
    {GOOD_HEAD FIXED AIR "}\ncommands: {c: {drives: {air: 1}, one_sided: 3}}\n", 7, "one_sided"},
    {GOOD_HEAD FIXED "regions:\n  skin: {material: m, rest_area: 0.7}\n  layer: m\n  plug: m\n", 6,
     "an area ratio needs prisms"},
    {GOOD_HEAD FIXED "regions:\n  skin: {material: m, rest_volume: 30}\n  layer: m\n  plug: m\n", 6,
     "between 0.1 and 10"},
    {GOOD_HEAD FIXED "regions:\n  skin: [m]\n", 6, "or {material: ...}"},
    {"pliant: 1\nmesh:\n  sheets:\n  - {region: a, outline: [[0, 0], [1, 0]], to: 1}\n", 4, "at least 3"},
    {"pliant: 1\nmesh:\n  sheets:\n  - {region: a, outline: [[0, 0], [1, 1], [1, 0], [0, 1]], to: 1}\n", 4,
     "intersects itself"},
    {"pliant: 1\nmesh:\n  sheets:\n  - {region: a, outline: [[0, 0], [2, 0], [2, 1], [1, 0], [0, 1]], to: "
     "1}\n",
     4, "intersects itself"},
    {"pliant: 1\nmesh:\n  sheets:\n  - {region: a, outline: [[0, 0], [2, 0], [1, 0], [0, 1]], to: 1}\n", 4,
     "folds back on itself"},
    {"pliant: 1\nmesh:\n  sheets:\n  - {region: a, outline: [[0, 0], [2, 0], [2, 0], [0, 1]], to: 1}\n", 4,
     "folds back on itself"},
    {"pliant: 1\nmesh:\n  sheets:\n  - {region: a, outline: [[0, 0], [1, 0], [1, 1]], to: -1}\n", 4,
     "expected 'from' below 'to'"},
    {"pliant: 1\nmesh:\n  sheets:\n  - {region: a, outline: [[0, 0], [1, 0, 0], [1, 1]], to: 1}\n", 4,
     "expected [x, y]"},
    {GOOD_HEAD FIXED "actuators:\n- {name: a b, kind: chamber, surface: cavity, drive: pressure}\n", 6,
     "is not a valid name"},
    {GOOD_HEAD FIXED "markers:\n  \"tip,left\": {surface: top}\n", 6, "'tip,left' is not a valid name"},
    {GOOD_HEAD FIXED "markers:\n  'a\"b': {surface: top}\n", 6, "is not a valid name"},
    {GOOD_HEAD FIXED "markers:\n  \"a\\nb\": {surface: top}\n", 6, "'a?b' is not a valid name"},
    {GOOD_HEAD FIXED "actuators:\n- {name: a, kind: chamber, surface: cavity, drive: pressure}\ncommands:\n"
                     "  \"x,y\": {drives: {a: 1}}\n",
     8, "is not a valid name"},
    {GOOD_HEAD FIXED "sensors:\n- {name: \"l\\r\", kind: length, through: [[0, 0, 0], [1, 1, 1]]}\n", 6,
     "is not a valid name"},
    {GOOD_HEAD FIXED "actuators:\n- {name: a, kind: chamber, surface: cavity, drive: tension}\n", 6,
     "expected one of volume_ratio"},
    {GOOD_HEAD FIXED "actuators:\n- {name: a, kind: chamber, surface: top, drive: pressure}\n", 6,
     "expected a cavity"},
    {GOOD_HEAD FIXED "actuators:\n- {name: a, kind: cable, drive: tension}\n", 6, "'through'"},
    {GOOD_HEAD FIXED "actuators:\n- {name: a, kind: cable, drive: tension, through: [[1,1,1]]}\n", 6,
     "at least 2"},
    {GOOD_HEAD FIXED
     "actuators:\n- name: a\n  kind: cable\n  drive: tension\n  through:\n  - [1,1,1]\n  - [1,1,80]\n",
     11, "is 50 mm outside the body"},
    {GOOD_HEAD FIXED "actuators:\n- {name: a, kind: film, drive: voltage, surface: top}\n", 6,
     "'thickness' and 'permittivity'"},
    {GOOD_HEAD FIXED
     "actuators:\n- {name: a, kind: cable, drive: shortening, range: [-1, 2], through: [[1,1,1],[2,2,2]]}\n",
     6, "cannot start below 0"},
    {GOOD_HEAD FIXED AIR "}\n- {name: pump, kind: chamber, surface: cavity, drive: volume}\n", 7,
     "have the same walls"},
    {GOOD_HEAD FIXED AIR "}\n- {name: air, kind: chamber, surface: cavity, drive: pressure}\n", 7,
     "given twice, first on line 6"},
    {GOOD_HEAD FIXED AIR "}\ncommands: {bend: {drives: {airr: 1}}}\n", 7, "did you mean 'air'"},
    {GOOD_HEAD FIXED AIR "}\ncommands: {a: {drives: {air: 1}}, b: {drives: {air: 2}}}\n", 7,
     "driven by two commands"},
    {GOOD_HEAD FIXED AIR "}\ncommands: {a: {drives: {air: 0}}}\n", 7, "other than 0"},
    {GOOD_HEAD FIXED "markers: {t: {surface: tpi}}\n", 5, "did you mean 'tip'"},
    {GOOD_HEAD FIXED "markers: {t: {}}\n", 5, "exactly one of surface, at"},
    {GOOD_HEAD FIXED "markers: {t: {at: [1, 2, nan]}}\n", 5, "expected a number, found 'nan'"},
    {GOOD_HEAD FIXED "sensors: [{name: s, kind: volume, actuator: q}]\n", 5, "no actuator 'q'"},
    {GOOD_HEAD FIXED "sensors: [{name: s, kind: length, noise: 1 kPa}]\n", 5, "noise"},
    {GOOD_HEAD FIXED "controller: {kind: pid}\n", 5, "expected one of open, pi, track, impedance"},
    {GOOD_HEAD FIXED "estimator: {forces: tip}\n", 5, "expected a list"},
    {GOOD_HEAD FIXED "plant: {lag: -1}\n", 5, "must not be negative"},
    {GOOD_HEAD FIXED "sensors: [{name: s, kind: light}]\n", 5, "expected one of length, volume, pressure"},
    {GOOD_HEAD FIXED "loads: {gravity: [0, 0, -9.81]}\n", 5, "write -9.81 m/s^2"},
    {GOOD_HEAD FIXED "loads: {gravity: -9.81 m/s^2}\n", 5,
     "expected three numbers [x, y, z], found a single value"},
    {GOOD_HEAD FIXED "loads: {forces: [{marker: tip, force: [0,0,1]}]}\n", 5, "no marker 'tip'"},
    {GOOD_HEAD FIXED "loads: {pressures: [{surface: outside, pressure: 1 kPa}]}\n", 5,
     "no surface 'outside'"},
    {GOOD_HEAD FIXED "solver: {method: local_gobal}\n", 5, "local_global"},
    {GOOD_HEAD FIXED "solver: {metric: vertex}\n", 5, "is only for the method local_global"},
    {GOOD_HEAD FIXED "solver: {method: local_global, warp: false}\n", 5, "is only for the method exact"},
    {GOOD_HEAD FIXED "solver: {method: local_global, window: 30}\n", 5, "from 1 to 20"},
    {GOOD_HEAD FIXED "solver: {method: local_global, metric: vertex, form: mu_lambda}\n", 5, "gradient"},
    {GOOD_HEAD FIXED "solver: {iteration_limit: 2.5}\n", 5, "expected a whole number"},
    {GOOD_HEAD FIXED "solver: {warp: maybe}\n", 5, "expected true or false"},
    {GOOD_HEAD FIXED SPRING ", from: tipp, to: [0, 0, 9], stiffness: 1}\n", 7, "did you mean 'tip'"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: nose, stiffness: 1}\n", 7, "nose"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: tip, stiffness: 1}\n", 7, "to itself"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: [0, 0, 9], stiffness: -1}\n", 7, "stiffness"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: [0, 0, 9], stiffness: 3 N}\n", 7, "expected a stiffness (N/mm"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: [0, 0, 9]}\n", 7, "'stiffness' is missing"},
    {GOOD_HEAD FIXED SPRING ", from: tip, stiffness: 1}\n", 7, "'to' is missing"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: {x: 1}, stiffness: 1}\n", 7, "a marker, or a point in space"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: [1, 2], stiffness: 1}\n", 7, "to"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: [10, 10, 10], stiffness: 1}\n", 7, "lie in one point"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: [0, 0, 9], stiffness: 1, rest_length: -2}\n", 7, "rest_length"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: [0, 0, 9], stiffness: 1, mode: push}\n", 7, "tension_only"},
    {GOOD_HEAD FIXED SPRING ", from: tip, to: [0, 0, 9], stiffness: 1, lenght: 2}\n", 7, "lenght"},
    {GOOD_HEAD FIXED LAYER ", surface: nose, material: m, thickness: 0.1}\n", 6, "nose"},
    {GOOD_HEAD FIXED LAYER ", material: m, thickness: 0.1}\n", 6, "exactly one of 'surface' and 'between'"},
    {GOOD_HEAD FIXED LAYER ", surface: base, thickness: 0.1}\n", 6, "'material' is missing"},
    {GOOD_HEAD FIXED LAYER ", surface: base, material: m, thickness: -1}\n", 6, "thickness"},
    {GOOD_HEAD FIXED LAYER ", surface: base, material: m, thickness: 1, side: top}\n", 6, "outside"},
    {GOOD_HEAD FIXED LAYER ", surface: base, material: m, thickness: 1, wrinkling: 2}\n", 6, "wrinkling"},
    {GOOD_HEAD FIXED LAYER ", surface: base, material: m, thickness: 1, wrinkling: never}\n", 6, "wrinkling"},
    {GOOD_HEAD FIXED LAYER ", between: [a], material: m, thickness: 1}\n", 6, "two regions"},
    {GOOD_HEAD FIXED FIBRE ", kind: spiral, surface: base}\n", 6, "helix"},
    {GOOD_HEAD FIXED FIBRE ", kind: line, surface: base}\n", 6, "'through' is missing"},
    {GOOD_HEAD FIXED FIBRE ", kind: rings, surface: base, axis: [0, 0, 1]}\n", 6, "pitch"},
    {GOOD_HEAD FIXED FIBRE ", kind: helix, surface: base, axis: [0, 0, 1]}\n", 6, "'pitch' and 'angle'"},
    {GOOD_HEAD FIXED FIBRE ", kind: line, surface: base, through: [[0, 0, 0], [1, 1, 0]], hand: left}\n", 6,
     "does not belong to a line"},
    {GOOD_HEAD FIXED FIBRE ", kind: line, surface: base, through: [[0, 0, 0], [1, 1, 0]], young: 1}\n", 6,
     "'young' with 'diameter'"},
    {DESIGN("scale: scale"), 2, "'scale' is a number of the design, and these cannot use each other"},
    {GOOD_HEAD FIXED "parameters: {a: b + 1, b: c, c: 2*a}\n", 5, "needs its own value"},
    {GOOD_HEAD FIXED "parameters: {a: 1 +}\n", 5, "ends where a number or a name is expected"},
    {GOOD_HEAD FIXED "parameters: {a: 1 kPa + 1 mm, b: a + 1}\n", 5, "'a' has no value: see line 5"},
    {GOOD_HEAD FIXED "markers: {repeat: {index: i, to: 3, each: {m$j: {at: [0, 0, 0]}}}}\n", 5,
     "there is no parameter 'j'"},
    {GOOD_HEAD FIXED "surfaces: {q: {seen_from: [2, 2, 2]}}\n", 5, "surface 'q' selects no face: the point"},
    {GOOD_HEAD FIXED "errors: {}\n", 5, "'errors' is only for a reduced model"},
    {MODEL "contact: {self: true}\n", 3, "'contact' is only for a robot with a mesh"},
    {TWO_BODIES("[5, 0, 0]"), 4, "one stands in the other"},
    {TWO_BODIES("[0, 0, 0]"), -1, "one stands in the other"},
    {"pliant: 1\nbodies: []\n", 2, "bodies is empty"},
    {"pliant: 1\nmesh: {design: {kind: block}}\nbodies: [{name: a}]\n", 2, "must be inside a body"},
    {"pliant: 1\nbodies:\n- {name: a.b, mesh: {design: {kind: block}}}\n", 3, "not a valid name for a body"},
    {"pliant: 1\nbodies:\n- {name: a, mesh: {design: {kind: block}}}\n- {name: a, mesh: {design: {kind: "
     "block}}}\n",
     4, "given twice"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        pl_findings *findings = pl_findings_create();
        pl_robot *robot = NULL;
        pl_error err = {0};
        const pl_status status = load(wrong[i].text, &robot, findings, &err);
        if (status != PL_BAD_INPUT || robot ||
            !fix_has_finding(findings, PL_DEFECT, wrong[i].line, wrong[i].words)) {
            print_error("row %zu: status %d, wanted line %d '%s', got:\n", i, (int)status, wrong[i].line,
                        wrong[i].words);
            fix_print_findings(findings);
            print_error("%s\n", wrong[i].text);
            fail();
        }
        assert_true(strlen(err.text) > 0);
        pl_findings_destroy(findings);
    }

    print_message("%zu wrong files\n", sizeof wrong / sizeof wrong[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
