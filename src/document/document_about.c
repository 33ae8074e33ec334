// The description of a robot without its mesh: names, commands, actuators, markers and sensors as YAML.
// Numbers are in internal units (mm, N, MPa, mm^3).
#include <stdio.h>
#include <stdlib.h>
#include "document/document_learned.h"
#include "robot/robot_kind.h"

// 17 digits restore every bit: the hash of a model depends on them.
void doc_about_write(pl_text *t, const pl_model_info *info)
{
    pl_text_add(t, "  name: ");
    doc_write_quoted(t, info->name);
    pl_text_add(t, "\n  kind: %s\n  method: %s\n  hash: \"%016llx\"\n  size: %.17g\n  commands:\n",
                info->kind, info->method, (unsigned long long)info->hash, info->size);
    for (int i = 0; i < info->command_count; ++i) {
        const pl_command_info *c = &info->command[i];
        pl_text_add(t, "    - {name: ");
        doc_write_quoted(t, c->name);
        pl_text_add(t,
                    ", drive: %s, has_range: %d, range: \"%.17g %.17g\", span: \"%.17g %.17g\", rest: %.17g, "
                    "rate: %.17g, actuators: %d}\n",
                    pl_drive_name(c->drive), c->has_range, c->range[0], c->range[1], c->span[0], c->span[1],
                    c->rest, c->rate, c->actuator_count);
    }

    pl_text_add(t, "  actuators:%s\n", info->actuator_count ? "" : " []");
    for (int i = 0; i < info->actuator_count; ++i) {
        const pl_actuator_info *a = &info->actuator[i];
        pl_text_add(t, "    - {name: ");
        doc_write_quoted(t, a->name);
        pl_text_add(t,
                    ", kind: %s, drive: %s, rest: %.17g, command: %d, factor: %.17g, one_sided: %d, growth: "
                    "%d, table: %d}\n",
                    pl_actuator_kind_name(a->kind), pl_drive_name(a->drive), a->rest, a->command, a->factor,
                    a->one_sided, a->growth, a->table_count);
    }

    pl_text_add(t, "  markers:%s\n", info->marker_count ? "" : " []");
    for (int i = 0; i < info->marker_count; ++i) {
        const double *p = info->marker_at + 3 * i;
        pl_text_add(t, "    - {name: ");
        doc_write_quoted(t, info->marker_name[i]);
        pl_text_add(t, ", at: \"%.17g %.17g %.17g\"}\n", p[0], p[1], p[2]);
    }

    pl_text_add(t, "  sensors:%s\n", info->sensor_count ? "" : " []");
    for (int i = 0; i < info->sensor_count; ++i) {
        pl_text_add(t, "    - {name: ");
        doc_write_quoted(t, info->sensor_name[i]);
        pl_text_add(t, ", kind: %s}\n", pl_sensor_kind_name(info->sensor_kind[i]));
    }
}

// ---- reading. Defects go to the file's findings; false after one.
// The text of a key, NULL after a defect. Points into the file's tree.
static const char *about_text(doc_robot_file *f, const doc_node *map, const char *key)
{
    const doc_node *n = doc_child(map, key);
    if (!n || n->kind != DOC_SCALAR) {
        doc_defect(f, n ? n->line : map->line, "expected a text '%s'", key);
        return NULL;
    }

    return n->text;
}

// The drive by its name.
static bool about_drive(doc_robot_file *f, const doc_node *map, pl_drive *out)
{
    const char *name = about_text(f, map, "drive");
    for (int d = 0; name && d < PL_DRIVE_COUNT; ++d) {
        if (strcmp(name, pl_drive_name(d)) == 0) {
            *out = d;
            return true;
        }
    }

    if (name) {
        doc_defect(f, map->line, "drive '%s' is unknown", name);
    }

    return false;
}

// 0 or 1.
static bool about_flag(doc_robot_file *f, const doc_node *map, const char *key, bool *out)
{
    int value = 0;
    const bool good = doc_whole_read(f, map, key, 0, 1, &value);
    *out = value;
    return good;
}

// A list of at most `limit` entries: a bound for damaged files.
static const doc_node *about_list(doc_robot_file *f, const doc_node *map, const char *key, int limit,
                                  int *count)
{
    const doc_node *n = doc_child(map, key);
    *count = 0;
    if (!n || n->kind != DOC_LIST || n->count > limit) {
        doc_defect(f, n ? n->line : map->line, "expected a list '%s' of at most %d entries", key, limit);
        return NULL;
    }

    *count = n->count;
    return n;
}

