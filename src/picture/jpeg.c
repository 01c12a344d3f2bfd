// jpeg.c - JPEG pictures by libjpeg.
//
// libjpeg's own handler ends the process on bad data and only warns of a picture that is cut short. Here both leave by
// longjmp with libjpeg's words; all that must be freed is in `job`, which outlives the jump. A picture of many scans
// costs the time of one for each, so they are counted.
#include "picture/scaled_rows.h"

#ifdef PONS_JPEG
#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { RGB = 3, SCANS_MAX = 64, SHRINKS = 8, HEADERS = 4096 };

typedef struct job {
    struct jpeg_error_mgr on_error; // the first: libjpeg's `err` is a job
    struct jpeg_progress_mgr progress;
    struct jpeg_decompress_struct in;
    struct jpeg_compress_struct out;
    jmp_buf jump;
    char why[JMSG_LENGTH_MAX];
    uint8_t *row;
    unsigned char *bytes; // of a JPEG that is made
    unsigned long n;
    bool full; // they do not fit
    int rc;    // of the jump
} job;

static void leave(j_common_ptr c)
{
    job *j = (job *)c->err;
    j->on_error.format_message(c, j->why);
    j->rc = c->err->msg_code == JERR_OUT_OF_MEMORY ? PONS_ENOMEM : PONS_EINVAL;
    longjmp(j->jump, 1);
}

// Bytes between two parts are harmless: some cameras send them.
static void on_message(j_common_ptr c, int level)
{
    if (level < 0 && c->err->msg_code != JWRN_EXTRANEOUS_DATA) {
        leave(c);
    }
}

static void count_scans(j_common_ptr c)
{
    job *j = (job *)c->err;
    if (j->in.input_scan_number > SCANS_MAX) {
        snprintf(j->why, sizeof j->why, "it has more than %d scans", SCANS_MAX);
        j->rc = PONS_EINVAL;
        longjmp(j->jump, 1);
    }
}

static job *begin(void)
{
    job *j = calloc(1, sizeof *j);
    if (!j) {
        return NULL;
    }
    j->in.err = j->out.err = jpeg_std_error(&j->on_error);
    j->on_error.error_exit = leave;
    j->on_error.emit_message = on_message;
    j->progress.progress_monitor = count_scans;
    return j;
}

static void end(job *j)
{
    if (!j) {
        return;
    }
    jpeg_destroy_decompress(&j->in);
    jpeg_destroy_compress(&j->out);
    free(j->row);
    free(j->bytes);
    free(j);
}

// The least of 1/8 … 8/8 that leaves an edge of edge_max, for the averages to begin with.
static void shrink(struct jpeg_decompress_struct *in, int edge_max)
{
    const JDIMENSION longer =
        in->image_width > in->image_height ? in->image_width : in->image_height;
    in->scale_denom = SHRINKS;
    in->scale_num = 1;
    while (edge_max > 0 && in->scale_num < SHRINKS &&
           (uint64_t)longer * in->scale_num < (uint64_t)edge_max * SHRINKS) {
        in->scale_num++;
    }
    in->scale_num = edge_max > 0 ? in->scale_num : SHRINKS;
}

// Leaves by longjmp.
static int decode(job *j, const void *bytes, size_t n, pons__scaled_rows *r, pons_error *err)
{
    jpeg_create_decompress(&j->in);
    j->in.progress = &j->progress;
    jpeg_mem_src(&j->in, bytes, n);
    jpeg_read_header(&j->in, TRUE);
    int rc = pons__scaled_rows_allowed(j->in.image_width, j->in.image_height,
                                       jpeg_has_multiple_scans(&j->in), err);
    if (rc < 0) {
        return rc;
    }
    j->in.out_color_space = JCS_RGB;
    shrink(&j->in, r->edge_max);
    jpeg_start_decompress(&j->in);
    rc = pons__scaled_rows_begin(r, (int)j->in.output_width, (int)j->in.output_height, err);
    j->row = malloc((size_t)j->in.output_width * RGB);
    if (rc < 0 || !j->row) {
        return rc < 0 ? rc
                      : pons_error_set(err, PONS_ENOMEM, PONS__PICTURE, "no memory for a picture");
    }
    while (j->in.output_scanline < j->in.output_height) {
        jpeg_read_scanlines(&j->in, &j->row, 1);
        pons__scaled_rows_add(r, j->row);
    }
    jpeg_finish_decompress(&j->in);
    return PONS_OK;
}

