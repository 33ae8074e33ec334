// Writing MSH 2.2 and 4.1, text or binary, with physical groups for regions and surfaces. The bytes are made
// here and written in one go beside the target under a name nobody can guess, then renamed: a full disk
// leaves no file and an error (Gmsh's own writer reports neither).
#define _DEFAULT_SOURCE // mkstemp is POSIX, fchmod with umask too; asked for beside C17
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "meshing/meshing.h"
#include "meshing/meshing_impl.h"

// Faces in Gmsh: triangles and quadrilaterals of both orders, by node count.
static const struct {
    int nodes, type;
} write_face[] = {{3, 2}, {6, 9}, {4, 3}, {8, 16}};

// The file so far.
typedef struct writer {
    const pl_mesh *mesh;
    pl_mesh_view view;
    bool binary, version4;
    pl_text out;
    int64_t next; // number of the next element
} writer;

// 4 bytes, or text and a separator.
static void write_int(writer *w, int value, char behind)
{
    const int32_t v = value;
    if (w->binary) {
        pl_text_add_bytes(&w->out, &v, sizeof v);
    } else {
        pl_text_add(&w->out, "%d%c", value, behind);
    }
}

// A count or tag: 8 bytes in version 4.1, 4 in 2.2.
static void write_size(writer *w, int64_t value, char behind)
{
    const uint64_t v = (uint64_t)value;
    if (w->binary && w->version4) {
        pl_text_add_bytes(&w->out, &v, sizeof v);
    } else if (w->binary) {
        write_int(w, (int)value, behind);
    } else {
        pl_text_add(&w->out, "%lld%c", (long long)value, behind);
    }
}

// Doubles as they are; in text with 17 digits, which restore every bit.
static void write_reals(writer *w, const double *x, int count, char behind)
{
    if (w->binary) {
        pl_text_add_bytes(&w->out, x, (size_t)count * sizeof *x);
        return;
    }

    for (int i = 0; i < count; ++i) {
        pl_text_add(&w->out, "%.17g%c", x[i], i + 1 < count ? ' ' : behind);
    }
}

static void write_begin(writer *w, const char *section)
{
    pl_text_add(&w->out, "$%s\n", section);
}

static void write_end(writer *w, const char *section)
{
    pl_text_add(&w->out, "%s$End%s\n", w->binary ? "\n" : "", section);
}

// Format and names. Tags of groups are numbers of surfaces and regions plus one.
static void write_head(writer *w)
{
    pl_text_add(&w->out, "$MeshFormat\n%s %d 8\n", w->version4 ? "4.1" : "2.2", w->binary);
    if (w->binary) {
        write_int(w, 1, 0); // tells the byte order
        pl_text_add(&w->out, "\n");
    }

    pl_text_add(&w->out, "$EndMeshFormat\n$PhysicalNames\n%d\n",
                w->view.surface_count + w->view.region_count);
    for (int32_t s = 0; s < w->view.surface_count; ++s) {
        pl_text_add(&w->out, "2 %d \"%s\"\n", s + 1, w->view.surface_name[s]);
    }
    for (int32_t r = 0; r < w->view.region_count; ++r) {
        pl_text_add(&w->out, "3 %d \"%s\"\n", r + 1, w->view.region_name[r]);
    }
    pl_text_add(&w->out, "$EndPhysicalNames\n");
}

// One discrete surface or volume per name, with the box of the mesh: readers use it for searching only.
static void write_entities(writer *w)
{
    const int64_t count[4] = {0, 0, w->view.surface_count, w->view.region_count};
    double box[6];

    pl_mesh_bounds(w->mesh, box, box + 3);
    write_begin(w, "Entities");
    for (int i = 0; i < 4; ++i) {
        write_size(w, count[i], i < 3 ? ' ' : '\n');
    }

    for (int dim = 2; dim <= 3; ++dim) {
        for (int i = 1; i <= count[dim]; ++i) {
            write_int(w, i, ' ');
            write_reals(w, box, 6, ' '); // bounding box
            write_size(w, 1, ' ');       // number of physical groups
            write_int(w, i, ' ');
            write_size(w, 0, '\n'); // no boundary
        }
    }

    write_end(w, "Entities");
}

// Version 4.1: all numbers first, then all coordinates; 2.2: number and coordinates together.
static void write_nodes(writer *w)
{
    const int32_t n = w->view.vertex_count;
    write_begin(w, "Nodes");
    if (w->version4) {
        const int64_t head[4] = {1, n, 1, n};
        for (int i = 0; i < 4; ++i) {
            write_size(w, head[i], i < 3 ? ' ' : '\n');
        }

        // all in the first volume
        write_int(w, 3, ' ');
        write_int(w, 1, ' ');
        write_int(w, 0, ' ');
        write_size(w, n, '\n');
        for (int32_t v = 0; v < n; ++v) {
            write_size(w, v + 1, '\n');
        }
    } else {
        pl_text_add(&w->out, "%d\n", n);
    }

    for (int32_t v = 0; v < n; ++v) {
        if (!w->version4) {
            write_int(w, v + 1, ' ');
        }
        write_reals(w, w->view.position + 3 * (int64_t)v, 3, '\n');
    }

    write_end(w, "Nodes");
}

// The head of a block of `count` elements of one type on one entity.
static void write_block(writer *w, int dim, int entity, int type, int64_t count)
{
    if (w->version4) {
        write_int(w, dim, ' ');
        write_int(w, entity, ' ');
        write_int(w, type, ' ');
        write_size(w, count, '\n');
    } else if (w->binary) {
        write_int(w, type, 0);
        write_int(w, (int)count, 0);
        write_int(w, 2, 0);
    }
}

