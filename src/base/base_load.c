// Libraries that are opened at their first use.
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include "base/load.h"

static pl_status load_open(pl_library *library, pl_error *err)
{
    // RTLD_LOCAL: its symbols, and those of the libraries it needs, stay out of the program
    void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return pl_fail(err, PL_FAILED, "%s, which cannot be loaded: %s", library->purpose, dlerror());
    }

    for (int i = 0; i < library->call_count; ++i) {
        void *found = dlsym(handle, library->call[i].name);
        if (!found) {
            dlclose(handle);
            return pl_fail(err, PL_FAILED, "%s, but %s has no function %s", library->purpose, library->name,
                           library->call[i].name);
        }

        memcpy((char *)library->table + library->call[i].place, &found, sizeof found);
    }

    library->opened = true;

    return PL_OK;
}

pl_status pl_library_open(pl_library *library, pl_error *err)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&turn);
    const pl_status status = library->opened ? PL_OK : load_open(library, err);
    pthread_mutex_unlock(&turn);

    return status;
}
