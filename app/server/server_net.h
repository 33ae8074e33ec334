// Inside the thread of the sockets: viewers, and what they say.
#ifndef PL_SERVER_NET_H
#define PL_SERVER_NET_H

#include "server_impl.h"

struct lws;
struct lws_context;

typedef struct server_viewer {
    struct lws *socket;
    uint32_t id;
    uint64_t sent[SERVER_CHANNEL_COUNT];   // version last sent of each channel
    server_message *reply[SERVER_REPLIES]; // a ring
    int reply_first, reply_count;
    size_t reply_bytes; // of those that wait
    char *received;     // of a message that is not complete yet
    size_t received_bytes;
    struct server_viewer *next;
} server_viewer;

typedef struct server_net {
    const server_options *options;
    server_queue *queue;
    struct lws_context *context;
    server_viewer *viewer; // in the order they came
    int viewer_count;
    size_t reply_bytes;     // of all viewers
    uint32_t last_id;       // begins anywhere: pages know by it that another server answers
    uint32_t owner, asking; // ids; 0: nobody
    double asked;           // s, when
    char *path;             // the robot shown, to watch its files
    uint64_t stamp;
    double looked, beaten; // s, when the files were looked at, when the viewers got a sign of life
    double seen;           // s, when somebody was looking last
    bool stopping;
} server_net;

#define NET_ASK_PATIENCE 15.0 // s after which the controls go to who asked, when their owner is silent

// Tells everybody who owns the controls.
void net_publish_control(server_net *net);
void net_hand_over(server_net *net, uint32_t id);

// Opens a robot and watches it from now on.
void net_open(server_net *net, const char *path);

// Acts on one complete message of a viewer. What is wrong with it is answered with a sentence.
void net_hear(server_net *net, server_viewer *viewer, const char *text, size_t bytes);

// Whether a WebSocket may be opened: `host` and `origin` are the request's headers, `token` what the address
// carries; empty when absent.
bool net_may_enter(const server_options *options, const char *host, const char *origin, const char *token);

// The file of an address of the page, on the heap; NULL when there is none. `type` gets its media type.
char *net_file_of(const server_options *options, const char *address, const char **type);

#endif
