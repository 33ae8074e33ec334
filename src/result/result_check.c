// Which results this machine can write: libraries and programs that are opened when a file needs them.
#include <string.h>
#include <strings.h>
#include "pliant/result.h"
#include "result/result_video.h"
#include "text/text_cairo.h"
#include "text/text_sqlite.h"

pl_status pl_result_check(const char *path, pl_error *err)
{
    // reports contain pictures
    static const struct {
        const char *extension;
        bool cairo, sqlite, video;
    } need[] = {
        {".png", .cairo = true},     {".svg", .cairo = true},
        {".gif", .cairo = true},     {".html", .cairo = true},
        {".db", .sqlite = true},     {".webm", .cairo = true, .video = true},
        {".sqlite", .sqlite = true}, {".mp4", .cairo = true, .video = true},
    };
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    pl_status status = PL_OK;

    for (int i = 0; dot && i < PL_COUNT(need) && status == PL_OK; ++i) {
        if (strcasecmp(dot, need[i].extension) != 0) {
            continue;
        }
        pl_error why = {0};
        status = need[i].cairo ? text_cairo_open(&why) : PL_OK;
        status = status == PL_OK && need[i].sqlite ? text_sqlite_open(&why) : status;
        if (status != PL_OK) {
            return pl_fail(err, PL_BAD_FILE, "%.200s cannot be written: %.600s", path, why.text);
        }
        status = need[i].video ? result_video_check(path, err) : PL_OK;
    }

    return status;
}
