// The obstacles of a robot as triangles, for pictures and films.
#include "base/base.h"
#include "pliant/result.h"

int pl_model_obstacles(const pl_model *model, const double *position, double *out)
{
    const pl_robot *robot = pl_model_robot(model);
    const int obstacles = robot ? pl_robot_obstacle_count(robot) : 0;
    const int64_t vertices = robot ? pl_mesh_get(pl_robot_mesh(robot)).vertex_count : 0;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, near[3];
    double size = 0;
    int count = 0;

    for (int64_t i = 0; obstacles > 0 && i < 3 * vertices; ++i) {
        low[i % 3] = fmin(low[i % 3], position[i]);
        high[i % 3] = fmax(high[i % 3], position[i]);
    }

    for (int i = 0; i < 3; ++i) {
        near[i] = 0.5 * (low[i] + high[i]);
        size = fmax(size, 1.3 * (high[i] - low[i]));
    }

    for (int o = 0; o < obstacles; ++o) {
        double R[9], offset[3];
        double *first = out ? out + 9 * (int64_t)count : NULL;
        const int more = pl_robot_obstacle_triangles(robot, o, near, size, first);
        count += more;
        if (!out) {
            continue;
        }

        // from rest to where it stands: y = R p + offset
        pl_robot_obstacle_pose(robot, o, pl_model_get_answer(model).command, position, R, offset);
        for (int corner = 0; corner < 3 * more; ++corner) {
            double *y = first + 3 * (int64_t)corner;
            const double p[3] = {y[0], y[1], y[2]};
            for (int i = 0; i < 3; ++i) {
                y[i] = R[3 * i] * p[0] + R[3 * i + 1] * p[1] + R[3 * i + 2] * p[2] + offset[i];
            }
        }
    }

    return count;
}
