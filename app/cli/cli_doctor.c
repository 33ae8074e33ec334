// pliant doctor: what is wrong with a robot, where, and how to fix it, in the order to fix it. Writes a VTU
// whose cell data `defect` marks it.
#include <stdlib.h>
#include "cli.h"

static const cli_option options[] = {
    {"out", 0, "FILE",
     "write the mesh as .vtu with cell data `defect` (0: no defect, otherwise the number of the finding)",
     NULL},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".vtu", NULL};

// ---- order
// What is fixed first: errors before warnings before notes; within them what the robot file says (a line)
// before what follows from it in the mesh.
static int doctor_rank(const pl_finding *f)
{
    return 2 * (PL_DEFECT - f->severity) + (f->line == 0);
}

// The findings in the order to fix them; NULL when memory runs out.
static pl_findings *doctor_sorted(const pl_findings *findings)
{
    pl_findings *sorted = pl_findings_create();
    for (int rank = 0; sorted && rank < 6; ++rank) {
        for (int i = 0; i < pl_findings_count(findings); ++i) {
            const pl_finding *f = pl_findings_at(findings, i);
            if (doctor_rank(f) != rank) {
                continue;
            }
            pl_findings_add(sorted, f->severity, f->file, f->line, "%s", f->text);
            if (f->advice && f->advice[0]) {
                pl_findings_advise(sorted, "%s", f->advice);
            }
            if (f->has_place) {
                pl_findings_place(sorted, f->place, f->elements, f->element_count);
            }
        }
    }

    return sorted;
}

// ---- results
// Elements of a finding are marked by its number; one with a place but without
// elements marks the element there.
static int doctor_write(const cli_args *args, const pl_mesh *mesh, const pl_findings *findings)
{
    const char *path = cli_value(args, "out");
    if (!path) {
        return CLI_DONE;
    }

    const int32_t n = pl_mesh_get(mesh).element_count;
    double *mark = calloc((size_t)n + 1, sizeof *mark);
    if (!mark) {
        return cli_no_memory(args);
    }

    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        for (int32_t k = 0; k < f->element_count; ++k) {
            mark[f->elements[k]] = i + 1;
        }
        const int32_t e = f->has_place && f->element_count == 0 ? pl_mesh_find_element(mesh, f->place) : -1;
        if (e >= 0) {
            mark[e] = i + 1;
        }
    }

    const pl_data_array array = {.name = "defect", .value = mark, .components = 1, .on_elements = true};
    pl_error err = {0};
    const pl_status status = pl_shape_write_vtu(mesh, pl_mesh_get(mesh).position, &array, 1, path, &err);
    free(mark);
    if (status != PL_OK) {
        return cli_fail(args, &err);
    }
    cli_say(args, "  wrote %s (colour it by `defect`)\n", path);

    return CLI_DONE;
}

static json_t *doctor_json(uint64_t hash, const pl_findings *findings)
{
    static const char *const word[] = {"note", "warning", "error"};
    json_t *root = cli_json_head(hash, findings), *all = json_array();

    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        json_t *one = json_object(), *elements = json_array();
        json_object_set_new(one, "severity", json_string(word[f->severity]));
        json_object_set_new(one, "file", f->file ? json_string(f->file) : json_null());
        json_object_set_new(one, "line", f->line > 0 ? json_integer(f->line) : json_null());
        json_object_set_new(one, "text", json_string(f->text));
        json_object_set_new(one, "advice", json_string(f->advice));
        json_object_set_new(one, "place", f->has_place ? cli_json_numbers(f->place, 3) : json_null());
        for (int32_t k = 0; k < f->element_count; ++k) {
            json_array_append_new(elements, json_integer(f->elements[k]));
        }
        json_object_set_new(one, "elements", elements);
        json_array_append_new(all, one);
    }

    json_object_set_new(root, "findings", all);
    return root;
}

