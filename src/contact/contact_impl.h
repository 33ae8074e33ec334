// Inside the contact room.
#ifndef PL_CONTACT_IMPL_H
#define PL_CONTACT_IMPL_H

#include "contact/contact.h"

// Reference coordinates and weight of node k of a face of `size` nodes; k == size: its centre.
void contact_reference(int size, int k, double xi[2]);
double contact_reference_weight(int size, int k);

// Position y and tangents a (two 3-vectors) of a face.
void contact_face_at(const pl_contact_surface *s, int32_t face, const double *x, const double xi[2],
                     double y[3], double a[6]);

// The nearest point of a face to p, searched from the nearest of its flat triangles on: fills xi, gap, n and
// inner of `pair`; false where the point of the face does not look at p (see contact_pair.c).
bool contact_nearest_from(const pl_contact_surface *s, const double *x, const double p[3],
                          pl_contact_pair *pair);

// The same with the face continued by `beyond` of its reference coordinates; 0: not at all.
bool contact_nearest_beyond(const pl_contact_surface *s, const double *x, const double p[3], double beyond,
                            pl_contact_pair *pair);

// The nearest point of the face continued beyond its edges by `beyond` of its reference coordinates; false
// when it lies farther out.
bool contact_continued(const pl_contact_surface *s, const double *x, const double p[3], double beyond,
                       pl_contact_pair *pair);

// The nearest point of the flat triangles between a face's nodes; returns the distance.
double contact_flat(const pl_contact_surface *s, int32_t face, const double *x, const double p[3],
                    double xi[2]);
bool contact_nearest(const pl_contact_surface *s, const double *x, const double p[3], pl_contact_pair *pair);

#endif
