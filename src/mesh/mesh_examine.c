// Defects of a mesh that make its answers wrong or slow: inverted and flat elements, disconnected parts,
// walls one element thick, elements that overlap. Each kind becomes one finding with the elements concerned.
#include "mesh/mesh_impl.h"

#define EXAMINE_FLAT 0.1   // quality below which an element counts as flat
#define EXAMINE_PARTS 20   // disconnected parts listed
#define EXAMINE_DEPTH 0.02 // share of an element: elements that only touch do not overlap

// Mean of the corners, as the place shown to the user.
static void examine_centre(const pl_mesh *mesh, int32_t element, double centre[3])
{
    double x[3 * PL_ELEMENT_NODES_MAX];
    const int corners = pl_element_corner_count((pl_element_kind)mesh->view.kind[element]);

    pl_mesh_gather(mesh, element, x);
    memset(centre, 0, 3 * sizeof *centre);
    for (int k = 0; k < 3 * corners; ++k) {
        centre[k % 3] += x[k] / corners;
    }
}

// ---- the shape of elements
// One finding for all elements whose Jacobian bound is not positive.
static void examine_inverted(const pl_mesh *mesh, const pl_mesh_quality *q, pl_severity severity,
                             pl_findings *findings)
{
    if (q->inverted_count == 0) {
        return;
    }

    double place[3];
    examine_centre(mesh, q->worst_element, place);
    pl_findings_add(findings, severity, NULL, 0,
                    "%d element%s inverted at some interior point; the worst is element %d",
                    q->inverted_count, q->inverted_count == 1 ? " is" : "s are", q->worst_element);
    pl_findings_advise(findings, "mesh again with a smaller --size, or with --order 1");
    pl_findings_place(findings, place, &q->worst_element, 1);
}

// Elements below EXAMINE_FLAT as one finding: a warning if there are many or one is nearly degenerate.
static pl_status examine_flat(const pl_mesh *mesh, const pl_mesh_quality *q, pl_findings *findings,
                              pl_error *err)
{
    const int32_t n = mesh->view.element_count;

    // list them and find the worst
    int32_t *flat = PL_NEW_ARRAY(int32_t, n), count = 0, worst = 0;
    double lowest = EXAMINE_FLAT;

    if (!flat) {
        return pl_fail_memory(err, "mesh: a list of elements");
    }

    for (int32_t e = 0; e < n; ++e) {
        const double quality = pl_mesh_element_quality(mesh, e);
        if (quality < EXAMINE_FLAT) {
            flat[count++] = e;
        }
        if (quality < lowest) {
            lowest = quality;
            worst = e;
        }
    }

    if (count > 0) {
        // a few flat elements cost time rather than accuracy
        const bool many = count * 100.0 > n || q->worst < 0.01;
        double place[3];
        examine_centre(mesh, worst, place);
        pl_findings_add(findings, many ? PL_WARNING : PL_NOTE, NULL, 0,
                        "%d element%s flat (quality below 0.1); the worst is element %d with %.3f", count,
                        count == 1 ? " is" : "s are", worst, q->worst);
        pl_findings_advise(findings, "mesh again with another --size; thin or sharp details cause them");
        pl_findings_place(findings, place, flat, count);
    }

    pl_free(flat);

    return PL_OK;
}

// ---- parts and walls
// The parts of each body, numbered from 0 in `of_part`; returns the number of bodies. Quadratic in the number
// of parts, which is small.
static int32_t examine_count_parts(const pl_mesh *mesh, const int32_t *region_body, const int32_t *part,
                                   int32_t count, int32_t *of_part, int32_t *body)
{
    // a part belongs to the body of its regions
    memset(body, -1, (size_t)count * sizeof *body);
    for (int32_t e = 0; e < mesh->view.element_count; ++e) {
        body[part[e]] = region_body ? region_body[mesh->view.region[e]] : 0;
    }

    // a part's number is how many earlier parts have the same body
    int32_t bodies = 0;
    for (int32_t p = 0; p < count; ++p) {
        of_part[p] = 0;
        for (int32_t q = 0; q < p; ++q) {
            of_part[p] += body[q] == body[p];
        }
        bodies += of_part[p] == 0;
    }

    return bodies;
}