int pons__jpeg_rows(const void *bytes, size_t n, pons__scaled_rows *r, pons_error *err)
{
    job *j = begin();
    if (!j) {
        return pons_error_set(err, PONS_ENOMEM, PONS__PICTURE, "no memory for a picture");
    }
    r->orientation = pons__jpeg_orientation(bytes, n);
    const int rc = setjmp(j->jump) == 0 ? decode(j, bytes, n, r, err)
                                        : pons_error_set(err, j->rc, PONS__PICTURE,
                                                         "the JPEG is damaged: %s", j->why);
    end(j);
    return rc;
}

// j->bytes has no more room.
static boolean too_small(j_compress_ptr c)
{
    job *j = (job *)c->err;
    j->full = true;
    longjmp(j->jump, 1);
}

// Leaves by longjmp. `room` bytes at most, into j->bytes; j->n is how many.
static void encode(job *j, const pons_picture_raw *p, int quality, size_t room)
{
    struct jpeg_compress_struct *out = &j->out;
    j->n = room;
    jpeg_create_compress(out);
    jpeg_mem_dest(out, &j->bytes, &j->n);
    out->dest->empty_output_buffer = too_small;
    out->image_width = (JDIMENSION)p->width;
    out->image_height = (JDIMENSION)p->height;
    out->input_components = RGB;
    out->in_color_space = JCS_RGB;
    jpeg_set_defaults(out);
    jpeg_set_quality(out, quality, TRUE);
    jpeg_start_compress(out, TRUE);
    while (out->next_scanline < out->image_height) {
        JSAMPROW row = p->rgb + (size_t)out->next_scanline * (size_t)p->width * RGB;
        jpeg_write_scanlines(out, &row, 1);
    }
    jpeg_finish_compress(out);
}

static int try_quality(job *j, const pons_picture_raw *p, int quality, size_t room, pons_error *err)
{
    j->full = false;
    if (setjmp(j->jump) == 0) {
        encode(j, p, quality, room);
        return PONS_OK;
    }
    return j->full ? pons_error_set(err, PONS_EINVAL, PONS__PICTURE,
                                    "a picture of %d × %d does not fit into %zu bytes", p->width,
                                    p->height, room)
                   : pons_error_set(err, j->rc, PONS__PICTURE, "no JPEG can be made: %s", j->why);
}

int pons_picture_jpeg(const pons_picture_raw *p, size_t max_bytes, void **ret, size_t *ret_n,
                      pons_error *err)
{
    static const int qualities[] = {90, 80, 65, 50, 35, 20, 10, 0};
    const size_t room =
        max_bytes > 0 ? max_bytes : (size_t)p->width * (size_t)p->height * RGB + HEADERS;
    job *j = begin();
    int rc = PONS_EINVAL;
    if (!j || !(j->bytes = malloc(room))) {
        end(j);
        return pons_error_set(err, PONS_ENOMEM, PONS__PICTURE, "no memory for a picture");
    }
    j->full = true;
    for (int i = 0; rc < 0 && j->full && qualities[i] > 0; i++) {
        rc = try_quality(j, p, qualities[i], room, err);
        jpeg_destroy_compress(&j->out);
    }
    if (rc == PONS_OK) {
        *ret = j->bytes;
        *ret_n = j->n;
        j->bytes = NULL;
    }
    end(j);
    return rc;
}
#else
static int without(pons_error *err)
{
    return pons_error_set(err, PONS_EENV, PONS__PICTURE,
                          "no JPEG: built without libjpeg (libjpeg62-turbo-dev)");
}

int pons__jpeg_rows(const void *bytes, size_t n, pons__scaled_rows *r, pons_error *err)
{
    return without(err);
}

int pons_picture_jpeg(const pons_picture_raw *p, size_t max_bytes, void **ret, size_t *ret_n,
                      pons_error *err)
{
    return without(err);
}
#endif
