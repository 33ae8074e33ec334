// Checks shared by all tests, on top of cmocka. Numbers are compared in double and printed when they differ.
#ifndef PL_CHECK_H
#define PL_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <cmocka.h>

#define PL_CHECK_NEAR(got, want, tolerance)                                                                  \
    do {                                                                                                     \
        const double pl_got_ = (got), pl_want_ = (want), pl_tol_ = (tolerance);                              \
        if (!(fabs(pl_got_ - pl_want_) <= pl_tol_)) {                                                        \
            print_error("%s:%d: %s is %.15g, wanted %.15g within %.3g (off by %.3g)\n", __FILE__, __LINE__,  \
                        #got, pl_got_, pl_want_, pl_tol_, fabs(pl_got_ - pl_want_));                         \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

#define PL_CHECK_BELOW(got, limit)                                                                           \
    do {                                                                                                     \
        const double pl_got_ = (got), pl_limit_ = (limit);                                                   \
        if (!(pl_got_ <= pl_limit_)) {                                                                       \
            print_error("%s:%d: %s is %.6g, allowed %.6g\n", __FILE__, __LINE__, #got, pl_got_, pl_limit_);  \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

#define PL_CHECK_OK(call)                                                                                    \
    do {                                                                                                     \
        const pl_status pl_status_ = (call);                                                                 \
        if (pl_status_ != PL_OK) {                                                                           \
            print_error("%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, pl_status_text(pl_status_),       \
                        err.text);                                                                           \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

#endif
