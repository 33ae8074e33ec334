// The thread of the sockets: HTTP for the page, a WebSocket per viewer. The only file that includes
// libwebsockets.h.
#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "server_net.h"

_Static_assert(SERVER_FRONT >= LWS_PRE, "room in front of a payload");

// of the import map in web/index.html, to the reply
#define NET_IMPORT_MAP_HASH "sha256-qPIeESgLBEn11LziDGthPeK9ZvGhU0lZcS7T1myhRTA="

#define NET_TICK (100 * LWS_US_PER_MS)
#define NET_LOOK 0.4 // s between two looks at the robot's files
#define NET_BEAT 0.5 // s between two signs of life

// ---- viewers
static void net_want_write_all(server_net *net)
{
    for (server_viewer *v = net->viewer; v; v = v->next) {
        lws_callback_on_writable(v->socket);
    }
}

// Called by the worker: the socket thread comes out of its wait and asks for writing.
static void net_wake(void *user)
{
    server_net *net = user;
    lws_cancel_service(net->context);
}

static void net_release(server_net *net, server_message *message)
{
    pthread_mutex_lock(&net->queue->lock);
    const bool last = message && --message->references == 0;
    pthread_mutex_unlock(&net->queue->lock);
    if (last) {
        server_message_free(message);
    }
}

static server_viewer *net_viewer(server_net *net, uint32_t id)
{
    for (server_viewer *v = net->viewer; v; v = v->next) {
        if (v->id == id) {
            return v;
        }
    }
    return NULL;
}

static void net_forget_replies(server_net *net, server_viewer *v)
{
    for (; v->reply_count > 0; --v->reply_count) {
        server_message_free(v->reply[v->reply_first]);
        v->reply_first = (v->reply_first + 1) % SERVER_REPLIES;
    }
    net->reply_bytes -= v->reply_bytes;
    v->reply_bytes = 0;
}

// When too much waits in all, the viewer who fetches least is hung up on, so that the others get their files.
// `last` has just got one, of which it may take one of any size.
static void net_keep_below(server_net *net, const server_viewer *last)
{
    while (net->reply_bytes > SERVER_ALL_BYTES) {
        server_viewer *most = NULL;
        for (server_viewer *v = net->viewer; v; v = v->next) {
            const bool waits = v->reply_count > (v == last ? 1 : 0);
            if (waits && (!most || v->reply_bytes > most->reply_bytes)) {
                most = v;
            }
        }
        if (!most) {
            return;
        }
        net_forget_replies(net, most);
        lws_set_timeout(most->socket, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
    }
}

// Moves the replies from the queue to the viewers they are for; those of viewers who left are dropped.
static void net_sort_replies(server_net *net)
{
    pthread_mutex_lock(&net->queue->lock);
    server_reply *reply = net->queue->reply;
    net->queue->reply = NULL;
    net->queue->reply_end = &net->queue->reply;
    pthread_mutex_unlock(&net->queue->lock);
    while (reply) {
        server_reply *next = reply->next;
        server_viewer *v = net_viewer(net, reply->viewer);
        // one reply of any size is kept; those a viewer does not fetch do not pile up
        if (v && v->reply_count < SERVER_REPLIES &&
            (v->reply_count == 0 || v->reply_bytes + reply->message->bytes <= SERVER_REPLY_BYTES)) {
            v->reply_bytes += reply->message->bytes;
            net->reply_bytes += reply->message->bytes;
            v->reply[(v->reply_first + v->reply_count++) % SERVER_REPLIES] = reply->message;
            lws_callback_on_writable(v->socket);
            net_keep_below(net, v);
        } else {
            server_message_free(reply->message);
        }
        free(reply);
        reply = next;
    }
}

static void net_greet(server_net *net, server_viewer *v)
{
    json_t *root = json_pack("{s:s,s:i,s:I,s:s,s:o,s:b}", "type", "hello", "protocol", 1, "viewer",
                             (json_int_t)v->id, "pliant", pl_version(), "gallery",
                             server_gallery_json(net->options->gallery), "robot", net->path != NULL);
    if (root && net->options->log) {
        const char *slash = strrchr(net->options->log, '/');
        json_object_set_new(root, "log", server_text(slash ? slash + 1 : net->options->log));
    }

    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    server_write_reply(net->queue, v->id, text ? server_pack_text(text) : NULL);
    free(text);
}

static int net_enter(server_net *net, struct lws *socket, server_viewer **slot)
{
    server_viewer *v = net->viewer_count < SERVER_VIEWERS ? calloc(1, sizeof *v) : NULL;
    if (!v) {
        return -1;
    }
    v->socket = socket;
    v->id = ++net->last_id;
    server_viewer **end = &net->viewer;
    while (*end) {
        end = &(*end)->next;
    }
    *end = v;
    *slot = v;
    ++net->viewer_count;
    if (net->owner == 0) {
        net->owner = v->id;
    }
    net_greet(net, v);
    net_publish_control(net);

    return 0;
}

static void net_leave(server_net *net, server_viewer *v)
{
    server_viewer **at = &net->viewer;
    while (*at && *at != v) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = v->next;
        --net->viewer_count;
    }

    if (net->asking == v->id) {
        net->asking = 0;
    }
    if (net->owner == v->id) {
        net->owner = net->asking ? net->asking : net->viewer ? net->viewer->id : 0;
        net->asking = 0;
    }

    net_forget_replies(net, v);
    free(v->received);
    free(v);
    if (!net->stopping) {
        net_publish_control(net);
    }
}

