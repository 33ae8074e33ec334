// The linear matrix inequality of the PI loop, solved by CSDP where the program was built with it.
#ifndef PL_CLI_LMI_H
#define PL_CLI_LMI_H

// The largest gamma and the matrix P = [p0 p1; p1 p2] that proves it. NULL, or why there is none.
const char *cli_lmi_margin(double kp, double ki, double *gamma, double P[3]);

#endif
