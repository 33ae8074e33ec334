// Pliant: the kinematics of soft robots. The headers in reading order follow the flow of data:
//
//   base       status codes, error messages, findings, hooks
//   mesh       volume meshes, triangle surfaces (meshing.h, a separate library, generates them with Gmsh)
//   material   material laws and the material library
//   camera     projection, images, chessboards, points from pixels
//   robot      description of a robot, the meaning of a command, the state
//   problem    what acts on the body: formulation, parameters, readings
//   statics    equilibrium of the full body, exact derivatives
//   shapes     stable shapes at given commands    (module statics)
//   dynamics   motion of the full body in time, free vibrations
//   model      one interface to every kind of robot; the record of a result
//   inverse    inverse kinematics                 (module kinematics)
//   target     geometric targets                  (module kinematics)
//   motion     paths, workspaces, tasks, sweeps   (module kinematics)
//   reduced    reduced models
//   calib      parameters from measurements
//   control    compliance, estimation, controllers, simulated robots
//   learn      networks and Gaussian processes on plain arrays
//   learned    learned models, data sets, adaptation to measurements
//   text       numbers with units, files
//   meshfile   meshes in the formats of other programs
//   document   robot files: read, edited, built
//   analysis   studies of variants, task files, coarse models
//   result     results as files: shapes, pictures, tables, reports
//   dataset    samples, measurements, waypoints
//
// A first program needs pl_model_load (document.h), pl_model_fk and pl_model_get_answer (model.h).
#ifndef PLIANT_PLIANT_H
#define PLIANT_PLIANT_H

#include "pliant/base.h"
#include "pliant/mesh.h"
#include "pliant/material.h"
#include "pliant/camera.h"
#include "pliant/robot.h"
#include "pliant/problem.h"
#include "pliant/statics.h"
#include "pliant/shapes.h"
#include "pliant/dynamics.h"
#include "pliant/schedule.h"
#include "pliant/model.h"
#include "pliant/simulation.h"
#include "pliant/inverse.h"
#include "pliant/target.h"
#include "pliant/motion.h"
#include "pliant/reduced.h"
#include "pliant/calib.h"
#include "pliant/control.h"
#include "pliant/learn.h"
#include "pliant/learned.h"
#include "pliant/text.h"
#include "pliant/meshfile.h"
#include "pliant/document.h"
#include "pliant/analysis.h"
#include "pliant/result.h"
#include "pliant/dataset.h"

#endif
