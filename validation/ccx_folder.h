// The temporary folder of a job for CalculiX, shared by the programs that compare with it.
#ifndef PL_CCX_FOLDER_H
#define PL_CCX_FOLDER_H

#include <unistd.h>
#include "validate.h"

static char folder[] = "/tmp/pliant_ccx_XXXXXX"; // made by mkdtemp

static inline const char *in_folder(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void clean_folder(void)
{
    static const char *const ending[] = {"inp", "dat", "frd", "sta", "cvg", "12d", "log", "out"};
    char name[40];

    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; ++i) {
        snprintf(name, sizeof name, "job.%s", ending[i]);
        unlink(in_folder(name));
    }

    unlink(in_folder("mesh.inp"));
    unlink(in_folder("spooles.out"));
    rmdir(folder);
}

#endif