// ---- sending
static bool net_send(server_viewer *v, const server_message *m)
{
    const enum lws_write_protocol how = m->text ? LWS_WRITE_TEXT : LWS_WRITE_BINARY;
    return lws_write(v->socket, m->payload, m->bytes, how) >= (int)m->bytes;
}

// The next thing this viewer has not seen: replies first, then the channels in order.
static server_message *net_next(server_net *net, server_viewer *v)
{
    if (v->reply_count > 0) {
        server_message *m = v->reply[v->reply_first];
        v->reply_first = (v->reply_first + 1) % SERVER_REPLIES;
        --v->reply_count;
        v->reply_bytes -= m->bytes;
        net->reply_bytes -= m->bytes;
        return m;
    }

    server_message *found = NULL;
    pthread_mutex_lock(&net->queue->lock);
    for (int c = 0; c < SERVER_CHANNEL_COUNT && !found; ++c) {
        if (v->sent[c] != net->queue->version[c]) {
            v->sent[c] = net->queue->version[c];
            found = net->queue->channel[c];
            if (found) {
                ++found->references;
            }
        }
    }

    pthread_mutex_unlock(&net->queue->lock);

    return found;
}

static int net_write(server_net *net, server_viewer *v)
{
    server_message *m = net_next(net, v);
    if (!m) {
        return 0;
    }

    const bool good = net_send(v, m);
    net_release(net, m);
    if (good) {
        lws_callback_on_writable(v->socket);
    }

    return good ? 0 : -1;
}

// ---- receiving
static int net_receive(server_net *net, server_viewer *v, const char *data, size_t bytes)
{
    if (lws_frame_is_binary(v->socket) || v->received_bytes + bytes > SERVER_RECEIVE) {
        static unsigned char reason[] = "too large, or not text";
        lws_close_reason(v->socket, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, reason, sizeof reason - 1);
        return -1;
    }

    char *grown = realloc(v->received, v->received_bytes + bytes + 1);
    if (!grown) {
        return -1;
    }
    v->received = grown;
    if (bytes > 0) {
        memcpy(grown + v->received_bytes, data, bytes);
    }
    v->received_bytes += bytes;
    if (lws_is_final_fragment(v->socket) && lws_remaining_packet_payload(v->socket) == 0) {
        net_hear(net, v, v->received, v->received_bytes);
        free(v->received);
        v->received = NULL;
        v->received_bytes = 0;
    }

    return 0;
}

// ---- entering
static void net_header(struct lws *socket, enum lws_token_indexes token, char *out, int room)
{
    if (lws_hdr_copy(socket, out, room, token) < 0) {
        out[0] = 0;
    }
}

static int net_filter(server_net *net, struct lws *socket)
{
    char host[300] = "", origin[300] = "", token[300] = "";
    net_header(socket, WSI_TOKEN_HOST, host, sizeof host);
    if (lws_hdr_total_length(socket, WSI_TOKEN_ORIGIN) > 0) {
        net_header(socket, WSI_TOKEN_ORIGIN, origin, sizeof origin);
        if (!origin[0]) {
            return -1; // too long to be ours
        }
    }

    const char *given = lws_get_urlarg_by_name(socket, "token=", token, sizeof token);
    return net_may_enter(net->options, host, origin, given ? given : "") ? 0 : -1;
}

