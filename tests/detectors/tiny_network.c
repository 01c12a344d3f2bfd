// tiny_network.c - ONNX's protobuf, by hand: mean of the picture -> 1 × 1 convolution, whose biases are most of the
// output -> the form's shape.
#include "detectors/tiny_network.h"

#include "pons/buf.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void varint(pons_buf *b, uint64_t v)
{
    do {
        const char byte = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        pons_buf_byte(b, (uint8_t)byte);
        v >>= 7;
    } while (v);
}

static void number(pons_buf *b, int field, uint64_t v)
{
    varint(b, (uint64_t)field << 3);
    varint(b, v);
}

static void bytes(pons_buf *b, int field, const void *data, size_t n)
{
    varint(b, (uint64_t)field << 3 | 2);
    varint(b, n);
    pons_buf_bytes(b, data, n);
}

static void text(pons_buf *b, int field, const char *t)
{
    bytes(b, field, t, strlen(t));
}

static void inside(pons_buf *b, int field, pons_buf *part)
{
    bytes(b, field, part->data, part->len);
    pons_buf_fini(part);
    *part = (pons_buf)PONS_BUF_INIT;
}

static void node(pons_buf *graph, const char *op, const char *const in[3], const char *out)
{
    pons_buf n = PONS_BUF_INIT;
    for (int i = 0; i < 3 && in[i]; i++) {
        text(&n, 1, in[i]);
    }
    text(&n, 2, out);
    text(&n, 3, out);
    text(&n, 4, op);
    if (strcmp(op, "Conv") == 0) {
        pons_buf size = PONS_BUF_INIT;
        text(&size, 1, "kernel_shape");
        number(&size, 8, 1);
        number(&size, 8, 1);
        number(&size, 20, 7); // integers
        inside(&n, 5, &size);
    }
    inside(graph, 1, &n);
}

static void tensor(pons_buf *graph, const char *name, const int64_t *dims, int n_dims, int type,
                   const void *data, size_t n)
{
    pons_buf t = PONS_BUF_INIT;
    for (int i = 0; i < n_dims; i++) {
        number(&t, 1, (uint64_t)dims[i]);
    }
    number(&t, 2, (uint64_t)type);
    text(&t, 8, name);
    bytes(&t, 9, data, n);
    inside(graph, 5, &t);
}

static void value(pons_buf *graph, int field, const char *name, const int64_t *dims, int n_dims)
{
    pons_buf shape = PONS_BUF_INIT, dim = PONS_BUF_INIT, of = PONS_BUF_INIT, type = PONS_BUF_INIT,
             v = PONS_BUF_INIT;
    for (int i = 0; i < n_dims; i++) {
        number(&dim, 1, (uint64_t)dims[i]);
        inside(&shape, 1, &dim);
    }
    number(&of, 1, 1); // float
    inside(&of, 2, &shape);
    inside(&type, 1, &of);
    text(&v, 1, name);
    inside(&v, 2, &type);
    inside(graph, field, &v);
}

enum { CELLS_MAX = 22, COLUMNS_MAX = 34 };

typedef struct table { // what the network says: bias + weight · mean of the channels
    int cells, columns;
    bool across;
    float bias[CELLS_MAX][COLUMNS_MAX], weight[CELLS_MAX][COLUMNS_MAX][3];
} table;

// The sureness of the labels, in these columns, times `share`.
static void labels(table *t, int cell, int column, const char *form, float share)
{
    const bool rgb = strcmp(form, "yolov8") == 0, spread = strcmp(form, "nanodet") == 0;
    // What a channel is where the picture has none and all of a colour; the network gets BGR but for yolov8.
    const float none[2] = {spread ? -123.675f / 58.395f : 0, spread ? -103.53f / 57.375f : 0};
    const float all[2] = {spread ? (255 - 123.675f) / 58.395f
                          : rgb  ? 1
                                 : 255,
                          spread ? (255 - 103.53f) / 57.375f
                          : rgb  ? 1
                                 : 255};
    for (int i = 0; i < 2; i++) { // red, blue
        const float w = share / (all[i] - none[i]);
        t->weight[cell][column + i][(i == 0) == rgb ? 0 : 2] = w;
        t->bias[cell][column + i] = -w * none[i];
    }
}

static void fill(table *t, const char *form)
{
    *t = (table){.cells = 21, .columns = 7};
    const int cells[2] = {9, 10}; // of stride 8 at 1, 2 and 2, 2
    if (strcmp(form, "nanodet") == 0) {
        t->cells = 22;
        t->columns = 34;
        for (int i = 0; i < 2; i++) { // from 8, 16 and 16, 16: left, top, right, bottom, in 4 px
            static const int reach[2][4] = {{1, 0, 3, 2}, {3, 0, 1, 2}};
            for (int side = 0; side < 4; side++) {
                float *bins = &t->bias[cells[i]][2 + 8 * side];
                bins[reach[i][side] / 2] = bins[(reach[i][side] + 1) / 2] = 50;
            }
            labels(t, cells[i], 0, form, i ? 0.5f : 1);
        }
        return;
    }
    if (strcmp(form, "yolov8") == 0) {
        t->columns = 6;
        t->across = true;
    }
    for (int i = 0; i < 2; i++) { // the middle of 12, 20
        const float grid[5] = {0.5f - (float)i, 0.5f, logf(2), 0, 1}, plain[4] = {12, 20, 16, 8};
        memcpy(t->bias[cells[i]], t->across ? plain : grid, t->across ? sizeof plain : sizeof grid);
        labels(t, cells[i], t->columns - 2, form, i ? 0.5f : 1);
    }
}

void tiny_network_write(const char *path, const char *form)
{
    static table t;
    static float bias[CELLS_MAX * COLUMNS_MAX], weight[CELLS_MAX * COLUMNS_MAX * 3];
    pons_buf graph = PONS_BUF_INIT, opset = PONS_BUF_INIT, model = PONS_BUF_INIT;
    fill(&t, form);
    const int64_t n = t.cells * t.columns;
    for (int cell = 0; cell < t.cells; cell++) {
        for (int c = 0; c < t.columns; c++) {
            const int at = t.across ? c * t.cells + cell : cell * t.columns + c;
            bias[at] = t.bias[cell][c];
            memcpy(&weight[3 * at], t.weight[cell][c], 3 * sizeof(float));
        }
    }
    const int64_t in[] = {1, 3, 32, 32},
                  shape[] = {1, t.across ? t.columns : t.cells, t.across ? t.cells : t.columns};
    const int64_t weight_dims[] = {n, 3, 1, 1}, three[] = {3};
    node(&graph, "GlobalAveragePool", (const char *const[]){"in", NULL, NULL}, "mean");
    node(&graph, "Conv", (const char *const[]){"mean", "weight", "bias"}, "said");
    node(&graph, "Reshape", (const char *const[]){"said", "shape", NULL}, "out");
    text(&graph, 2, "tiny");
    tensor(&graph, "weight", weight_dims, 4, 1, weight, (size_t)n * 3 * sizeof(float));
    tensor(&graph, "bias", &n, 1, 1, bias, (size_t)n * sizeof(float));
    tensor(&graph, "shape", three, 1, 7, shape, sizeof shape);
    value(&graph, 11, "in", in, 4);
    value(&graph, 12, "out", shape, 3);
    number(&opset, 2, 11);
    number(&model, 1, 6);
    inside(&model, 7, &graph);
    inside(&model, 8, &opset);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(model.data, 1, model.len, f), model.len);
    assert_int_equal(fclose(f), 0);
    pons_buf_fini(&model);
}