pl_status pl_mesh_examine_parts(const pl_mesh *mesh, const int32_t *region_body, pl_findings *findings,
                                pl_error *err)
{
    const int32_t n = mesh->view.element_count;

    // parts, and how many more there are than bodies
    int32_t *part = NULL, *member = PL_NEW_ARRAY(int32_t, n);
    const int32_t count = pl_mesh_components(mesh, &part);
    int32_t *of_body = PL_NEW_ARRAY(int32_t, 2 * (int64_t)count), *body = of_body ? of_body + count : NULL;
    const bool room = part && member && of_body;
    const int32_t extra =
        room ? count - examine_count_parts(mesh, region_body, part, count, of_body, body) : 0;

    // the first part of each body is expected, every further one is a finding
    for (int32_t p = 0, reported = 0; room && extra > 0 && p < count && reported < EXAMINE_PARTS; ++p) {
        if (of_body[p] == 0) {
            continue;
        }
        int32_t members = 0, parts = 0;

        for (int32_t e = 0; e < n; ++e) {
            if (part[e] == p) {
                member[members++] = e;
            }
        }

        for (int32_t q = 0; q < count; ++q) {
            parts += body[q] == body[p];
        }
        double place[3];
        examine_centre(mesh, member[0], place);
        pl_findings_add(findings, PL_WARNING, NULL, 0,
                        "part %d of %d (%d elements) shares no vertex with the others", of_body[p] + 1, parts,
                        members);
        pl_findings_advise(findings,
                           "for one body, merge the common faces before meshing; for several, support each "
                           "part or list it under `bodies`");
        pl_findings_place(findings, place, member, members);
        ++reported;
    }

    pl_free(member);
    pl_free(of_body);
    pl_mesh_free_indices(part);

    return room ? PL_OK : pl_fail_memory(err, "mesh: its parts");
}

// Walls one element thick, as one finding with the size that would give two elements.
static pl_status examine_walls(const pl_mesh *mesh, pl_findings *findings, pl_error *err)
{
    int32_t *element = NULL, count = 0;
    double thinnest = 0;
    const pl_status status = pl_mesh_thin_walls(mesh, &element, &count, &thinnest, err);

    if (status == PL_OK && count > 0) {
        const bool quadratic = pl_element_is_quadratic(mesh->view.kind[0]);
        double place[3];
        examine_centre(mesh, element[0], place);
        // one quadratic element across a wall bends well; one linear element does not
        pl_findings_add(findings, quadratic ? PL_NOTE : PL_WARNING, NULL, 0,
                        "%d element%s the full thickness of a wall; the thinnest of these walls is %.3g mm",
                        count, count == 1 ? " spans" : "s span", thinnest);
        pl_findings_advise(findings,
                           quadratic
                               ? "quadratic elements still represent bending; for accurate stresses, --size "
                                 "%.2g gives two elements through the thickness"
                               : "linear elements are far too stiff here: use --order 2, or --size %.2g",
                           0.5 * thinnest);
        pl_findings_place(findings, place, element, count);
    }

    pl_mesh_free_indices(element);

    return status;
}

