// ONNX files: the protocol buffer of a network, written field by field (onnx.proto3, IR version 8, opset 13).
// Inputs and outputs are scaled inside the graph, so that a user feeds commands and reads mm:
//   y = out_mid + out_width (Gemm(... tanh(Gemm((x - in_mid) / in_width))) + S (x - in_mid) / in_width)
#include <stdio.h>
#include "base/base.h"
#include "pliant/dataset.h"
#include "learn/learn.h"

// ---- protocol buffers: a field is its number and wire type, then a number or a length and bytes
// A varint: seven bits per byte, lowest first; the high bit says that more follow.
static void pb_number(pl_text *t, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        pl_text_add_bytes(t, &byte, 1);
        value >>= 7;
    } while (value);
}

// A field with a number (wire type 0).
static void pb_whole(pl_text *t, int field, uint64_t value)
{
    pb_number(t, (uint64_t)field << 3);
    pb_number(t, value);
}

// A field with bytes (wire type 2).
static void pb_bytes(pl_text *t, int field, const void *data, size_t bytes)
{
    pb_number(t, (uint64_t)field << 3 | 2);
    pb_number(t, bytes);
    if (bytes) {
        pl_text_add_bytes(t, data, bytes);
    }
}

static void pb_text(pl_text *t, int field, const char *text)
{
    pb_bytes(t, field, text, strlen(text));
}

// A nested message; it is emptied, and its failure becomes that of the outer one.
static void pb_message(pl_text *t, int field, pl_text *message)
{
    pb_bytes(t, field, message->data, message->length);
    t->failed = t->failed || message->failed;
    pl_text_clear(message);
}

// Little-endian on every machine.
static void pb_doubles(pl_text *raw, const double *value, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        uint64_t bits;
        uint8_t bytes[8];
        memcpy(&bits, &value[i], sizeof bits);
        for (int b = 0; b < 8; ++b) {
            bytes[b] = (uint8_t)(bits >> (8 * b));
        }
        pl_text_add_bytes(raw, bytes, sizeof bytes);
    }
}

// TensorProto: dims 1, data_type 2 (11: double), name 8, raw_data 9 (little-endian)
// `one`: 1 x rows x columns; columns 0: there are none.
static void onnx_tensor_of(pl_text *graph, const char *name, const double *value, bool one, int rows,
                           int columns)
{
    pl_text t = {0}, raw = {0};
    if (one) {
        // dimensions
        pb_whole(&t, 1, 1);
    }

    pb_whole(&t, 1, (uint64_t)rows);
    if (columns > 0) {
        pb_whole(&t, 1, (uint64_t)columns);
    }
    pb_whole(&t, 2, 11);

    // name and data
    pb_text(&t, 8, name);
    pb_doubles(&raw, value, (int64_t)rows * (columns > 0 ? columns : 1));
    pb_bytes(&t, 9, raw.data, raw.length);
    t.failed = t.failed || raw.failed;
    pl_text_clear(&raw);
    pb_message(graph, 5, &t);
}

// A matrix, or with columns 0 a vector.
static void onnx_tensor(pl_text *graph, const char *name, const double *value, int rows, int columns)
{
    onnx_tensor_of(graph, name, value, false, rows, columns);
}

// NodeProto: input 1, output 2, name 3, op_type 4, attribute 5 (AttributeProto: name 1, i 3, type 20 (2:
// int))
static void onnx_number(pl_text *graph, const char *op, const char *const *input, int inputs,
                        const char *output, const char *attribute, int value)
{
    pl_text t = {0};

    // inputs and output; a node has the name of its output
    for (int i = 0; i < inputs; ++i) {
        pb_text(&t, 1, input[i]);
    }
    pb_text(&t, 2, output);
    pb_text(&t, 3, output);
    pb_text(&t, 4, op);

    if (attribute) {
        pl_text a = {0};
        pb_text(&a, 1, attribute);
        pb_whole(&a, 3, (uint64_t)value);
        pb_whole(&a, 20, 2);
        pb_message(&t, 5, &a);
    }

    pb_message(graph, 1, &t);
}