// The summary and the exit status: 0 when there is nothing worse than notes.
static int doctor_outcome(const cli_args *args, const pl_findings *findings)
{
    int count[3] = {0};
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        ++count[pl_findings_at(findings, i)->severity];
    }
    if (count[PL_DEFECT] + count[PL_WARNING] == 0) {
        cli_say(args, count[PL_NOTE] ? "no defects; notes: %d\n" : "no defects\n", count[PL_NOTE]);
        return CLI_DONE;
    }

    cli_say(args, "errors: %d, warnings: %d, notes: %d%s\n", count[PL_DEFECT], count[PL_WARNING],
            count[PL_NOTE],
            pl_findings_count(findings) > 1 ? "; fix the first, then run it again: others may follow from it"
                                            : "");
    return CLI_EXIT_UNSOLVED;
}

// Loads the robot and examines it; findings are the caller's to print.
static pl_status doctor_examine(const cli_args *args, cli_robot *r, uint64_t *hash, pl_error *err)
{
    pl_status status;
    const pl_robot_kind kind = pl_robot_document_kind(r->document);

    if (kind != PL_ROBOT_FULL) {
        pl_model *model = NULL;
        status = pl_model_from_document(r->document, NULL, &model, r->findings, err);
        if (status == PL_OK) {
            *hash = pl_model_get_info(model).robot_hash;
            status = kind == PL_ROBOT_LEARNED ? PL_OK : pl_reduced_examine(model, r->findings, err);
        }

        pl_model_destroy(model);
        return status;
    }

    status = cli_robot_build(args, false, r, err);
    if (status == PL_OK) {
        *hash = pl_robot_hash(r->robot);
        status = pl_robot_examine(r->robot, r->findings, err);
    }

    return status;
}

// Everything is examined even if the robot cannot be built: all defects at once.
static int doctor_work(const cli_args *args, cli_robot *r)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    if (status) {
        return status;
    }
    status = cli_document_open(args, args->plain[0], &r->path, &r->document, &r->findings);
    status = status ? status : cli_check_outputs(args, NULL, r->path, NULL);
    if (!status && cli_value(args, "out") && pl_robot_document_kind(r->document) != PL_ROBOT_FULL) {
        cli_error(args, "--out is only for a robot with a mesh; this one is a reduced model");
        status = CLI_EXIT_USAGE;
    }

    if (status) {
        return status;
    }

    pl_error err = {0};
    uint64_t hash = 0;

    // the order to fix them in
    const pl_status examined = doctor_examine(args, r, &hash, &err);
    pl_findings *sorted = doctor_sorted(r->findings);
    if (!sorted) {
        return cli_no_memory(args);
    }
    pl_findings_destroy(r->findings);
    r->findings = sorted;
    cli_findings_numbered(sorted);

    // files, record, summary
    if (examined != PL_OK) {
        status = cli_robot_refused(args, examined, r->findings, &err);
    } else if (r->robot) {
        status = doctor_write(args, pl_robot_mesh(r->robot), r->findings);
    }

    const int written = cli_json_write(args, cli_value(args, "json") ? doctor_json(hash, r->findings) : NULL);
    const int verdict = doctor_outcome(args, r->findings);

    return written ? written : status ? status : verdict;
}

static int doctor_run(cli_args *args)
{
    cli_robot r = {0};
    const int status = doctor_work(args, &r);
    cli_robot_close(&r);
    return status;
}

const cli_verb cli_verb_doctor = {
    .name = "doctor",
    .summary = "report defects of a robot, where they are and how to fix them",
    .usage = "ROBOT [options]",
    .about = "Looks for inverted and flat elements, walls one element thick, disconnected and overlapping\n"
             "parts, open cavities, cables that leave the body, markers outside it, and implausible units.\n"
             "Exit status: 0 if there are only notes, 1 with warnings or errors, 2 if the robot cannot be\n"
             "loaded (all defects of the file are listed).",
    .examples = "  pliant doctor finger\n"
                "  pliant doctor finger --out defects.vtu --json report.json\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = doctor_run,
    .stopping = "stopping",
};