// ---- overlaps
// Whether a point that lies in an element lies well inside: every barycentric coordinate (of a prism: of its
// triangle and its height) is large enough. Curved tets are taken by their corners; prisms with curved edges
// are not checked.
static bool examine_deep(const pl_mesh *mesh, const pl_embedding *in, const double p[3])
{
    const pl_element_kind kind = (pl_element_kind)mesh->view.kind[in->element];

    // tet: barycentric coordinates as ratios of volumes, V(p in place of corner k) / V
    double least = 1;

    if (pl_element_is_tet(kind)) {
        double x[3 * PL_ELEMENT_NODES_MAX];
        pl_mesh_gather(mesh, in->element, x);
        const double whole = pl_element_volume(PL_TET4, x);

        for (int k = 0; k < 4; ++k) {
            double y[12];
            memcpy(y, x, sizeof y);
            memcpy(y + 3 * k, p, 3 * sizeof *y);
            least = fmin(least, pl_element_volume(PL_TET4, y) / whole);
        }

        return least > EXAMINE_DEPTH;
    }

    // prism: weights of the shape functions add up to the coordinates of the triangle and of the height
    const double top = in->weight[3] + in->weight[4] + in->weight[5];
    for (int k = 0; k < 3; ++k) {
        least = fmin(least, in->weight[k] + in->weight[k + 3]);
    }

    return kind == PL_PRISM6 && fmin(least, fmin(top, 1 - top)) > EXAMINE_DEPTH;
}

// The element that holds p well inside and has none of the `count` nodes; -1 when there is none. The search
// returns the element that holds a point deepest.
static int32_t examine_stranger(const pl_mesh *mesh, const double p[3], const int32_t *node, int count)
{
    // the element that holds the point; a boundary point or a shallow one only touches
    pl_embedding in;
    if (pl_mesh_embed(mesh, p, &in, NULL) != PL_OK || in.distance > 0 || !examine_deep(mesh, &in, p)) {
        return -1;
    }

    // elements that share a node are neighbours, not an overlap
    for (int a = 0; a < in.node_count; ++a) {
        for (int k = 0; k < count; ++k) {
            if (in.node[a] == node[k]) {
                return -1;
            }
        }
    }

    return in.element;
}

// The element that element e overlaps, and where: a corner of e lies inside of it, or, where parts coincide
// corner by corner, the centre of e does. Each vertex is looked at once. -1 when there is none.
static int32_t examine_overlap(const pl_mesh *mesh, int32_t e, bool *seen, double at[3])
{
    const pl_mesh_view *view = &mesh->view;
    const int corners = pl_element_corner_count((pl_element_kind)view->kind[e]);
    const int32_t *node = view->node + view->node_start[e];

    // centre first: it finds coinciding copies, whose corners all touch
    examine_centre(mesh, e, at);
    int32_t other = examine_stranger(mesh, at, node, corners);
    for (int k = 0; k < corners && other < 0; ++k) {
        memcpy(at, view->position + 3 * (size_t)node[k], 3 * sizeof *at);
        other = seen[node[k]] ? -1 : examine_stranger(mesh, at, node + k, 1);
        seen[node[k]] = true;
    }

    return other;
}

// One finding with the first pair, named by regions in the order of the elements' numbers.
static void examine_tell_overlaps(const pl_mesh *mesh, const int32_t *found, int32_t count, int32_t other,
                                  const double place[3], pl_findings *findings)
{
    const pl_mesh_view *view = &mesh->view;
    const int32_t low = found[0] < other ? found[0] : other, high = found[0] < other ? other : found[0];

    pl_findings_add(findings, PL_WARNING, NULL, 0,
                    "%d element%s others; near (%.4g, %.4g, %.4g) regions '%s' and '%s' do", count,
                    count == 1 ? " overlaps" : "s overlap", pl_tidy(place[0]), pl_tidy(place[1]),
                    pl_tidy(place[2]), view->region_name[view->region[low]],
                    view->region_name[view->region[high]]);
    pl_findings_advise(findings, "overlapping bodies do not push each other apart: move one of the bodies "
                                 "(`pose`), or cut one part out of the other before meshing");
    pl_findings_place(findings, place, found, count);
}