// A node whose attribute, if it has one, is the number 1.
static void onnx_operation(pl_text *graph, const char *op, const char *const *input, int inputs,
                           const char *output, const char *attribute)
{
    onnx_number(graph, op, input, inputs, output, attribute, 1);
}

// transposed: the second factor of Gemm is a row-major matrix of outputs x inputs.
static void onnx_node(pl_text *graph, const char *op, const char *const *input, int inputs,
                      const char *output, bool transposed)
{
    onnx_operation(graph, op, input, inputs, output, transposed ? "transB" : NULL);
}

// Columns side by side.
static void onnx_join(pl_text *graph, const char *a, const char *b, const char *output)
{
    onnx_operation(graph, "Concat", (const char *const[]){a, b}, 2, output, "axis");
}

// ValueInfoProto: name 1, type 2: TypeProto: tensor_type 1: elem_type 1, shape 2: dim 1: dim_value 1 or
// dim_param 2. The number of rows is the parameter n: any batch is accepted.
static void onnx_value(pl_text *graph, int field, const char *name, int columns)
{
    // messages from the inside out
    pl_text rows = {0}, width = {0}, shape = {0}, tensor = {0}, type = {0}, t = {0};
    pb_text(&rows, 2, "n");
    pb_whole(&width, 1, (uint64_t)columns);
    pb_message(&shape, 1, &rows);
    pb_message(&shape, 1, &width);
    pb_whole(&tensor, 1, 11);
    pb_message(&tensor, 2, &shape);
    pb_message(&type, 1, &tensor);
    pb_text(&t, 1, name);
    pb_message(&t, 2, &type);
    pb_message(graph, field, &t);
}

// silu(z) = z sigmoid(z) has no operation of its own in opset 13.
static void onnx_activation(pl_text *graph, pl_activation f, const char *from, const char *to)
{
    static const char *const op[PL_ACTIVATION_COUNT] = {"Tanh",    "Sigmoid", "Softplus",
                                                        "Sigmoid", "Sin",     "Identity"};
    const char *const one[1] = {from};

    if (f != PL_SILU) {
        onnx_node(graph, op[f], one, 1, to, false);
        return;
    }

    char gate[40];
    snprintf(gate, sizeof gate, "%s_gate", to);
    onnx_node(graph, "Sigmoid", one, 1, gate, false);
    const char *const two[2] = {from, gate};
    onnx_node(graph, "Mul", two, 2, to, false);
}

