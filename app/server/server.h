// The browser view of a robot: a page over HTTP, shapes over a WebSocket. One thread owns the sockets, one
// worker owns the models; between them lies a queue where each finds only what is finished. The protocol is
// docs/reference/protocol.md.
#ifndef PL_SERVER_H
#define PL_SERVER_H

#include "pliant/pliant.h"
#include "pliant/meshing.h"

typedef struct server_options {
    const char *robot;   // a robot file; NULL: the page begins with the gallery
    const char *gallery; // a folder for the robots of the built-in designs; NULL: no gallery
    const char *host;    // address to listen on
    const char *token;   // viewers must know it; NULL on loopback
    int port;            // 0: any free one
    const char *page;    // folder of the page
    const char *three;   // folder of three.js
    const char *log;     // the .sqlite log of a run, which may grow or not be there yet; NULL: none
    double size;         // as in pl_load_options
    int order;
    bool no_cache;
    double idle; // s without a viewer after which the server ends; 0: never
    // Called once when listening, with the address a browser understands.
    void (*ready)(void *user, const char *address);
    // Asked several times a second; true ends the server.
    bool (*stop)(void *user);
    void *user;
} server_options;

// Serves until `stop` says so. What is wrong with the robot is shown in the page and is no failure here.
pl_status server_run(const server_options *options, pl_error *err);

// Where the page and three.js lie: beside the program's prefix, in the folder PLIANT_WEB names, or in the
// source tree. On failure `err` says what is missing and how to get it. Both are on the heap.
pl_status server_find_page(char **page, char **three, pl_error *err);

#endif
