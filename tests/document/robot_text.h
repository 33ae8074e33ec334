// Robots from text, for the tests of robot files: the meshes come from a fixture, and the beginning of a file
// that is right.
#include <stdio.h>
#include "robot/robot_fixture.h"
#include "base/base.h"
#include "document/document.h"
#include "robot/robot.h"
#include "pliant/result.h"

static const pl_mesher mesher = {.build = fix_build};
static const pl_load_options options = {.mesher = &mesher};

static pl_status load(const char *text, pl_robot **robot, pl_findings *findings, pl_error *err)
{
    return pl_robot_load_text(text, strlen(text), NULL, &options, robot, findings, err);
}

// A file that is right so far; four lines.
#define GOOD_HEAD                                                                                            \
    "pliant: 1\nmesh: {design: {kind: block}, order: 1}\nmaterials: {m: {model: neo_hookean, c10: 0.1}}\n"
#define FIXED "fixed: [{surface: base}]\n"
#define AIR "actuators:\n- {name: air, kind: chamber, surface: cavity, drive: pressure"
