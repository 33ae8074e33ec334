// Loads a chain into MuJoCo, puts it into its key frame and lets it go on: where the markers are, in mm, and
// then stay.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>

int main(int count, char **word)
{
    char error[1000] = "";
    mjModel *m = mj_loadXML(word[1], NULL, error, sizeof error);
    if (!m || error[0]) {
        printf("%s\n", error);
        return 1;
    }
    mjData *d = mj_makeData(m);
    if (m->nkey > 0) {
        mj_resetDataKeyframe(m, d, 0);
    }
    mj_forward(m, d);
    if (m->nsite > 0) {
        printf("key %.6f %.6f %.6f\n", 1e3 * d->site_xpos[0], 1e3 * d->site_xpos[1], 1e3 * d->site_xpos[2]);
    }
    // rest: no commands at first
    mj_resetData(m, d);
    for (int k = 0; k < m->nu; ++k) {
        d->ctrl[k] = m->nkey > 0 ? m->key_ctrl[k] : 0;
    }
    while (d->time < 5) {
        mj_step(m, d);
    }
    double speed = 0;
    for (int i = 0; i < m->nv; ++i) {
        speed = fmax(speed, fabs(d->qvel[i]));
    }
    printf("joints %d motors %d speed %.2e\n", m->njnt, m->nu, speed);
    if (m->nsite > 0) {
        printf("settled %.6f %.6f %.6f\n", 1e3 * d->site_xpos[0], 1e3 * d->site_xpos[1],
               1e3 * d->site_xpos[2]);
    }
    return count < 0;
}
