// The meshes of the gallery, made ready in the background while somebody looks at it: what was meshed once is
// in the cache beside its robot file, and opens without the mesher. Whenever the worker works, this waits: a
// mesh in the making is given up and begun again later.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "server_impl.h"

#define WARM_TRIES 20

struct server_warmer {
    server_queue *queue;
    const server_options *options;
    pthread_t thread;
    atomic_bool stop;
};

static bool warm_step(void *user, double fraction, const char *what)
{
    (void)fraction;
    (void)what;
    const server_warmer *w = user;
    return !atomic_load(&w->stop) && !atomic_load(&w->queue->busy);
}

// Waits until nobody has wanted the processor for a second.
static bool warm_may_go(server_warmer *w)
{
    for (int idle = 0; !atomic_load(&w->stop) && idle < 10; ++idle) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        idle = atomic_load(&w->queue->busy) ? -1 : idle;
    }
    return !atomic_load(&w->stop);
}

static void *warm_main(void *user)
{
    server_warmer *w = user;
    json_t *list = server_gallery_json(w->options->gallery);
    const pl_progress progress = {warm_step, w};
    int tries = 0;

    for (size_t i = 0; i < json_array_size(list) && warm_may_go(w); ++i) {
        char *path = server_gallery_path(w->options->gallery,
                                         json_string_value(json_object_get(json_array_get(list, i), "kind")));
        const pl_model_load_options options = {.load = {.mesher = pl_meshing_mesher(),
                                                        .progress = &progress,
                                                        .size = w->options->size,
                                                        .order = w->options->order},
                                               .progress = progress};
        pl_model *fine = NULL, *coarse = NULL;
        pl_robot_document *document = NULL;
        pl_findings *findings = pl_findings_create();
        bool good = path && pl_robot_document_read(path, &document, findings, NULL) == PL_OK &&
                    pl_model_from_document(document, &options, &fine, findings, NULL) == PL_OK;
        good = good && warm_may_go(w) &&
               pl_model_coarse_from_document(document, &options, fine, &coarse, NULL) == PL_OK;
        // once more when somebody needed the processor
        if (!good && atomic_load(&w->queue->busy) && tries < WARM_TRIES) {
            ++tries;
            --i;
        } else {
            tries = 0;
        }
        pl_model_destroy(coarse);
        pl_model_destroy(fine);
        pl_robot_document_destroy(document);
        pl_findings_destroy(findings);
        free(path);
    }

    json_decref(list);

    return NULL;
}

server_warmer *server_warmer_start(server_queue *queue, const server_options *options)
{
    server_warmer *w = options->gallery && !options->no_cache ? calloc(1, sizeof *w) : NULL;
    if (!w) {
        return NULL;
    }
    w->queue = queue;
    w->options = options;
    if (pthread_create(&w->thread, NULL, warm_main, w) != 0) {
        free(w);
        return NULL;
    }

    return w;
}

void server_warmer_stop(server_warmer *w)
{
    if (w) {
        atomic_store(&w->stop, true);
        pthread_join(w->thread, NULL);
        free(w);
    }
}