static int net_protocol(struct lws *socket, enum lws_callback_reasons reason, void *user, void *in,
                        size_t bytes)
{
    server_net *net = lws_context_user(lws_get_context(socket));
    server_viewer **slot = user;

    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return net_filter(net, socket);
    case LWS_CALLBACK_ESTABLISHED:
        *slot = NULL;
        return net_enter(net, socket, slot);
    case LWS_CALLBACK_RECEIVE:
        return *slot ? net_receive(net, *slot, in, bytes) : -1;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return *slot ? net_write(net, *slot) : -1;
    case LWS_CALLBACK_CLOSED:
        if (*slot) {
            net_leave(net, *slot);
            *slot = NULL;
        }
        return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        net_sort_replies(net);
        net_want_write_all(net);
        return 0;
    default:
        return 0;
    }
}

// ---- the page
static int net_serve(server_net *net, struct lws *socket, const char *address)
{
    const char *type = NULL;
    const bool get = lws_hdr_total_length(socket, WSI_TOKEN_GET_URI) > 0;
    char *path = get ? net_file_of(net->options, address, &type) : NULL;
    const bool there = path && access(path, R_OK) == 0;
    int sent;

    if (there) {
        sent = lws_serve_http_file(socket, path, type, NULL, 0);
    } else {
        sent = lws_return_http_status(socket, get ? HTTP_STATUS_NOT_FOUND : HTTP_STATUS_METHOD_NOT_ALLOWED,
                                      NULL);
        sent = sent == 0 ? 1 : sent;
    }

    free(path);

    return sent < 0 || (sent > 0 && lws_http_transaction_completed(socket)) ? -1 : 0;
}

static int net_http(struct lws *socket, enum lws_callback_reasons reason, void *user, void *in, size_t bytes)
{
    server_net *net = lws_context_user(lws_get_context(socket));
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return net_serve(net, socket, in);
    case LWS_CALLBACK_HTTP_FILE_COMPLETION:
        return lws_http_transaction_completed(socket) ? -1 : 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return -1; // a WebSocket that does not ask for our protocol
    default:
        return lws_callback_http_dummy(socket, reason, user, in, bytes);
    }
}

// ---- the clock
void net_open(server_net *net, const char *path)
{
    char *copy = malloc(strlen(path) + 1);
    if (!copy) {
        return;
    }
    strcpy(copy, path);
    free(net->path);
    net->path = copy;
    net->stamp = server_files_stamp(path);
    server_request_load(net->queue, path);
}

// Opens the robot again when its files changed and then stayed the same for one look: editors write in steps.
static void net_look(server_net *net)
{
    if (!net->path || server_now() - net->looked < NET_LOOK) {
        return;
    }
    net->looked = server_now();
    const uint64_t stamp = server_files_stamp(net->path);
    if (stamp != net->stamp) {
        net->stamp = stamp;
        server_request_load(net->queue, net->path);
    }
}

// A sign of life for every viewer, and of the worker: seconds since its own last one.
static void net_beat(server_net *net)
{
    server_queue *queue = net->queue;
    if (net->viewer_count == 0 || server_now() - net->beaten < NET_BEAT) {
        return;
    }
    net->beaten = server_now();
    const bool busy = atomic_load(&queue->busy);
    const double age = busy ? server_now() - atomic_load(&queue->alive) : 0;
    server_publish_json(queue, SERVER_TICK,
                        json_pack("{s:s,s:b,s:f}", "type", "tick", "busy", busy, "age", age));
}

typedef struct net_clock {
    lws_sorted_usec_list_t list; // first, so that the callback finds the rest
    server_net *net;
} net_clock;

static void net_tick(lws_sorted_usec_list_t *list)
{
    server_net *net = ((net_clock *)list)->net;
    net_look(net);
    net_beat(net);
    if (net->asking && server_now() - net->asked > NET_ASK_PATIENCE) {
        net_hand_over(net, net->asking);
    }

    const server_options *o = net->options;
    net->seen = net->viewer_count > 0 ? server_now() : net->seen;
    if ((o->stop && o->stop(o->user)) || (o->idle > 0 && server_now() - net->seen > o->idle)) {
        net->stopping = true;
        lws_cancel_service(net->context);
    }

    lws_sul_schedule(net->context, 0, list, net_tick, NET_TICK);
}

// ---- all of it
// The page may load its own files only.
static const struct lws_protocol_vhost_options net_headers[] = {
    {&net_headers[1], NULL, "x-content-type-options:", "nosniff"},
    {&net_headers[2], NULL, "referrer-policy:", "no-referrer"},
    {&net_headers[3], NULL, "x-frame-options:", "DENY"},
    {NULL, NULL, "content-security-policy:",
     "default-src 'none'; script-src 'self' '" NET_IMPORT_MAP_HASH "'; style-src 'self' 'unsafe-inline'; "
     "img-src 'self' data: blob:; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'"},
};

