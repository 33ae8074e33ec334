// Pliant: the kinematics of soft robots. Read the headers in this order and you have seen the flow of data:
//   a robot file (io) names meshes (mesh, meshing) and materials (material) and becomes a robot (robot);
//   statics finds the shape for given commands, the efforts, and their exact derivatives.
#ifndef PLIANT_PLIANT_H
#define PLIANT_PLIANT_H

#include "pliant/base.h"
#include "pliant/mesh.h"
#include "pliant/material.h"
#include "pliant/robot.h"
#include "pliant/statics.h"
#include "pliant/geometric.h"
#include "pliant/model.h"
#include "pliant/inverse.h"
#include "pliant/motion.h"
#include "pliant/reduced.h"
#include "pliant/calib.h"
#include "pliant/io.h"
#include "pliant/target.h"
#include "pliant/report.h"

#endif
