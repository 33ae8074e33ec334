// Who may enter, and which files they may see.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "server_net.h"

// ---- who
// Takes as long for a wrong token as for the right one.
static bool gate_same(const char *a, const char *b)
{
    const size_t n = strlen(a);
    unsigned difference = strlen(b) != n;
    for (size_t i = 0; i < n; ++i) {
        difference |= (unsigned char)a[i] ^ (unsigned char)b[strlen(b) > i ? i : 0];
    }
    return difference == 0;
}

// Whether a Host header names this machine itself, with any port.
static bool gate_is_loopback(const char *host)
{
    static const char *const name[] = {"localhost", "127.0.0.1", "[::1]"};
    for (int i = 0; i < 3; ++i) {
        const size_t n = strlen(name[i]);
        if (strncasecmp(host, name[i], n) == 0 && (host[n] == 0 || host[n] == ':')) {
            return true;
        }
    }

    return false;
}

bool net_may_enter(const server_options *options, const char *host, const char *origin, const char *token)
{
    if (options->token && !gate_same(options->token, token)) {
        return false;
    }

    // without a token only this machine may look; a foreign name that leads here is a trick on the browser
    if (!options->token && !gate_is_loopback(host)) {
        return false;
    }

    // browsers always say which page opens a WebSocket: it must be ours. Programs say nothing.
    if (!origin[0]) {
        return true;
    }

    const char *rest = strncasecmp(origin, "http://", 7) == 0    ? origin + 7
                       : strncasecmp(origin, "https://", 8) == 0 ? origin + 8
                                                                 : NULL;
    return rest && strcasecmp(rest, host) == 0;
}

// ---- what
static const struct {
    const char *extension, *type;
} gate_types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
};

// Plain names only: no empty or hidden part, so nothing outside of the folder can be meant.
static bool gate_is_plain(const char *address)
{
    for (const char *c = address; *c; ++c) {
        const bool starts = c == address || c[-1] == '/';
        if (!isalnum((unsigned char)*c) && !strchr("-_./", *c)) {
            return false;
        }
        if (starts && (*c == '.' || *c == '/')) {
            return false;
        }
    }
    return address[0] != 0;
}

char *net_file_of(const server_options *options, const char *address, const char **type)
{
    *type = NULL;
    const char *name = strcmp(address, "/") == 0 ? "index.html" : address + (address[0] == '/');
    const bool three = strncmp(name, "three/", 6) == 0;
    const char *folder = three ? options->three : options->page;
    name += three ? 6 : 0;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof gate_types / sizeof *gate_types; ++i) {
        if (strcmp(dot, gate_types[i].extension) == 0) {
            *type = gate_types[i].type;
        }
    }

    // of the folder of the page, what npm put there is not served
    if (!*type || strlen(name) > 200 || !gate_is_plain(name) || strncmp(name, "node_modules/", 13) == 0) {
        return NULL;
    }

    char *path = malloc(strlen(folder) + strlen(name) + 2);
    if (path) {
        sprintf(path, "%s/%s", folder, name);
    }

    return path;
}