static const struct lws_protocols net_protocols[] = {
    {"http", net_http, 0, 0, 0, NULL, 0},
    {"pliant", net_protocol, sizeof(server_viewer *), 16384, 0, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0},
};

// viewers that fell silent are asked, and hung up on when they do not answer
static const lws_retry_bo_t net_patience = {.secs_since_valid_ping = 30, .secs_since_valid_hangup = 45};

static bool net_is_any(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

#define NET_OWN_FILES 32 // descriptors that files, pipes and the mesher may need at a time
#define NET_CONNECTIONS 512

// How many connections there may be: at this number listening pauses. Beyond the limit of descriptors it
// would not pause but fail again and again, at full speed.
static unsigned net_connections(void)
{
    struct rlimit limit;
    long most = NET_CONNECTIONS, open = 0;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return (unsigned)most;
    }
    limit.rlim_cur = limit.rlim_max; // as many as the system allows
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    for (int fd = 0; fd < 256; ++fd) {
        open += fcntl(fd, F_GETFD) >= 0;
    }
    if (limit.rlim_cur != RLIM_INFINITY && (long)limit.rlim_cur - open - NET_OWN_FILES < most) {
        most = (long)limit.rlim_cur - open - NET_OWN_FILES;
    }

    return most < 8 ? 8 : (unsigned)most;
}

static struct lws_context *net_listen(server_net *net)
{
    const server_options *o = net->options;
    struct lws_context_creation_info info = {0};

    info.port = o->port;
    info.iface = net_is_any(o->host) ? NULL : o->host;
    info.protocols = net_protocols;
    info.headers = net_headers;
    info.user = net;
    info.server_string = "pliant";
    info.pt_serv_buf_size = 65536;
    info.timeout_secs = 10;
    info.fd_limit_per_thread = net_connections();
    info.retry_and_idle_policy = &net_patience;
    info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   (strchr(o->host, ':') ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6);
    info.vhost_name = "pliant";
    lws_set_log_level(0, NULL);

    return lws_create_context(&info);
}

static void net_announce(server_net *net)
{
    const server_options *o = net->options;
    char address[800], name[200] = "";

    // an address that means all of them leads others nowhere: they know the machine by its name
    if (net_is_any(o->host) && gethostname(name, sizeof name - 1) != 0) {
        name[0] = 0;
    }

    const char *host = name[0] ? name : o->host;
    const int port = lws_get_vhost_listen_port(lws_get_vhost_by_name(net->context, "pliant"));
    const bool six = strchr(host, ':') != NULL;
    snprintf(address, sizeof address, "http://%s%.200s%s:%d/%s%.300s", six ? "[" : "", host, six ? "]" : "",
             port, o->token ? "?token=" : "", o->token ? o->token : "");
    if (o->ready) {
        o->ready(o->user, address);
    }
}

static pl_status net_run(server_net *net, pl_error *err)
{
    server_worker *worker = NULL;
    server_warmer *warmer = NULL;

    net->context = net_listen(net);
    if (!net->context) {
        return server_fail(
            err, PL_BAD_FILE,
            "cannot listen on %s port %d: the port may be in use; --port 0 selects a free port",
            net->options->host, net->options->port);
    }

    net->queue->wake = net_wake;
    net->queue->wake_user = net;
    pl_status status = server_worker_start(net->queue, net->options, &worker, err);
    if (status == PL_OK) {
        net_clock clock = {.net = net};
        if (net->options->robot) {
            net_open(net, net->options->robot);
        }
        warmer = server_warmer_start(net->queue, net->options);
        net_announce(net);
        lws_sul_schedule(net->context, 0, &clock.list, net_tick, NET_TICK);
        while (!net->stopping && lws_service(net->context, 0) >= 0) {
        }
        lws_sul_schedule(net->context, 0, &clock.list, net_tick, LWS_SET_TIMER_USEC_CANCEL);
    }

    net->stopping = true;
    server_warmer_stop(warmer);
    server_worker_stop(worker);
    lws_context_destroy(net->context);

    return status;
}

pl_status server_run(const server_options *options, pl_error *err)
{
    server_queue queue;
    if (!server_queue_init(&queue)) {
        return server_fail(err, PL_FAILED, "no lock for the queue can be made");
    }

    server_net net = {.options = options,
                      .queue = &queue,
                      .last_id = (uint32_t)(time(NULL) % 100000) * 10000,
                      .seen = server_now()};
    pl_status status = options->gallery ? server_gallery_write(options->gallery, err) : PL_OK;
    if (status == PL_OK) {
        status = net_run(&net, err);
    }
    free(net.path);
    server_queue_clear(&queue);

    return status;
}
