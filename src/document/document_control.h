// Inside document: the blocks of a robot file about estimation and control, as read.
#ifndef PL_DOCUMENT_CONTROL_H
#define PL_DOCUMENT_CONTROL_H

#include "document/document_reader.h"

// A force from one time to another.
typedef struct doc_control_payload {
    const char *marker;
    double force[3], from, to; // N; s
} doc_control_payload;

// A sensor that fails from one time to another.
typedef struct doc_control_fault {
    const char *sensor;
    int kind;        // pl_plant_fault_kind
    double from, to; // s
    double value;    // in the unit of the sensor
    int line;
} doc_control_fault;

// The three blocks with defaults where keys are missing.
typedef struct doc_control {
    struct {
        int kind;           // pl_control_kind
        const char *marker; // whose position is controlled; NULL: the sensors
        double period, kp, ki, gain, damping, energy, stiffness[3]; // s; see pl_controller_options
    } controller;
    struct {
        const char **force; // markers
        int force_count;
        double force_sigma, command_sigma, command_drift, force_drift, outlier, stiffness_sigma, model_error;
        bool recursive;
        int line;
    } estimator;
    struct {
        double delay, lag, backlash; // s, s, share of the range
        doc_control_payload payload;
        int seed, payload_line;
        bool motion;
        doc_control_fault *fault;
        int fault_count;
    } plant;
} doc_control;

#endif