// One element or face, with its nodes in Gmsh's order.
static void write_element(writer *w, int entity, int type, const int32_t *node, int count)
{
    write_size(w, w->next++, ' ');
    if (!w->version4 && !w->binary) {
        pl_text_add(&w->out, "%d 2 ", type);
    }
    for (int i = 0; i < 2 && !w->version4; ++i) {
        write_int(w, entity, ' '); // physical group, then entity
    }
    for (int i = 0; i < count; ++i) {
        write_size(w, (int64_t)node[i] + 1, i + 1 < count ? ' ' : '\n');
    }
}

// Writes the elements of one kind in a region; with `count_only` only counts them.
static int64_t write_region(writer *w, int32_t region, int kind, bool count_only)
{
    const pl_element_traits *traits = pl_element_get(kind);
    int64_t count = 0;

    for (int32_t e = 0; e < w->view.element_count; ++e) {
        if (w->view.region[e] != region || w->view.kind[e] != kind) {
            continue;
        }
        ++count;

        const int32_t *own = w->view.node + w->view.node_start[e];
        int32_t node[PL_ELEMENT_NODES_MAX];
        for (int a = 0; a < traits->nodes; ++a) {
            node[traits->gmsh_node[a]] = own[a];
        }
        if (!count_only) {
            write_element(w, region + 1, traits->gmsh, node, traits->nodes);
        }
    }

    return count;
}

// The same for the faces of a surface that have write_face[which].nodes nodes.
static int64_t write_surface(writer *w, int32_t surface, int which, bool count_only)
{
    int64_t count = 0;
    for (int64_t f = w->view.surface_start[surface]; f < w->view.surface_start[surface + 1]; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int nodes = pl_mesh_face_nodes(w->mesh, w->view.surface_face[f], node);

        if (nodes == write_face[which].nodes) {
            ++count;
            if (!count_only) {
                write_element(w, surface + 1, write_face[which].type, node, nodes);
            }
        }
    }

    return count;
}

// Every block, in the order of surfaces and regions: counted into *blocks and *elements, or written.
static void write_blocks(writer *w, bool count_only, int64_t *blocks, int64_t *elements)
{
    *blocks = *elements = 0;
    for (int dim = 2; dim <= 3; ++dim) {
        const int32_t entities = dim == 2 ? w->view.surface_count : w->view.region_count;
        const int kinds = dim == 2 ? PL_COUNT(write_face) : PL_ELEMENT_KIND_COUNT;

        for (int32_t i = 0; i < entities; ++i) {
            for (int k = 0; k < kinds; ++k) {
                const int64_t count = dim == 2 ? write_surface(w, i, k, true) : write_region(w, i, k, true);
                *blocks += count > 0;
                *elements += count;
                if (count > 0 && !count_only) {
                    write_block(w, dim, i + 1, dim == 2 ? write_face[k].type : pl_element_get(k)->gmsh,
                                count);
                    dim == 2 ? write_surface(w, i, k, false) : write_region(w, i, k, false);
                }
            }
        }
    }
}

// Counted first, because the header precedes the blocks.
static void write_elements(writer *w)
{
    int64_t blocks, elements;
    write_blocks(w, true, &blocks, &elements);
    write_begin(w, "Elements");

    if (w->version4) {
        const int64_t head[4] = {blocks, elements, 1, elements};
        for (int i = 0; i < 4; ++i) {
            write_size(w, head[i], i < 3 ? ' ' : '\n');
        }
    } else {
        pl_text_add(&w->out, "%lld\n", (long long)elements);
    }

    write_blocks(w, false, &blocks, &elements);
    write_end(w, "Elements");
}

// ---- the file
// write() may take less than it is given.
static bool write_all(int fd, const char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t put = write(fd, data + done, bytes - done);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        done += put > 0 ? (size_t)put : 0;
    }

    return true;
}

// Permissions of a file that is replaced stay; a new one gets what the umask leaves.
static mode_t write_mode(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0) {
        return info.st_mode & 07777;
    }

    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

// Writes beside the target and renames: readers see the old file or the whole new one.
static pl_status write_file(const char *path, const pl_text *bytes, pl_error *err)
{
    pl_text beside = {0};
    pl_text_add(&beside, "%s.XXXXXX", path);
    if (beside.failed) {
        pl_text_clear(&beside);
        return pl_fail_memory(err, "a file name");
    }

    // mkstemp makes a new file or none: it follows no link
    const int fd = mkstemp(beside.data);
    bool good = fd >= 0 && write_all(fd, bytes->data, bytes->length) && fchmod(fd, write_mode(path)) == 0 &&
                fsync(fd) == 0;

    // the first error counts: close and rename are attempted only after success
    int why = good ? 0 : errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        why = errno;
    }

    if (good && rename(beside.data, path) != 0) {
        good = false;
        why = errno;
    }

    if (!good && fd >= 0) {
        unlink(beside.data);
    }
    pl_text_clear(&beside);

    return good ? PL_OK : pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(why));
}

pl_status meshing_write(const pl_mesh *mesh, const char *path, double version, bool binary, pl_error *err)
{
    writer w = {
        .mesh = mesh, .view = pl_mesh_get(mesh), .binary = binary, .version4 = version > 3, .next = 1};
    write_head(&w);
    if (w.version4) {
        write_entities(&w);
    }
    write_nodes(&w);
    write_elements(&w);
    const pl_status status = w.out.failed ? pl_fail_memory(err, path) : write_file(path, &w.out, err);
    pl_text_clear(&w.out);

    return status;
}

pl_status pl_meshing_write_msh(const pl_mesh *mesh, const char *path, bool binary, pl_error *err)
{
    return meshing_write(mesh, path, 4.1, binary, err);
}