// Elements that lie in others. Each is one search in the tree: n log n.
static pl_status examine_overlaps(const pl_mesh *mesh, pl_findings *findings, pl_error *err)
{
    int32_t *found = PL_NEW_ARRAY(int32_t, mesh->view.element_count), count = 0, first = -1;
    bool *seen = PL_NEW_ARRAY(bool, mesh->view.vertex_count);
    const bool room = found && seen;
    double place[3] = {0};

    for (int32_t e = 0; room && e < mesh->view.element_count; ++e) {
        double at[3];
        const int32_t other = examine_overlap(mesh, e, seen, at);
        if (other >= 0 && count == 0) {
            memcpy(place, at, sizeof place);
            first = other;
        }

        if (other >= 0) {
            found[count++] = e;
        }
    }

    if (count > 0) {
        examine_tell_overlaps(mesh, found, count, first, place, findings);
    }
    pl_free(found);
    pl_free(seen);

    return room ? PL_OK : pl_fail_memory(err, "mesh: a list of elements");
}

// The steps of pl_mesh_examine, which other rooms also run one by one (see mesh.h).
pl_status pl_mesh_examine_shapes(const pl_mesh *mesh, pl_severity inverted, pl_findings *findings,
                                 pl_error *err)
{
    const pl_mesh_quality quality = pl_mesh_measure_quality(mesh);
    examine_inverted(mesh, &quality, inverted, findings);
    return examine_flat(mesh, &quality, findings, err);
}

pl_status pl_mesh_examine_walls(const pl_mesh *mesh, pl_findings *findings, pl_error *err)
{
    const pl_status status = examine_walls(mesh, findings, err);
    return status == PL_OK ? examine_overlaps(mesh, findings, err) : status;
}

pl_status pl_mesh_examine(const pl_mesh *mesh, pl_findings *findings, pl_error *err)
{
    pl_status status = pl_mesh_examine_shapes(mesh, PL_DEFECT, findings, err);
    if (status == PL_OK) {
        status = pl_mesh_examine_parts(mesh, NULL, findings, err);
    }
    return status == PL_OK ? pl_mesh_examine_walls(mesh, findings, err) : status;
}

// ---- repairs
void pl_mesh_report_findings(const pl_mesh_report *r, const char *source, pl_findings *findings)
{
    if (r->flipped_elements) {
        pl_findings_add(findings, PL_NOTE, source, 0, "%d element%s been reoriented", r->flipped_elements,
                        r->flipped_elements == 1 ? " was inverted and has" : "s were inverted and have");
    }

    if (r->duplicate_vertices) {
        pl_findings_add(findings, PL_WARNING, source, 0, "%d %s with another vertex", r->duplicate_vertices,
                        r->duplicate_vertices == 1 ? "vertex coincides" : "vertices coincide");
        pl_findings_advise(findings, "parts that should be connected separate there; merge the vertices in "
                                     "the program that wrote the mesh");
    }

    if (r->unused_vertices) {
        pl_findings_add(findings, PL_NOTE, source, 0, "%d %s removed", r->unused_vertices,
                        r->unused_vertices == 1 ? "vertex belongs to no element and was"
                                                : "vertices belong to no element and were");
    }

    if (r->collapsed_edges) {
        pl_findings_add(findings, PL_NOTE, NULL, 0,
                        "%s: details of up to %.3g mm are far smaller than the elements: %d edge%s of flat "
                        "elements %s collapsed",
                        source, r->longest_collapsed, r->collapsed_edges, r->collapsed_edges == 1 ? "" : "s",
                        r->collapsed_edges == 1 ? "was" : "were");
        pl_findings_advise(findings, "remove them in the part, or mesh it with a smaller --size");
    }

    if (r->unmatched_faces) {
        pl_findings_add(findings, PL_WARNING, source, 0, "%d %s removed", r->unmatched_faces,
                        r->unmatched_faces == 1 ? "face of a named surface belongs to no element and was"
                                                : "faces of named surfaces belong to no element and were");
    }
}
