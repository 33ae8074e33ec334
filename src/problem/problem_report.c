// The names of outcomes.
#include "base/base.h"
#include "pliant/problem.h"

const char *pl_outcome_name(pl_outcome outcome)
{
    static const char *const name[] = {
#define X(code, text) [code] = text,
        PL_OUTCOME_LIST(X)
#undef X
    };
    return (int)outcome >= 0 && (int)outcome < PL_COUNT(name) ? name[outcome] : "unknown";
}
