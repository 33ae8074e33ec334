// Abaqus and CalculiX input files: nodes, solid elements, sets, surfaces. Everything else (steps, materials,
// boundary conditions) is passed over. Node order of C3D10 and C3D15 is ours.
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include "meshfile/meshfile_inp.h"
#include "meshfile/meshfile.h"

#define INP_SETS_MAX 1000 // of each kind: a bound for damaged files

// ---- lines and words

// A part of the text.
typedef struct inp_span {
    const char *p, *end;
} inp_span;

// Without blanks at both ends.
static void inp_trim(inp_span *s)
{
    while (s->p < s->end && isspace((unsigned char)*s->p)) {
        ++s->p;
    }
    while (s->end > s->p && isspace((unsigned char)s->end[-1])) {
        --s->end;
    }
}

// The next line that is neither empty nor a comment, without moving past it when `peek` is set.
static bool inp_line(pl_inp *inp, inp_span *line, bool peek)
{
    while (inp->at < inp->end) {
        const char *newline = memchr(inp->at, '\n', (size_t)(inp->end - inp->at));
        *line = (inp_span){inp->at, newline ? newline : inp->end};
        inp_trim(line);
        const bool skip =
            line->p == line->end || (line->end - line->p >= 2 && line->p[0] == '*' && line->p[1] == '*');
        if (peek && !skip) {
            return true;
        }
        inp->at = newline ? newline + 1 : inp->end;
        inp->line++;
        if (!skip) {
            return true;
        }
    }

    return false;
}

// A line of data; false when a keyword or the end comes.
static bool inp_data_line(pl_inp *inp, inp_span *line)
{
    return inp_line(inp, line, true) && *line->p != '*' && inp_line(inp, line, false);
}

// The next entry between commas; false when there is none left.
static bool inp_entry(inp_span *line, inp_span *entry)
{
    if (line->p >= line->end) {
        return false;
    }
    const char *p = line->p;
    bool quoted = false;
    while (p < line->end && (quoted || *p != ',')) {
        quoted = quoted != (*p == '"');
        ++p;
    }

    *entry = (inp_span){line->p, p};
    inp_trim(entry);
    line->p = p < line->end ? p + 1 : p;
    return true;
}

// Text without quotes into a name; false when it is empty or too long.
static bool inp_name(inp_span s, char *name, size_t room)
{
    if (s.end - s.p >= 2 && *s.p == '"' && s.end[-1] == '"') {
        ++s.p;
        --s.end;
    }

    if (s.p == s.end || (size_t)(s.end - s.p) >= room) {
        return false;
    }
    memcpy(name, s.p, (size_t)(s.end - s.p));
    name[s.end - s.p] = '\0';
    return strlen(name) == (size_t)(s.end - s.p);
}

// A number that is not negative, and nothing else.
static bool inp_label(inp_span s, int64_t *label)
{
    return pl_scan_whole(&s.p, s.end, label) && s.p == s.end && *label >= 0;
}

// Names the line.
static pl_status inp_fail(const pl_inp *inp, const char *what)
{
    return pl_fail(inp->err, PL_BAD_INPUT, "%s:%d: %s", inp->path, inp->line, what);
}

// ---- keyword lines

// A keyword and those of its parameters that say something about the mesh; "" where not given.
typedef struct inp_keyword {
    char word[64];
    char type[64], elset[200], nset[200], name[200];
    bool generate;
} inp_keyword;

// `key` or `key=value`; unknown ones are ignored.
static void inp_parameter(inp_keyword *k, inp_span entry)
{
    const char *equal = memchr(entry.p, '=', (size_t)(entry.end - entry.p));
    inp_span key = {entry.p, equal ? equal : entry.end}, value = {equal ? equal + 1 : entry.end, entry.end};

    inp_trim(&key);
    inp_trim(&value);
    char word[64];
    if (!inp_name(key, word, sizeof word)) {
        return;
    }
    const struct {
        const char *word;
        char *to;
        size_t room;
    } known[] = {{"type", k->type, sizeof k->type},
                 {"elset", k->elset, sizeof k->elset},
                 {"nset", k->nset, sizeof k->nset},
                 {"name", k->name, sizeof k->name}};
    for (int i = 0; i < PL_COUNT(known); ++i) {
        if (strcasecmp(word, known[i].word) == 0 && !inp_name(value, known[i].to, known[i].room)) {
            known[i].to[0] = '\0';
        }
    }

    k->generate = k->generate || strcasecmp(word, "generate") == 0;
}

