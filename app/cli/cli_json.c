// JSON for machines: numbers, findings, the record of a result, and the record of an error.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

// ---- what was reported on standard error, for the record of an error
#define JSON_NOTES 200 // more would hide the first ones, which matter

// Kept for the whole run: cli_json_error writes them and cli_json_write says that a record exists.
static json_t *json_notes;
static bool json_written;

// Remembers a message of standard error for the record of an error.
void cli_json_note(const char *severity, const char *file, int line, const char *text)
{
    json_notes = json_notes ? json_notes : json_array();
    json_t *note = json_object();
    json_object_set_new(note, "severity", json_string(severity));
    json_object_set_new(note, "text", json_string(text));

    if (file) {
        json_object_set_new(note, "file", json_string(file));
    }
    if (file && line > 0) {
        json_object_set_new(note, "line", json_integer(line));
    }

    if (json_array_size(json_notes) < JSON_NOTES) {
        json_array_append_new(json_notes, note);
    } else {
        json_decref(note);
    }
}

// Advice belongs to the message before it.
void cli_json_note_advice(const char *text)
{
    const size_t count = json_array_size(json_notes);
    if (count > 0 && text && text[0]) {
        json_object_set_new(json_array_get(json_notes, count - 1), "advice", json_string(text));
    }
}

// ---- JSON
// A number, or null for what JSON cannot say (infinite, not a number).
json_t *cli_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_numbers(const double *value, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(array, cli_json_number(value[i]));
    }
    return array;
}

// Warnings and errors as texts; notes are for people.
json_t *cli_json_findings(const pl_findings *findings)
{
    json_t *array = json_array();
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        if (f->severity != PL_NOTE) {
            json_array_append_new(array, json_string(f->text));
        }
    }

    return array;
}

// What every record begins with: format, version, the hash of the robot (0: none) and the warnings. The
// caller owns it.
json_t *cli_json_head(uint64_t robot, const pl_findings *findings)
{
    json_t *root = json_object();
    json_object_set_new(root, "format", json_integer(1));
    json_object_set_new(root, "pliant", json_string(pl_version()));

    if (robot) {
        char hash[20];
        snprintf(hash, sizeof hash, "%016" PRIx64, robot);
        json_object_set_new(root, "robot", json_string(hash));
    }

    json_object_set_new(root, "warnings", findings ? cli_json_findings(findings) : json_array());

    return root;
}

// Writes the record to --json (- is standard output) and releases it; without the option only releases it.
int cli_json_write(const cli_args *args, json_t *root)
{
    const char *path = cli_value(args, "json");
    if (!path) {
        json_decref(root);
        return CLI_DONE;
    }

    if (json_is_object(root)) {
        json_object_set_new(root, "verb", json_string(args->verb->name));
    }

    // a member that found no memory is missing from the object: such a record is not written
    char *text =
        root && !cli_memory_missed() ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(root);
    if (!text) {
        return cli_no_memory(args);
    }

    int status = CLI_DONE;
    json_written = true;
    if (strcmp(path, "-") == 0) {
        puts(text);
    } else {
        const size_t length = strlen(text);
        pl_error err = {0};
        text[length] = '\n'; // in place of the closing zero
        if (pl_file_write(path, text, length + 1, &err) != PL_OK) {
            status = cli_fail(args, &err);
        }
    }

    free(text);

    return status;
}

// The first error names the cause; what follows it are consequences, or more defects of the same file.
static json_t *json_first_error(void)
{
    size_t i;
    json_t *note;

    json_array_foreach(json_notes, i, note)
    {
        const char *severity = json_string_value(json_object_get(note, "severity"));
        if (severity && strcmp(severity, "error") == 0) {
            return note;
        }
    }

    return NULL;
}

// The record of a run that failed and wrote none, so that a program that asked for JSON always gets some.
// Releases the notes.
void cli_json_error(const char *path, const char *verb, int status)
{
    static const char *const kind[] = {"none", "unsolved", "input", "system"};
    if (path && status != CLI_DONE && !json_written) {
        json_t *root = cli_json_head(0, NULL), *error = json_object(), *first = json_first_error();
        const char *text = json_string_value(json_object_get(first, "text"));

        json_object_set_new(error, "exit_status", json_integer(status));
        json_object_set_new(error, "kind", json_string(kind[status < 4 ? status : 3]));
        json_object_set_new(error, "message", json_string(text ? text : "no message"));
        json_object_set_new(error, "reported", json_notes ? json_deep_copy(json_notes) : json_array());
        json_object_set_new(root, "verb", json_string(verb));
        json_object_set_new(root, "failure", error);
        char *record = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        pl_error ignored;
        if (record && strcmp(path, "-") == 0) {
            puts(record);
        } else if (record && pl_file_write(path, record, strlen(record), &ignored) != PL_OK) {
            // the reason of the failure is on standard error already
        }
        free(record);
        json_decref(root);
    }

    json_decref(json_notes);
    json_notes = NULL;
}