// Nodes and tensors in the order of the computation; weights are stored layer by layer, matrix
// then bias, the direct part S last.
static void onnx_graph(pl_text *graph, pl_network *n, const char *name)
{
    const pl_network_def d = pl_network_get_def(n);
    const pl_network_scale s = pl_network_get_scale(n);
    const double *w = pl_network_weights(n);

    // scaled inputs
    const int in = d.input_count, o = d.output_count;

    onnx_node(graph, "Sub", (const char *const[]){"x", "in_mid"}, 2, "x_centred", false);
    onnx_node(graph, "Div", (const char *const[]){"x_centred", "in_width"}, 2, "a0", false);

    // kinks: a0 is joined with |x| / in_width of those inputs, chosen by a matrix of 0 and 1 / in_width
    int kinks = 0;
    double *choice = d.kinks ? PL_NEW_ARRAY(double, 64 * (int64_t)in) : NULL;
    for (int i = 0; choice && i < in && i < 64; ++i) {
        if (d.kinks >> i & 1) {
            choice[kinks++ * in + i] = 1 / s.in_width[i];
        }
    }

    if (d.kinks) {
        graph->failed = graph->failed || !choice;
        onnx_tensor(graph, "kinked", choice, choice ? kinks : 0, in);
        onnx_node(graph, "Gemm", (const char *const[]){"x", "kinked"}, 2, "signed", true);
        onnx_node(graph, "Abs", (const char *const[]){"signed"}, 1, "sizes", false);
        onnx_join(graph, "a0", "sizes", "a0_all");
    }

    pl_free(choice);

    // layers: z = W a + b, a = f(z), the last one without f
    const char *inputs = d.kinks ? "a0_all" : "a0";
    char from[24];
    snprintf(from, sizeof from, "%s", inputs);

    for (int l = 0, m = in + kinks; l <= d.layer_count; ++l) {
        const int rows = l < d.layer_count ? d.width[l] : o;
        char W[24], b[24], z[24], a[24];
        snprintf(W, sizeof W, "W%d", l + 1);
        snprintf(b, sizeof b, "b%d", l + 1);
        snprintf(z, sizeof z, "z%d", l + 1);
        snprintf(a, sizeof a, "a%d", l + 1);
        onnx_node(graph, "Gemm", (const char *const[]){from, W, b}, 3, z, true);
        onnx_tensor(graph, W, w, rows, m);
        onnx_tensor(graph, b, w + (int64_t)rows * m, rows, 0);
        w += (int64_t)rows * (m + 1);
        m = rows;
        if (l < d.layer_count) {
            onnx_activation(graph, d.activation, z, a);
        }
        snprintf(from, sizeof from, "%s", l < d.layer_count ? a : z);
    }

    // direct part, and outputs in mm
    if (d.skip) {
        onnx_tensor(graph, "S", w, o, in + kinks);
        onnx_node(graph, "Gemm", (const char *const[]){inputs, "S"}, 2, "direct", true);
        onnx_node(graph, "Add", (const char *const[]){from, "direct"}, 2, "scaled", false);
    }

    onnx_node(graph, "Mul", (const char *const[]){d.skip ? "scaled" : from, "out_width"}, 2, "spread", false);
    onnx_node(graph, "Add", (const char *const[]){"spread", "out_mid"}, 2, "y", false);
    onnx_tensor(graph, "in_mid", s.in_mid, in, 0);
    onnx_tensor(graph, "in_width", s.in_width, in, 0);
    onnx_tensor(graph, "out_mid", s.out_mid, o, 0);
    onnx_tensor(graph, "out_width", s.out_width, o, 0);

    // name, input and output of the graph
    pb_text(graph, 2, name);
    onnx_value(graph, 11, "x", in);
    onnx_value(graph, 12, "y", o);
}

// The model around a graph; empties the graph.
static pl_status onnx_write(pl_text *graph, const char *path, pl_error *err)
{
    // ir_version 1, producer 2 and 3, graph 7, opset_import 8 (default domain, version 13)
    pl_text model = {0}, opset = {0};
    pb_whole(&model, 1, 8); // ir_version
    pb_text(&model, 2, "pliant");
    pb_text(&model, 3, pl_version());
    pb_message(&model, 7, graph);
    pb_text(&opset, 1, "");
    pb_whole(&opset, 2, 13);
    pb_message(&model, 8, &opset);
    const pl_status status =
        model.failed ? pl_fail_memory(err, path) : pl_file_write(path, model.data, model.length, err);
    pl_text_clear(&model);

    return status;
}

pl_status pl_network_write_onnx(const pl_network *network, const char *name, const char *path, pl_error *err)
{
    pl_text graph = {0};
    onnx_graph(&graph, (pl_network *)network, name); // read only
    return onnx_write(&graph, path, err);
}

// ---- recurrent networks: LSTM with gates in the order i, o, f, c; ours are i, f, o, g
// Axes of Squeeze and Unsqueeze: 64-bit whole numbers (data type 7).
static void onnx_axes(pl_text *graph, const char *name, const int *axis, int count)
{
    pl_text t = {0};
    uint8_t raw[32] = {0};

    pb_whole(&t, 1, (uint64_t)count);
    pb_whole(&t, 2, 7);
    pb_text(&t, 8, name);
    for (int i = 0; i < count; ++i) {
        raw[8 * i] = (uint8_t)axis[i];
    }
    pb_bytes(&t, 9, raw, 8 * (size_t)count);
    pb_message(graph, 5, &t);
}

// The weights of an LSTM have a first dimension, its directions: one here.
static void onnx_direction(pl_text *graph, const char *name, const double *value, int rows, int columns)
{
    onnx_tensor_of(graph, name, value, true, rows, columns);
}

