// What solver_mpi.c and the program `pliant-mumps` say to each other over a socket of the same machine: a
// head, then the numbers it announces, in the byte order of the machine.
#ifndef PL_SOLVER_REMOTE_H
#define PL_SOLVER_REMOTE_H

#include <stdint.h>

#define REMOTE_SOCKET "PLIANT_MUMPS_SOCKET" // variable: name of the abstract socket that rank 0 connects to
#define REMOTE_TOKEN "PLIANT_MUMPS_TOKEN"   // variable: what it says first, 16 characters
#define REMOTE_TOKEN_SIZE 16

typedef enum remote_job {
    REMOTE_ANALYSE = 1, // n unknowns, `count` entries: rows, columns (from 1) and ranks follow, int32
    REMOTE_FACTOR,      // the values of the entries follow, double
    REMOTE_SOLVE,       // `count` right sides follow, double; the solutions come back behind the answer
    REMOTE_END
} remote_job;

typedef struct remote_head {
    int64_t job, n, count;
} remote_head;

typedef struct remote_answer {
    int64_t code, more;     // INFOG(1) and (2) of MUMPS
    int64_t negative, null; // pivots
    double entries, flops;  // of the factor
    int64_t processes;
} remote_answer;

#endif
