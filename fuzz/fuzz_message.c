// Messages of viewers: what the server hears on a WebSocket, without the sockets. What it puts down on the
// queue is thrown away.
#include "fuzz.h"
#include "server_net.h"

static const server_options options = {
    .host = "127.0.0.1", .page = "/nowhere", .three = "/nowhere", .token = "secret"};

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > SERVER_RECEIVE) {
        return 0;
    }

    server_queue queue;
    if (!server_queue_init(&queue)) {
        return 0;
    }

    // two viewers; the first byte says who has the controls and who asked for them
    server_viewer second = {.id = 2}, first = {.id = 1, .next = &second};
    server_net net = {
        .options = &options, .queue = &queue, .viewer = &first, .viewer_count = 2, .last_id = 2};
    net.owner = data[0] % 3, net.asking = data[0] / 3 % 3;
    net_hear(&net, &first, (const char *)data + 1, size - 1);

    // the same bytes as an address and as the headers of a request
    char *text = fuzz_text(data + 1, size - 1);
    const char *type = NULL;
    free(net_file_of(&options, text, &type));
    (void)net_may_enter(&options, text, text, text);
    free(text);
    free(net.path);
    server_queue_clear(&queue);

    return 0;
}
