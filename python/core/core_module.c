// The module pliant._core.
#include "core.h"

static int module_exec(PyObject *module)
{
    if (core_error_init(module) < 0 || core_array_init(module) < 0 || core_mesh_init(module) < 0 ||
        core_model_init(module) < 0 || core_motion_init(module) < 0 || core_loop_init(module) < 0 ||
        PyModule_AddFunctions(module, core_table_functions) < 0) {
        return -1;
    }

    return PyModule_AddStringConstant(module, "version", pl_version());
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};
static PyModuleDef module_def = {PyModuleDef_HEAD_INIT, .m_name = "pliant._core",
                                 .m_doc = "The library behind the package pliant; use that instead.",
                                 .m_size = 0, .m_slots = module_slots};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&module_def);
}
