#include "dynamics/dynamics_impl.h"
pl_status dynamics_viscous_create(pl_dynamics *d, pl_error *err)
{
    (void)d;
    (void)err;
    return PL_OK;
}
void dynamics_viscous_destroy(pl_dynamics *d)
{
    (void)d;
}
void dynamics_viscous_relax(pl_dynamics *d, const double *x)
{
    (void)d;
    (void)x;
}
void dynamics_viscous_begin(pl_dynamics *d, double s, bool second)
{
    (void)d;
    (void)s;
    (void)second;
}
double dynamics_viscous_end(pl_dynamics *d, double s, bool second, const double *x)
{
    (void)d;
    (void)s;
    (void)second;
    (void)x;
    return 0;
}
void dynamics_viscous_hold(pl_dynamics *d)
{
    (void)d;
}
void dynamics_viscous_off(pl_dynamics *d)
{
    (void)d;
}
void dynamics_viscous_accept(pl_dynamics *d)
{
    (void)d;
}
int64_t dynamics_viscous_count(const pl_dynamics *d)
{
    (void)d;
    return 0;
}
void dynamics_viscous_write(const pl_dynamics *d, double *out)
{
    (void)d;
    (void)out;
}
void dynamics_viscous_read(pl_dynamics *d, const double *in, const double *x)
{
    (void)d;
    (void)in;
    (void)x;
}