bool doc_about_read(doc_robot_file *f, const doc_node *map, pl_about *out)
{
    // strings point into the tree until pl_about_copy
    pl_model_info info = {0};
    *out = (pl_about){0};
    info.name = about_text(f, map, "name");
    info.kind = about_text(f, map, "kind");
    info.method = about_text(f, map, "method");
    const char *hash = about_text(f, map, "hash");
    bool good = info.name && info.kind && info.method && hash && doc_real_read(f, map, "size", &info.size);
    info.hash = info.robot_hash = hash ? strtoull(hash, NULL, 16) : 0;
    const doc_node *commands = about_list(f, map, "commands", 256, &info.command_count);
    const doc_node *actuators = about_list(f, map, "actuators", 1024, &info.actuator_count);
    const doc_node *markers = about_list(f, map, "markers", 1024, &info.marker_count);
    const doc_node *sensors = about_list(f, map, "sensors", 1024, &info.sensor_count);
    if (!good || !commands || !actuators || !markers || !sensors) {
        return false;
    }

    // arrays from the arena; + 1, because nothing cannot be allocated
    pl_command_info *c = doc_arena_take(&f->arena, ((size_t)info.command_count + 1) * sizeof *c);
    pl_actuator_info *a = doc_arena_take(&f->arena, ((size_t)info.actuator_count + 1) * sizeof *a);
    const char **marker = doc_arena_take(&f->arena, ((size_t)info.marker_count + 1) * sizeof *marker);
    double *at = doc_arena_take(&f->arena, 3 * ((size_t)info.marker_count + 1) * sizeof *at);
    const char **sensor = doc_arena_take(&f->arena, ((size_t)info.sensor_count + 1) * sizeof *sensor);
    pl_sensor_kind *kind = doc_arena_take(&f->arena, ((size_t)info.sensor_count + 1) * sizeof *kind);
    if (!c || !a || !marker || !at || !sensor || !kind) {
        f->no_memory = true;
        return false;
    }

    info.command = c;
    info.actuator = a;
    info.marker_name = marker;
    info.marker_at = at;
    info.sensor_name = sensor;
    info.sensor_kind = kind;

    // entry by entry
    for (const doc_node *n = commands->child; n && good; n = n->next, ++c) {
        c->name = n->kind == DOC_MAP ? about_text(f, n, "name") : NULL;
        good = c->name && about_drive(f, n, &c->drive) && about_flag(f, n, "has_range", &c->has_range) &&
               doc_numbers_read(f, n, "range", c->range, 2, false) &&
               doc_numbers_read(f, n, "span", c->span, 2, false) && doc_real_read(f, n, "rest", &c->rest) &&
               doc_real_read(f, n, "rate", &c->rate) &&
               doc_whole_read(f, n, "actuators", 0, 1024, &c->actuator_count);
    }

    for (const doc_node *n = actuators->child; n && good; n = n->next, ++a) {
        a->name = n->kind == DOC_MAP ? about_text(f, n, "name") : NULL;
        good = a->name && about_drive(f, n, &a->drive) && doc_real_read(f, n, "rest", &a->rest) &&
               doc_whole_read(f, n, "command", -1, info.command_count - 1, &a->command) &&
               doc_real_read(f, n, "factor", &a->factor) && about_flag(f, n, "one_sided", &a->one_sided) &&
               about_flag(f, n, "growth", &a->growth) &&
               doc_whole_read(f, n, "table", 0, 1 << 20, &a->table_count);
        a->kind = pl_drive_kind(a->drive); // of a drive that was not read: refused below
    }

    for (const doc_node *n = markers->child; n && good; n = n->next, ++marker, at += 3) {
        *marker = n->kind == DOC_MAP ? about_text(f, n, "name") : NULL;
        good = *marker && doc_numbers_read(f, n, "at", at, 3, false);
    }

    for (const doc_node *n = sensors->child; n && good; n = n->next, ++sensor, ++kind) {
        *sensor = n->kind == DOC_MAP ? about_text(f, n, "name") : NULL;
        const char *word = *sensor ? about_text(f, n, "kind") : NULL;
        good = word != NULL;
        for (int k = 0; good && k < PL_SENSOR_KIND_COUNT; ++k) {
            *kind = strcmp(word, pl_sensor_kind_name(k)) == 0 ? (pl_sensor_kind)k : *kind;
        }
    }

    // a finding in any case, and a copy that outlives the file
    if (!good && pl_findings_defect_count(f->findings) == 0) {
        doc_defect(f, map->line, "the description of the robot is damaged");
    }
    if (good && pl_about_copy(&info, out, NULL) != PL_OK) {
        f->no_memory = true;
        good = false;
    }

    return good;
}
