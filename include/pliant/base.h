// Shared by all modules: status codes, error messages, findings, and hooks for log, memory and progress.
#ifndef PLIANT_BASE_H
#define PLIANT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PL_API __attribute__((visibility("default")))
#define PL_API_CHECKED PL_API __attribute__((warn_unused_result)) // its result must be looked at
#define PL_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define PL_API
#define PL_API_CHECKED PL_API
#define PL_PRINTF(f, a)
#endif

#define PL_VERSION_MAJOR 0
#define PL_VERSION_MINOR 1
#define PL_VERSION_PATCH 0
#define PL_VERSION_NUMBER (PL_VERSION_MAJOR * 10000 + PL_VERSION_MINOR * 100 + PL_VERSION_PATCH)
#define PL_VERSION "0.1.0"
PL_API const char *pl_version(void); // of the library that is loaded
PL_API int pl_version_number(void);  // as PL_VERSION_NUMBER

// Whether a call succeeded. A solve that does not converge is not an error: see pl_outcome in statics.h.
#define PL_STATUS_LIST(X)                                                                                    \
    X(PL_OK, "done")                                                                                         \
    X(PL_BAD_INPUT, "wrong input")                                                                           \
    X(PL_BAD_FILE, "the file cannot be read or written")                                                     \
    X(PL_NO_MEMORY, "out of memory")                                                                         \
    X(PL_INTERRUPTED, "interrupted")                                                                         \
    X(PL_FAILED, "an internal step failed")

typedef enum pl_status {
#define X(code, text) code,
    PL_STATUS_LIST(X)
#undef X
} pl_status;

PL_API const char *pl_status_text(pl_status status);

// A status and one message, on the caller's stack. Every function that checks input takes a pl_error *,
// which may be NULL.
typedef struct pl_error {
    pl_status status;
    char text[1000];
} pl_error;

// Findings: several defects reported together, each with its location in a file and advice.
typedef enum pl_severity { PL_NOTE, PL_WARNING, PL_DEFECT } pl_severity;

typedef struct pl_finding {
    pl_severity severity;
    const char *file;   // NULL if not about a file
    int line;           // 1-based; 0 when unknown
    const char *text;   // what was found and what was expected
    const char *advice; // how to fix it; "" if there is none
    bool has_place;
    double place[3];         // mm, position in the mesh
    const int32_t *elements; // the elements concerned
    int32_t element_count;
} pl_finding;

// The known word nearest to `word` (edit distance at most a third of its length plus one), or NULL; used for
// suggestions in messages.
PL_API const char *pl_nearest_word(const char *word, const char *const *known, int count);

typedef struct pl_findings pl_findings;
PL_API pl_findings *pl_findings_create(void); // NULL when out of memory
PL_API void pl_findings_destroy(pl_findings *findings);
PL_API int pl_findings_count(const pl_findings *findings);
PL_API int pl_findings_defect_count(const pl_findings *findings);
PL_API const pl_finding *pl_findings_at(const pl_findings *findings, int i); // borrowed until the next add

// Adds a finding; `findings` may be NULL. Returns its index, or -1 if it could not be stored.
PL_API int pl_findings_add(pl_findings *findings, pl_severity severity, const char *file, int line,
                           const char *format, ...) PL_PRINTF(5, 6);

// Add advice, or a position and elements, to the last finding.
PL_API void pl_findings_advise(pl_findings *findings, const char *format, ...) PL_PRINTF(2, 3);
PL_API void pl_findings_place(pl_findings *findings, const double place[3], const int32_t *elements,
                              int32_t element_count);

// Progress of long computations. `step` is called with a fraction in [0, 1] (negative: unknown) and a short
// text. It returns false to stop the computation, which then ends with PL_INTERRUPTED or the outcome
// "interrupted".
typedef struct pl_progress {
    bool (*step)(void *user, double fraction, const char *what);
    void *user;
} pl_progress;

// Hooks, to be set once, before any other call. The library itself never prints.
typedef void (*pl_log_hook)(void *user, int level, const char *text); // level 0 note, 1 detail, 2 trace
PL_API void pl_log_set(pl_log_hook hook, void *user, int level);
typedef void *(*pl_realloc_hook)(void *user, void *block, size_t bytes); // bytes 0 frees
PL_API void pl_memory_set(pl_realloc_hook hook, void *user);

// Number of threads for element loops, assembly and factorisations; results are bitwise independent of it. 0
// (default): the environment variable PLIANT_THREADS, or the number of processors available to the process;
// at most 128. The threads belong to the library: they sleep while there is nothing to do and end with the
// last solver. Several solvers may run in several threads of a program at the same time; they share these
// threads.
PL_API void pl_threads_set(int count);
PL_API int pl_threads_get(void);

// ---- what a number measures. Inside the library lengths are in mm, masses in t, times in s, temperatures in
// K, voltages in V, angles in rad; hence forces in N and stresses in MPa.
typedef enum pl_dimension {
    PL_DIM_NUMBER,
    PL_DIM_LENGTH,
    PL_DIM_FORCE,
    PL_DIM_PRESSURE,
    PL_DIM_STRESS,
    PL_DIM_VOLUME,
    PL_DIM_ANGLE,
    PL_DIM_TIME,
    PL_DIM_DENSITY,
    PL_DIM_ACCELERATION,
    PL_DIM_VOLTAGE,
    PL_DIM_MOMENT,
    PL_DIM_TEMPERATURE,
    PL_DIM_AREA,
    PL_DIM_STIFFNESS,
    PL_DIM_MASS,
    PL_DIM_FLUX_DENSITY, // magnetic; V s/mm^2, a million tesla
    PL_DIM_COUNT
} pl_dimension;

#ifdef __cplusplus
}
#endif
#endif
