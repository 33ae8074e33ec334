// Reads a chain (SDF, or URDF as Gazebo does) with sdformat: links, joints and joints with springs.
#include <iostream>
#include <sdf/sdf.hh>

int main(int, char **word)
{
    sdf::Root root;
    const sdf::Errors errors = root.Load(word[1]);
    for (const auto &e : errors) {
        std::cout << e.Message() << "\n";
    }
    const sdf::Model *model = root.Model();
    if (!model) {
        return 1;
    }
    unsigned springs = 0;
    for (unsigned k = 0; k < model->JointCount(); ++k) {
        const sdf::JointAxis *axis = model->JointByIndex(k)->Axis(0);
        springs += axis && axis->SpringStiffness() > 0;
    }
    std::cout << "links " << model->LinkCount() << " springs " << springs << "\n";
    return errors.empty() ? 0 : 1;
}
