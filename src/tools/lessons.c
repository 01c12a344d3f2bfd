// lessons.c - search_lessons: entries of the workspace's LESSONS.md, the ones that fit best first.
//
// An entry is a heading of the second level and what stands below it, as the critic writes them:
//
//     ## 2025-04-01 12:00:05 — grasp failed: object beyond reach
//     - **cause**: …
//
// They are few and short, so they are read as they are: no index can be out of date.
#include "tools/lessons.h"

#include "pons/buf.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/core/text.h"
#include "tools/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME   "LESSONS.md"
#define FILE_BYTES  (4 * 1024 * 1024)
#define RESULTS     5
#define RESULTS_MAX 20
#define ENTRY_SHOWN 2000 // bytes

typedef struct lesson {
    const char *text; // of the whole entry
    size_t n, head_n;
    int line, score;
} lesson;

static int better(const void *a, const void *b)
{
    const lesson *x = a, *y = b;
    return x->score != y->score ? y->score - x->score : x->line - y->line; // newest stand first
}

static size_t split(const char *text, size_t n, const char *query, lesson **ret)
{
    size_t found = 0, cap = 0;
    int line = 1;
    lesson *list = NULL, *open = NULL;
    for (size_t i = 0; i < n;) {
        const char *nl = memchr(text + i, '\n', n - i);
        const size_t len = (nl ? (size_t)(nl - (text + i)) : n - i);
        if (len > 3 && memcmp(text + i, "## ", 3) == 0) {
            if (found == cap) {
                cap = cap ? 2 * cap : 32;
                lesson *grown = realloc(list, cap * sizeof *grown);
                if (!grown) {
                    break;
                }
                list = grown;
            }
            open = &list[found++];
            *open = (lesson){.text = text + i, .head_n = len, .line = line};
        } else if (len > 2 && memcmp(text + i, "# ", 2) == 0) {
            open = NULL;
        }
        i += len + (nl != NULL);
        line++;
        if (open) {
            open->n = (size_t)(text + i - open->text);
        }
    }
    for (size_t i = 0; i < found; i++) {
        lesson *l = &list[i];
        l->score =
            pons__tokens_score(query, l->text, l->head_n, l->text + l->head_n, l->n - l->head_n);
    }
    *ret = list;
    return found;
}

int pons__search_lessons(pons__work *w, pons_error *err)
{
    const char *query = pons_get_str(w->args, "query", "");
    int64_t most = pons_get_int(w->args, "results", RESULTS);
    most = most > RESULTS_MAX ? RESULTS_MAX : most;
    struct stat st;
    pons_error missing = PONS_ERROR_INIT;
    const int fd = pons__path_read(w->core, FILE_NAME, &st, &missing);
    if (fd == PONS_ENOTFOUND) {
        pons_buf_str(&w->out, "there is no " FILE_NAME " yet: nothing has gone wrong so far\n");
        w->data = pons_object("lessons", json_array(), NULL);
        return PONS_OK;
    }
    if (fd < 0) {
        *err = missing;
        return fd;
    }
    char *raw = malloc(FILE_BYTES);
    const ssize_t n = raw ? read(fd, raw, FILE_BYTES) : -1;
    close(fd);
    if (n < 0) {
        free(raw);
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read " FILE_NAME);
    }
    pons_autobuf text = PONS_BUF_INIT;
    pons__text_append(&text, raw, (size_t)n, NULL);
    free(raw);
    lesson *list = NULL;
    const size_t found = split(text.data ? text.data : "", text.len, query, &list);
    if (found > 0) {
        qsort(list, found, sizeof *list, better);
    }
    pons_value *rows = json_array();
    for (size_t i = 0; i < found && (int64_t)i < most && list[i].score > 0; i++) {
        const lesson *l = &list[i];
        const size_t shown = l->n > ENTRY_SHOWN ? pons__text_cut(l->text, ENTRY_SHOWN) : l->n;
        pons_buf_bytes(&w->out, l->text, shown);
        if (shown < l->n) {
            pons_buf_str(&w->out, "…\n");
            w->truncated = true;
        }
        json_array_append_new(rows, pons_object("heading", json_stringn(l->text + 3, l->head_n - 3),
                                                "line", json_integer(l->line), NULL));
    }
    free(list);
    if (json_array_size(rows) == 0) {
        pons_buf_printf(&w->out, "none of the %zu lessons fits\n", found);
    }
    w->data = pons_object("lessons", rows, "of", json_integer((json_int_t)found), NULL);
    return PONS_OK;
}