// A keyword with its parameters; goes on to the next line when one ends with a comma.
static void inp_read_keyword(pl_inp *inp, inp_span line, inp_keyword *k)
{
    *k = (inp_keyword){0};
    inp_span entry = {0};
    ++line.p;
    bool first = true;

    for (;;) {
        const bool more = line.end > line.p && line.end[-1] == ',';
        while (inp_entry(&line, &entry)) {
            if (first && !inp_name(entry, k->word, sizeof k->word)) {
                k->word[0] = '\0';
            } else if (!first) {
                inp_parameter(k, entry);
            }
            first = false;
        }

        inp_span next;
        if (!more || !inp_line(inp, &next, true) || *next.p == '*') {
            return;
        }
        inp_line(inp, &line, false);
    }
}

// ---- blocks

// Nodes by label, also added to the set that the keyword names.
static pl_status inp_read_nodes(pl_inp *inp, const inp_keyword *k)
{
    int32_t set = -1;
    if (k->nset[0] && (set = pl_inp_set_need(&inp->nsets, k->nset)) < 0) {
        return pl_fail_memory(inp->err, inp->path);
    }

    inp_span line, entry;
    while (inp_data_line(inp, &line)) {
        int64_t label;
        double x[3] = {0};
        if (!inp_entry(&line, &entry) || !inp_label(entry, &label)) {
            return inp_fail(inp, "a node must begin with its number");
        }
        // missing coordinates are 0
        for (int i = 0; i < 3 && inp_entry(&line, &entry); ++i) {
            if (entry.p < entry.end && (!pl_scan_real(&entry.p, entry.end, x + i) || entry.p != entry.end)) {
                return inp_fail(inp, "a node needs three coordinates");
            }
        }

        // labels are sparse: the map gives the index
        if (pl_label_find(&inp->nodes, label) >= 0) {
            return pl_fail(inp->err, PL_BAD_INPUT, "%s:%d: node %lld is given twice", inp->path, inp->line,
                           (long long)label);
        }

        const int32_t index = inp->build.vertex_count;
        pl_build_vertex(&inp->build, x);
        if (inp->build.failed || !pl_label_add(&inp->nodes, label, index) ||
            (set >= 0 && !pl_inp_set_add(inp->nsets.set + set, label))) {
            return pl_fail_memory(inp->err, inp->path);
        }
    }

    return PL_OK;
}

// What an element type means to us.
typedef struct inp_type {
    int nodes;
    int kind;    // pl_element_kind, or -1
    int corners; // of a shell face, or 0
    bool skip;   // lines, springs, points
} inp_type;

