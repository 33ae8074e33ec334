// YAML into a tree of nodes that know their lines, through libyaml's events. Anchors, aliases and tags are
// refused: a robot file says what it means where it stands.
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>
#include "document/document_reader.h"

// Bytes handed out one after the other; nothing is freed alone.
struct doc_arena_block {
    struct doc_arena_block *next;
    size_t used, size;
    max_align_t data[];
};

// Blocks of 16 kB, or larger for a larger request; new memory is zeroed by pl_alloc.
void *doc_arena_take(doc_arena *arena, size_t bytes)
{
    const size_t align = sizeof(max_align_t);
    if (bytes > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }

    // aligned for any type
    bytes = (bytes + align - 1) / align * align;
    if (!arena->block || arena->block->size - arena->block->used < bytes) {
        const size_t size = bytes > 16384 ? bytes : 16384;
        struct doc_arena_block *block = pl_alloc(sizeof *block + size);
        if (!block) {
            arena->failed = true;
            return NULL;
        }

        block->size = size;
        block->next = arena->block;
        arena->block = block;
    }

    void *result = (char *)arena->block->data + arena->block->used;
    arena->block->used += bytes;

    return result;
}

const char *doc_arena_text(doc_arena *arena, const char *text, size_t length)
{
    char *copy = doc_arena_take(arena, length + 1);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

// Measured first, then written.
const char *doc_arena_format(doc_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : doc_arena_take(arena, (size_t)length + 1);

    if (text) {
        va_start(args, format);
        vsnprintf(text, (size_t)length + 1, format, args);
        va_end(args);
    }

    return text;
}

void doc_arena_clear(doc_arena *arena)
{
    while (arena->block) {
        struct doc_arena_block *next = arena->block->next;
        pl_free(arena->block);
        arena->block = next;
    }
}

// Linear: blocks have few keys.
doc_node *doc_child(const doc_node *map, const char *key)
{
    if (!map || map->kind != DOC_MAP) {
        return NULL;
    }

    for (doc_node *n = map->child; n; n = n->next) {
        if (strcmp(n->key, key) == 0) {
            return n;
        }
    }

    return NULL;
}

// For messages: "expected a list, found a block of keys".
const char *doc_kind_name(const doc_node *node)
{
    switch (node->kind) {
    case DOC_NULL:
        return "nothing";
    case DOC_LIST:
        return "a list";
    case DOC_MAP:
        return "a block of keys";
    default:
        return "a single value";
    }
}

// One level of nesting while the events come in.
typedef struct yaml_level {
    doc_node *node, *last; // open block or list; its last child
    const char *key;       // of a map: read, its value not yet
    int key_line;
    size_t key_start;
    bool key_quoted;
} yaml_level;

// The tree so far and the path to where events are added.
typedef struct yaml_builder {
    doc_robot_file *f;
    const char *text;
    size_t length;
    size_t character, byte; // the same place: libyaml counts characters
    yaml_level level[DOC_YAML_DEPTH_MAX];
    int depth;
    doc_node *root;
    bool stop;
} yaml_builder;

static bool yaml_continues(char c) // a byte inside a character of UTF-8
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

// The byte at which a character of the text begins. Events come almost in order, so the cursor moves little.
static size_t yaml_byte(yaml_builder *b, size_t character)
{
    while (b->character < character && b->byte < b->length) {
        for (++b->byte; b->byte < b->length && yaml_continues(b->text[b->byte]); ++b->byte) {
        }
        ++b->character;
    }

    while (b->character > character) {
        for (--b->byte; b->byte > 0 && yaml_continues(b->text[b->byte]); --b->byte) {
        }
        --b->character;
    }

    return b->byte;
}

// A node at the place of an event; NULL without memory.
static doc_node *yaml_node(yaml_builder *b, doc_node_kind kind, const yaml_event_t *event)
{
    doc_node *node = doc_arena_take(&b->f->arena, sizeof *node);
    if (!node) {
        b->stop = true;
        return NULL;
    }

    node->kind = kind;
    node->line = (int)event->start_mark.line + 1;
    node->column = (int)event->start_mark.column + 1;
    node->start = yaml_byte(b, event->start_mark.index);
    node->end = yaml_byte(b, event->end_mark.index);

    return node;
}

// Adds a node below the current level.
static void yaml_attach(yaml_builder *b, doc_node *node)
{
    if (b->depth == 0) {
        b->root = node;
        return;
    }

    yaml_level *up = &b->level[b->depth - 1];
    const int limit = up->node->kind == DOC_MAP ? DOC_YAML_KEYS_MAX : DOC_YAML_ITEMS_MAX;
    if (up->node->count == limit) {
        doc_defect(b->f, node->line, "a %s has more than %d entries",
                   limit == DOC_YAML_KEYS_MAX ? "block" : "list", limit);
        b->stop = true;
        return;
    }

    // an entry of a block takes the key read before it
    node->key = up->key;
    node->key_line = up->key ? up->key_line : node->line;
    node->key_start = up->key ? up->key_start : node->start;
    node->key_quoted = up->key && up->key_quoted;

    if (up->key) {
        const doc_node *twin = doc_child(up->node, up->key);
        if (twin) {
            doc_defect(b->f, up->key_line, "key '%s' is given twice, first on line %d", up->key,
                       twin->key_line);
        }
    }

    up->key = NULL;
    if (up->last) {
        up->last->next = node;
    } else {
        up->node->child = node;
    }

    up->last = node;
    ++up->node->count;
}

// Whether the next scalar is a key.
static bool yaml_wants_key(const yaml_builder *b)
{
    return b->depth > 0 && b->level[b->depth - 1].node->kind == DOC_MAP && !b->level[b->depth - 1].key;
}

// A defect after which parsing makes no sense.
static void yaml_stop(yaml_builder *b, const yaml_event_t *event, const char *sentence)
{
    doc_defect(b->f, (int)event->start_mark.line + 1, "%s", sentence);
    b->stop = true;
}

// Nothing, ~ or null without quotes.
static bool yaml_is_null(const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

// A key, or a value.
static void yaml_scalar(yaml_builder *b, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;

    if (event->data.scalar.anchor || event->data.scalar.tag) {
        yaml_stop(b, event,
                  "anchors (&) and tags (!) are not supported in robot files: write the value itself");
        return;
    }

    if (memchr(text, '\0', length)) {
        yaml_stop(b, event, "a text contains a zero byte");
        return;
    }

    if (yaml_wants_key(b)) {
        yaml_level *level = &b->level[b->depth - 1];
        if (length > 200) {
            yaml_stop(b, event, "a key is longer than 200 letters");
            return;
        }

        level->key = doc_arena_text(&b->f->arena, text, length);
        level->key_line = (int)event->start_mark.line + 1;
        level->key_start = yaml_byte(b, event->start_mark.index);
        level->key_quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        b->stop = !level->key;
        return;
    }

    doc_node *node = yaml_node(b, yaml_is_null(event) ? DOC_NULL : DOC_SCALAR, event);
    if (node) {
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        node->text = doc_arena_text(&b->f->arena, text, length);
        b->stop = !node->text;
        yaml_attach(b, node);
    }
}

// Opens a list or block; what follows belongs to it until yaml_close.
static void yaml_open(yaml_builder *b, const yaml_event_t *event)
{
    const bool map = event->type == YAML_MAPPING_START_EVENT;
    const void *anchor = map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const void *tag = map ? event->data.mapping_start.tag : event->data.sequence_start.tag;

    if (anchor || tag) {
        yaml_stop(b, event,
                  "anchors (&) and tags (!) are not supported in robot files: write the block itself");
        return;
    }

    if (yaml_wants_key(b)) {
        yaml_stop(b, event, "expected a key, found a list or block (one brace or bracket too many?)");
        return;
    }

    if (b->depth == DOC_YAML_DEPTH_MAX) {
        yaml_stop(b, event, "blocks are nested deeper than 32 levels");
        return;
    }

    doc_node *node = yaml_node(b, map ? DOC_MAP : DOC_LIST, event);
    if (node) {
        node->flow = map ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                         : event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        yaml_attach(b, node);
        b->level[b->depth++] = (yaml_level){.node = node};
    }
}

// libyaml ends a block where the next token begins, behind comments that are not part of it: it ends with its
// last entry here.
static void yaml_close(yaml_builder *b, const yaml_event_t *event)
{
    const yaml_level *level = &b->level[--b->depth];
    level->node->end = level->node->flow ? yaml_byte(b, event->end_mark.index)
                       : level->last     ? level->last->end
                                         : level->node->start;
}

// One event of libyaml; what is not listed carries no content.
static void yaml_event(yaml_builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->root) {
            yaml_stop(b, event, "a second document ('---') starts here; a robot file has one");
        }
        break;
    case YAML_ALIAS_EVENT:
        yaml_stop(b, event, "aliases (*) are not supported in robot files: write the block itself");
        break;
    case YAML_SCALAR_EVENT:
        yaml_scalar(b, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        yaml_open(b, event);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        yaml_close(b, event);
        break;
    default:
        break;
    }
}

// libyaml speaks of tokens; its commonest complaints are put into the words of someone who writes files.
static void yaml_complain(doc_robot_file *f, const yaml_parser_t *parser, const char *text, size_t length)
{
    const char *problem = parser->problem ? parser->problem : "cannot be read";
    const int line = (int)parser->problem_mark.line + 1;

    if (parser->error == YAML_MEMORY_ERROR) {
        f->no_memory = true;
        // not UTF-8: the parser has no line, so it is counted
    } else if (parser->error == YAML_READER_ERROR) {
        int at = 1;
        for (size_t i = 0; i < length && i < parser->problem_offset; ++i) {
            at += text[i] == '\n';
        }
        doc_defect(f, at, "not a text file: %s at byte %zu", problem, parser->problem_offset);
    } else if (strstr(problem, "cannot start any token")) {
        doc_defect(f, line, "YAML: a tab or a character that cannot start a value is in column %d",
                   (int)parser->problem_mark.column + 1);
        doc_advise(f, "indent with spaces; quote texts that start with @, ` or %%");
    } else {
        doc_defect(f, line, "YAML: %s%s%s", parser->context ? parser->context : "",
                   parser->context ? ", " : "", problem);
    }
}

// The size is bounded before the parser takes memory; learned models may be larger.
doc_node *doc_yaml_parse(doc_robot_file *f, const char *text, size_t length)
{
    if (length > (f->large ? 16 : 1) * DOC_YAML_BYTES_MAX) {
        doc_defect(f, 0, "the file has %zu bytes, a robot file has at most %zu", length, DOC_YAML_BYTES_MAX);
        return NULL;
    }

    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        f->no_memory = true;
        return NULL;
    }

    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    const bool marked = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; // not counted by libyaml
    yaml_builder builder = {.f = f, .text = text, .length = length, .byte = marked ? 3 : 0};

    // event by event
    for (bool end = false; !end && !builder.stop;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            yaml_complain(f, &parser, text, length);
            builder.stop = true;
            break;
        }

        end = event.type == YAML_STREAM_END_EVENT;
        yaml_event(&builder, &event);
        yaml_event_delete(&event);
    }

    // places in UTF-16 are not places in the text
    if (builder.root && parser.encoding != YAML_UTF8_ENCODING) {
        builder.root->edited = true;
    }
    yaml_parser_delete(&parser);
    if (f->arena.failed) {
        f->no_memory = true;
    }

    return builder.stop ? NULL : builder.root;
}

void doc_write_quoted(pl_text *t, const char *name)
{
    pl_text_add(t, "\"");
    for (const char *c = name; *c; ++c) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            pl_text_add(t, "\\x%02x", (unsigned char)*c);
        } else {
            pl_text_add(t, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        }
    }

    pl_text_add(t, "\"");
}