// Rows sorted from our order of the gates to that of ONNX; W, R and B lie in one block.
static void onnx_lstm_weights(pl_text *graph, pl_lstm *m)
{
    static const int from[4] = {0, 2, 1, 3};
    const pl_lstm_def d = pl_lstm_get_def(m);
    const int in = d.input_count, H = d.cell_count, width = in + H + 1;
    double *W = PL_NEW_ARRAY(double, 4 * (int64_t)H * (in + H + 2)), *R = W + 4 * H * in,
           *B = R + 4 * (int64_t)H * H;

    graph->failed = graph->failed || !W;
    for (int r = 0; W && r < 4 * H; ++r) {
        const double *row = pl_lstm_weights(m) + (int64_t)(from[r / H] * H + r % H) * width;
        memcpy(W + (int64_t)r * in, row, (size_t)in * sizeof *W);
        memcpy(R + (int64_t)r * H, row + in, (size_t)H * sizeof *R);
        B[r] = row[in + H]; // the second half, of the recurrence, stays 0
    }

    if (W) {
        onnx_direction(graph, "W", W, 4 * H, in);
        onnx_direction(graph, "R", R, 4 * H, H);
        onnx_direction(graph, "B", B, 8 * H, 0);
    }

    pl_free(W);
}

// A sequence is a batch of one: the rows of x are its steps.
pl_status pl_lstm_write_onnx(const pl_lstm *lstm, const char *name, const char *path, pl_error *err)
{
    pl_text graph = {0};
    pl_lstm *m = (pl_lstm *)lstm; // read only
    const pl_lstm_def d = pl_lstm_get_def(m);
    const pl_network_scale s = pl_lstm_get_scale(m);

    // read-out: y = V h + S u + d, behind the weights of the gates
    const int in = d.input_count, o = d.output_count, H = d.cell_count;
    const double *V = pl_lstm_weights(m) + 4 * (int64_t)H * (in + H + 1), *S = V + (int64_t)o * H,
                 *b = S + (int64_t)o * in;

    // scaled input, recurrence over the rows, read-out
    onnx_node(&graph, "Sub", (const char *const[]){"x", "in_mid"}, 2, "x_centred", false);
    onnx_node(&graph, "Div", (const char *const[]){"x_centred", "in_width"}, 2, "u", false);
    onnx_node(&graph, "Unsqueeze", (const char *const[]){"u", "one"}, 2, "u_sequence", false);
    onnx_number(&graph, "LSTM", (const char *const[]){"u_sequence", "W", "R", "B"}, 4, "h_sequence",
                "hidden_size", H);
    onnx_node(&graph, "Squeeze", (const char *const[]){"h_sequence", "middle"}, 2, "h", false);
    onnx_node(&graph, "Gemm", (const char *const[]){"h", "V", "d"}, 3, "of_memory", true);
    onnx_node(&graph, "Gemm", (const char *const[]){"u", "S"}, 2, "direct", true);
    onnx_node(&graph, "Add", (const char *const[]){"of_memory", "direct"}, 2, "scaled", false);
    onnx_node(&graph, "Mul", (const char *const[]){"scaled", "out_width"}, 2, "spread", false);
    onnx_node(&graph, "Add", (const char *const[]){"spread", "out_mid"}, 2, "y", false);

    // constants and weights
    onnx_axes(&graph, "one", (const int[]){1}, 1);
    onnx_axes(&graph, "middle", (const int[]){1, 2}, 2);
    onnx_lstm_weights(&graph, m);
    onnx_tensor(&graph, "V", V, o, H);
    onnx_tensor(&graph, "S", S, o, in);
    onnx_tensor(&graph, "d", b, o, 0);
    onnx_tensor(&graph, "in_mid", s.in_mid, in, 0);
    onnx_tensor(&graph, "in_width", s.in_width, in, 0);
    onnx_tensor(&graph, "out_mid", s.out_mid, o, 0);
    onnx_tensor(&graph, "out_width", s.out_width, o, 0);
    pb_text(&graph, 2, name);
    onnx_value(&graph, 11, "x", in);
    onnx_value(&graph, 12, "y", o);

    return onnx_write(&graph, path, err);
}
