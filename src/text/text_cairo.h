// cairo, which draws pictures and reads PNG files, through pointers.
#ifndef PL_TEXT_CAIRO_H
#define PL_TEXT_CAIRO_H

#include <cairo-svg.h>
#include <cairo.h>
#include "base/base.h"

// Opens the library at its first use; every entry point that calls it asks for it first.
pl_status text_cairo_open(pl_error *err);

#define CAIRO_CALLS(X)                                                                                       \
    X(cairo_arc)                                                                                             \
    X(cairo_create)                                                                                          \
    X(cairo_destroy)                                                                                         \
    X(cairo_fill)                                                                                            \
    X(cairo_fill_preserve)                                                                                   \
    X(cairo_font_extents)                                                                                    \
    X(cairo_image_surface_create)                                                                            \
    X(cairo_image_surface_create_from_png)                                                                   \
    X(cairo_image_surface_get_data)                                                                          \
    X(cairo_image_surface_get_format)                                                                        \
    X(cairo_image_surface_get_height)                                                                        \
    X(cairo_image_surface_get_stride)                                                                        \
    X(cairo_image_surface_get_width)                                                                         \
    X(cairo_line_to)                                                                                         \
    X(cairo_move_to)                                                                                         \
    X(cairo_new_path)                                                                                        \
    X(cairo_paint)                                                                                           \
    X(cairo_rectangle)                                                                                       \
    X(cairo_restore)                                                                                         \
    X(cairo_rotate)                                                                                          \
    X(cairo_save)                                                                                            \
    X(cairo_select_font_face)                                                                                \
    X(cairo_set_antialias)                                                                                   \
    X(cairo_set_font_size)                                                                                   \
    X(cairo_set_line_cap)                                                                                    \
    X(cairo_set_line_join)                                                                                   \
    X(cairo_set_line_width)                                                                                  \
    X(cairo_set_source_rgb)                                                                                  \
    X(cairo_set_source_rgba)                                                                                 \
    X(cairo_set_source_surface)                                                                              \
    X(cairo_show_text)                                                                                       \
    X(cairo_status)                                                                                          \
    X(cairo_status_to_string)                                                                                \
    X(cairo_stroke)                                                                                          \
    X(cairo_surface_destroy)                                                                                 \
    X(cairo_surface_finish)                                                                                  \
    X(cairo_surface_flush)                                                                                   \
    X(cairo_surface_mark_dirty)                                                                              \
    X(cairo_surface_status)                                                                                  \
    X(cairo_surface_write_to_png_stream)                                                                     \
    X(cairo_svg_surface_create_for_stream)                                                                   \
    X(cairo_text_extents)                                                                                    \
    X(cairo_translate)

// One pointer per function, NULL until text_cairo_open has found them all.
typedef struct cairo_calls {
#define X(name) __typeof__(name) *name##_;
    CAIRO_CALLS(X)
#undef X
} cairo_calls;

extern cairo_calls text_cairo;

#define cairo_arc (*text_cairo.cairo_arc_)
#define cairo_create (*text_cairo.cairo_create_)
#define cairo_destroy (*text_cairo.cairo_destroy_)
#define cairo_fill (*text_cairo.cairo_fill_)
#define cairo_fill_preserve (*text_cairo.cairo_fill_preserve_)
#define cairo_font_extents (*text_cairo.cairo_font_extents_)
#define cairo_image_surface_create (*text_cairo.cairo_image_surface_create_)
#define cairo_image_surface_create_from_png (*text_cairo.cairo_image_surface_create_from_png_)
#define cairo_image_surface_get_data (*text_cairo.cairo_image_surface_get_data_)
#define cairo_image_surface_get_format (*text_cairo.cairo_image_surface_get_format_)
#define cairo_image_surface_get_height (*text_cairo.cairo_image_surface_get_height_)
#define cairo_image_surface_get_stride (*text_cairo.cairo_image_surface_get_stride_)
#define cairo_image_surface_get_width (*text_cairo.cairo_image_surface_get_width_)
#define cairo_line_to (*text_cairo.cairo_line_to_)
#define cairo_move_to (*text_cairo.cairo_move_to_)
#define cairo_new_path (*text_cairo.cairo_new_path_)
#define cairo_paint (*text_cairo.cairo_paint_)
#define cairo_rectangle (*text_cairo.cairo_rectangle_)
#define cairo_restore (*text_cairo.cairo_restore_)
#define cairo_rotate (*text_cairo.cairo_rotate_)
#define cairo_save (*text_cairo.cairo_save_)
#define cairo_select_font_face (*text_cairo.cairo_select_font_face_)
#define cairo_set_antialias (*text_cairo.cairo_set_antialias_)
#define cairo_set_font_size (*text_cairo.cairo_set_font_size_)
#define cairo_set_line_cap (*text_cairo.cairo_set_line_cap_)
#define cairo_set_line_join (*text_cairo.cairo_set_line_join_)
#define cairo_set_line_width (*text_cairo.cairo_set_line_width_)
#define cairo_set_source_rgb (*text_cairo.cairo_set_source_rgb_)
#define cairo_set_source_rgba (*text_cairo.cairo_set_source_rgba_)
#define cairo_set_source_surface (*text_cairo.cairo_set_source_surface_)
#define cairo_show_text (*text_cairo.cairo_show_text_)
#define cairo_status (*text_cairo.cairo_status_)
#define cairo_status_to_string (*text_cairo.cairo_status_to_string_)
#define cairo_stroke (*text_cairo.cairo_stroke_)
#define cairo_surface_destroy (*text_cairo.cairo_surface_destroy_)
#define cairo_surface_finish (*text_cairo.cairo_surface_finish_)
#define cairo_surface_flush (*text_cairo.cairo_surface_flush_)
#define cairo_surface_mark_dirty (*text_cairo.cairo_surface_mark_dirty_)
#define cairo_surface_status (*text_cairo.cairo_surface_status_)
#define cairo_surface_write_to_png_stream (*text_cairo.cairo_surface_write_to_png_stream_)
#define cairo_svg_surface_create_for_stream (*text_cairo.cairo_svg_surface_create_for_stream_)
#define cairo_text_extents (*text_cairo.cairo_text_extents_)
#define cairo_translate (*text_cairo.cairo_translate_)

#endif