// Without regard to case.
static bool inp_begins(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

// C3D10, C3D10H, C3D10M, C3D15 ...; S3, S6, CPS3, M3D6 ... are faces of a surface.
static bool inp_element_type(const char *type, inp_type *t)
{
    static const struct {
        const char *prefix;
        int skip;
    } shells[] = {{"CPS", 3}, {"CPE", 3}, {"M3D", 3}, {"SFM3D", 5}, {"STRI", 4}, {"DS", 2}, {"S", 1}};
    static const char *const lines[] = {"T3D", "B3", "MASS", "SPRING", "DASHPOT"};
    *t = (inp_type){.kind = -1};

    if (inp_begins(type, "C3D")) {
        int n = 0;
        sscanf(type + 3, "%3d", &n);
        t->nodes = n;
        t->kind = pl_element_find_nodes(n);
        return t->kind >= 0;
    }

    for (int i = 0; i < PL_COUNT(lines); ++i) {
        if (inp_begins(type, lines[i])) {
            t->skip = true;
            return true;
        }
    }

    for (int i = 0; i < PL_COUNT(shells); ++i) {
        if (inp_begins(type, shells[i].prefix) && isdigit((unsigned char)type[shells[i].skip])) {
            const char digit = type[shells[i].skip];
            t->nodes = digit - '0';
            t->corners = digit == '3' || digit == '6' ? 3 : 4;
            return digit == '3' || digit == '6' || digit == '4' || digit == '8';
        }
    }

    return false;
}

// The labels of one element, over as many lines as it takes.
static pl_status inp_element_labels(pl_inp *inp, inp_span line, int want, int64_t *label)
{
    inp_span entry;
    int got = 0;

    for (;;) {
        while (inp_entry(&line, &entry)) {
            if (entry.p == entry.end) {
                continue; // a comma at the end of the line
            }
            if (got > want || !inp_label(entry, label + got)) {
                return pl_fail(inp->err, PL_BAD_INPUT,
                               "%s:%d: an element of this type has its number and %d nodes", inp->path,
                               inp->line, want);
            }

            ++got;
        }

        if (got == want + 1) {
            return PL_OK;
        }
        if (!inp_data_line(inp, &line)) {
            return pl_fail(inp->err, PL_BAD_INPUT, "%s:%d: an element ends after %d of %d nodes", inp->path,
                           inp->line, got ? got - 1 : 0, want);
        }
    }
}

// Node labels are stored: nodes may be defined after the elements.
static pl_status inp_add_element(pl_inp *inp, const inp_type *type, const int64_t *label, int32_t set)
{
    static const int32_t none[PL_ELEMENT_NODES_MAX];
    pl_build *b = &inp->build;

    if (pl_label_find(&inp->elements, label[0]) != -1) {
        return pl_fail(inp->err, PL_BAD_INPUT, "%s:%d: element %lld is given twice", inp->path, inp->line,
                       (long long)label[0]);
    }

    const int32_t e = b->element_count;
    pl_build_element(b, (pl_element_kind)type->kind, none, 0);
    const int64_t need = (int64_t)inp->element_node_count + type->nodes;
    if (b->failed || !pl_grow((void **)&inp->element_node, &inp->element_node_room, need, sizeof(int64_t)) ||
        !pl_label_add(&inp->elements, label[0], e) ||
        (set >= 0 && !pl_inp_set_add(inp->elsets.set + set, label[0]))) {
        return pl_fail_memory(inp->err, inp->path);
    }

    memcpy(inp->element_node + inp->element_node_count, label + 1, (size_t)type->nodes * sizeof(int64_t));
    inp->element_node_count = (int32_t)need;

    return PL_OK;
}

// Elements without volume are remembered, so that sets may name them.
static pl_status inp_add_flat(pl_inp *inp, int64_t label)
{
    return pl_label_find(&inp->elements, label) != -1 || pl_label_add(&inp->elements, label, PL_LABEL_FLAT)
               ? PL_OK
               : pl_fail_memory(inp->err, inp->path);
}

// A shell element is a face of a surface.
static pl_status inp_add_shell(pl_inp *inp, const inp_type *type, const int64_t *label, int32_t surface)
{
    const int64_t need = 5 * ((int64_t)inp->face_count + 1);
    if (!pl_grow((void **)&inp->face_of, &inp->face_room, need, sizeof(int64_t))) {
        return pl_fail_memory(inp->err, inp->path);
    }

    int64_t *face = inp->face_of + need - 5;
    face[0] = surface;
    memcpy(face + 1, label + 1, 3 * sizeof(int64_t));
    face[4] = type->corners == 4 ? label[4] : -1;
    inp->face_count++;

    return inp_add_flat(inp, label[0]);
}

// The elements of one type, and the set or surface that they belong to.
static pl_status inp_read_elements(pl_inp *inp, const inp_keyword *k)
{
    inp_type type;
    if (!inp_element_type(k->type, &type)) {
        return pl_fail(inp->err, PL_BAD_INPUT,
                       "%s:%d: element type \"%s\" is not supported, expected C3D4, C3D10, C3D6 or C3D15",
                       inp->path, inp->line, k->type);
    }

    // volume elements have an element set, shells a surface
    int32_t set = -1;
    if (type.corners) {
        set = pl_names_add(&inp->build.surfaces, k->elset[0] ? k->elset : "surface");
    } else if (!type.skip && k->elset[0]) {
        set = pl_inp_set_need(&inp->elsets, k->elset);
        if (set >= 0) {
            inp->elsets.set[set].of_elements = true;
        }
    }

    if (set < 0 && !type.skip && (type.corners || k->elset[0])) {
        return pl_fail_memory(inp->err, inp->path);
    }

    // element by element
    inp_span line;
    pl_status status = PL_OK;
    while (status == PL_OK && inp_data_line(inp, &line)) {
        int64_t label[PL_ELEMENT_NODES_MAX + 2];

        if (type.skip) {
            inp_span entry;
            if (inp_entry(&line, &entry) && inp_label(entry, label)) {
                status = inp_add_flat(inp, label[0]);
            }
            continue;
        }

        status = inp_element_labels(inp, line, type.nodes, label);
        if (status == PL_OK) {
            status = type.corners ? inp_add_shell(inp, &type, label, set)
                                  : inp_add_element(inp, &type, label, set);
        }
    }

    return status;
}

// first, last, step; only labels that exist are used, so gaps in the numbering are fine
static pl_status inp_generate(pl_inp *inp, pl_inp_set *set, const pl_label_map *map, inp_span line)
{
    int64_t number[3] = {0, 0, 1};
    inp_span entry;

    for (int i = 0; i < 3 && inp_entry(&line, &entry); ++i) {
        if (entry.p < entry.end && !inp_label(entry, number + i)) {
            return inp_fail(inp, "GENERATE needs first, last and step");
        }
    }

    if (number[2] < 1 || number[1] < number[0] || (number[1] - number[0]) / number[2] > 20000000) {
        return inp_fail(inp, "GENERATE needs first <= last and a step of at least 1");
    }

    for (int64_t label = number[0]; label <= number[1]; label += number[2]) {
        const bool exists = pl_label_find(map, label) >= 0;
        if (exists && !pl_inp_set_add(set, label)) {
            return pl_fail_memory(inp->err, inp->path);
        }
    }

    return PL_OK;
}

// Labels, or names of other sets, which may be defined later.
static pl_status inp_read_set(pl_inp *inp, const inp_keyword *k, pl_inp_sets *sets, const char *name)
{
    const pl_label_map *map = sets == &inp->elsets ? &inp->elements : &inp->nodes;
    if (!name[0]) {
        return inp_fail(inp, "a set needs a name (ELSET= or NSET=)");
    }

    const int32_t s = pl_inp_set_need(sets, name);
    if (s < 0) {
        return pl_fail_memory(inp->err, inp->path);
    }

    inp_span line, entry;
    while (inp_data_line(inp, &line)) {
        if (k->generate) {
            const pl_status status = inp_generate(inp, sets->set + s, map, line);
            if (status != PL_OK) {
                return status;
            }
            continue;
        }
        while (inp_entry(&line, &entry)) {
            int64_t label;
            char word[200];
            bool good = true;
            if (inp_label(entry, &label)) {
                good = pl_inp_set_add(sets->set + s, label);
            } else if (entry.p < entry.end) {
                if (!inp_name(entry, word, sizeof word) || sets->word.count > INP_SETS_MAX) {
                    return inp_fail(inp, "a set contains numbers or names of sets");
                }
                good = pl_inp_set_add_word(sets, s, word);
            }

            if (!good) {
                return pl_fail_memory(inp->err, inp->path);
            }
        }
    }

    return PL_OK;
}

// Lines of `element or set, S3`; a line that names a set only means its free faces and is refused.
static pl_status inp_read_surface(pl_inp *inp, const inp_keyword *k)
{
    if (k->type[0] && strcasecmp(k->type, "ELEMENT") != 0) {
        return pl_fail(inp->err, PL_BAD_INPUT, "%s:%d: *SURFACE of type \"%s\", expected TYPE=ELEMENT",
                       inp->path, inp->line, k->type);
    }

    if (!k->name[0]) {
        return inp_fail(inp, "*SURFACE needs a NAME=");
    }

    const int32_t surface = pl_names_add(&inp->build.surfaces, k->name);
    if (surface < 0) {
        return pl_fail_memory(inp->err, inp->path);
    }

    inp_span line, entry;
    while (inp_data_line(inp, &line)) {
        pl_inp_side side = {.surface = surface, .line = inp->line};
        char word[200], face[16];
        if (!inp_entry(&line, &entry) || !inp_name(entry, word, sizeof word)) {
            return inp_fail(inp, "a surface line begins with an element or an element set");
        }

        // an element, or all elements of a set
        if (!inp_label(entry, &side.element)) {
            const int32_t w = pl_names_add(&inp->elsets.word, word);
            if (w < 0) {
                return pl_fail_memory(inp->err, inp->path);
            }
            side.element = -1 - (int64_t)w;
        }

        // its side
        if (!inp_entry(&line, &entry) || !inp_name(entry, face, sizeof face) ||
            sscanf(face, "%*[Ss]%1d", &side.side) != 1 || strlen(face) != 2) {
            return inp_fail(inp, "a surface line needs a side S1 to S5");
        }

        if (!pl_grow((void **)&inp->side, &inp->side_room, (int64_t)inp->side_count + 1, sizeof side)) {
            return pl_fail_memory(inp->err, inp->path);
        }
        inp->side[inp->side_count++] = side;
    }

    return PL_OK;
}

// An instance that is moved would need its parts placed.
static pl_status inp_read_instance(pl_inp *inp)
{
    inp_span line;
    if (inp_data_line(inp, &line)) {
        return inp_fail(inp,
                        "*INSTANCE moves a part, which is not supported; write a flat file (without parts)");
    }

    return PL_OK;
}

// By keyword; those that say nothing about the mesh are skipped with their data.
static pl_status inp_block(pl_inp *inp, const inp_keyword *k)
{
    if (inp->elsets.count > INP_SETS_MAX || inp->nsets.count > INP_SETS_MAX ||
        inp->build.surfaces.count > INP_SETS_MAX || inp->elsets.word.count > INP_SETS_MAX) {
        return inp_fail(inp, "more than 1000 sets");
    }

    if (strcasecmp(k->word, "node") == 0) {
        return inp_read_nodes(inp, k);
    }
    if (strcasecmp(k->word, "element") == 0) {
        return inp_read_elements(inp, k);
    }
    if (strcasecmp(k->word, "elset") == 0) {
        return inp_read_set(inp, k, &inp->elsets, k->elset);
    }
    if (strcasecmp(k->word, "nset") == 0) {
        return inp_read_set(inp, k, &inp->nsets, k->nset);
    }
    if (strcasecmp(k->word, "surface") == 0) {
        return inp_read_surface(inp, k);
    }
    if (strcasecmp(k->word, "instance") == 0) {
        return inp_read_instance(inp);
    }
    if (strcasecmp(k->word, "include") == 0) {
        return inp_fail(inp, "*INCLUDE is not supported; insert the included text into this file");
    }

    if (strcasecmp(k->word, "solid section") == 0 && k->elset[0]) {
        const int32_t set = pl_inp_set_need(&inp->elsets, k->elset);
        if (set < 0) {
            return pl_fail_memory(inp->err, inp->path);
        }
        inp->elsets.set[set].section = true;
    }

    inp_span line;
    while (inp_data_line(inp, &line)) {
        // data of a keyword that says nothing about the mesh
    }

    return PL_OK;
}

// Keyword by keyword.
static pl_status inp_parse(pl_inp *inp)
{
    inp_span line;
    pl_status status = PL_OK;

    while (status == PL_OK && inp_line(inp, &line, false)) {
        if (*line.p != '*') {
            return inp_fail(inp, "expected a keyword (*NODE, *ELEMENT ...)");
        }
        inp_keyword k;
        inp_read_keyword(inp, line, &k);
        status = inp_block(inp, &k);
    }

    return status;
}

// Names are resolved after the whole file has been read.
pl_status pl_mesh_read_inp(const char *path, double unit, pl_mesh **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    char *data;
    size_t bytes;
    pl_status status = pl_file_read(path, &data, &bytes, err);
    if (status != PL_OK) {
        return status;
    }

    pl_inp inp = {.path = path, .err = err, .at = data, .end = data + bytes};
    status = inp_parse(&inp);
    if (status == PL_OK) {
        status = pl_inp_resolve(&inp);
    }
    if (status == PL_OK) {
        status = pl_build_finish(&inp.build, path, unit, out, findings, err);
    }
    pl_build_clear(&inp.build);
    pl_label_clear(&inp.nodes);
    pl_label_clear(&inp.elements);
    pl_inp_sets_clear(&inp.elsets);
    pl_inp_sets_clear(&inp.nsets);
    pl_free(inp.side);
    pl_free(inp.face_of);
    pl_free(inp.element_node);
    pl_file_free(data);

    return status;
}
