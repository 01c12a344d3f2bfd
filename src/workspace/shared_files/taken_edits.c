// taken_edits.c - edits that were taken in already.
//
//     .pons/base/ACTION.md.42.took.9f86d081884c7d65     what became part of generation 42, whose text has
//                                                       this hash
//     {"text": "2c26b46b68ffc68f", "records": [{"kind": "action", "id": "a7", "value": {…}}, …]}
//
// An editor that goes on from its own text, or writes late, says again what is done: that is no command
// again. The file is written before its generation and named after its text, so that who dies in between has
// neither: an edit is taken in, and known to be, in one step.
#include "workspace/shared_files/taken_edits.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER PONS__WS_FOLDER "/base"
#define TOOK   ".took."

int pons__ws_take_save(const char *dir, const char *name, uint64_t generation, const pons_buf *next,
                       const pons_buf *text, const pons_value *records, pons_error *err)
{
    char path[PATH_MAX], hash[PONS__WS_HASH], of[PONS__WS_HASH];
    char *line = NULL;
    pons__ws_hash(next->data ? next->data : "", next->len, hash);
    pons__ws_hash(text->data ? text->data : "", text->len, of);
    pons_autovalue take = pons_object("text", json_string(of), "records",
                                      pons_value_ref((pons_value *)(uintptr_t)records), NULL);
    const long n = pons_value_line(take, &line);
    snprintf(path, sizeof path, "%s/" FOLDER "/%s.%" PRIu64 TOOK "%s", dir, name, generation, hash);
    const int rc = pons__ws_base_text(path, line ? line : "", n > 0 ? (size_t)n : 0, err);
    free(line);
    return rc;
}

// "NAME.42.took.9f86…": its generation; 0: another file's.
static uint64_t generation_of(const char *entry, const char *name)
{
    const char *rest = NULL;
    const uint64_t g = pons__ws_kept_of(entry, name, &rest);
    return g && strncmp(rest, TOOK, strlen(TOOK)) == 0 ? g : 0;
}

// A take whose generation came about; NULL: none.
static pons_value *read_take(const char *dir, const char *name, const char *entry, uint64_t g)
{
    char path[PATH_MAX];
    struct stat st;
    pons_autobuf text = PONS_BUF_INIT;
    pons_value *take = NULL;
    if (!pons__ws_base_whole(dir, name, g, strstr(entry, TOOK) + strlen(TOOK))) {
        return NULL;
    }
    snprintf(path, sizeof path, "%s/" FOLDER "/%s", dir, entry);
    if (stat(path, &st) < 0 || pons__ws_read_file(path, &text, NULL) < 0 || !text.len ||
        pons_value_parse(text.data, text.len, &take, NULL) < 0) {
        return NULL;
    }
    json_object_set_new(take, "g", json_integer((json_int_t)g));
    json_object_set_new(take, "at", json_integer((json_int_t)st.st_mtime));
    return take;
}

static uint64_t g_of(const pons_value *take)
{
    return (uint64_t)pons_get_int(take, "g", 0);
}

void pons__ws_takes_load(const char *dir, const char *name, uint64_t after, pons_value *list)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" FOLDER, dir);
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        const uint64_t g = generation_of(e->d_name, name);
        pons_value *take = g > after ? read_take(dir, name, e->d_name, g) : NULL;
        size_t at = json_array_size(list);
        while (take && at > 0 && g_of(json_array_get(list, at - 1)) > g) {
            at--;
        }
        if (take) {
            json_array_insert_new(list, at, take);
        }
    }
    if (d) {
        closedir(d);
    }
}

void pons__ws_takes_prune(pons_value *list, uint64_t generation, int64_t since)
{
    const pons_value *first;
    while ((first = json_array_get(list, 0)) && g_of(first) + PONS__WS_KEPT <= generation &&
           since - pons_get_int(first, "at", 0) > PONS__WS_KEPT_S) {
        json_array_remove(list, 0);
    }
}

pons_value *pons__ws_takes_since(const pons_value *list, uint64_t stamp)
{
    pons_value *all = json_array();
    size_t from = json_array_size(list);
    while (from > 0 && g_of(json_array_get(list, from - 1)) > stamp) {
        from--;
    }
    for (; from < json_array_size(list); from++) {
        json_array_extend(all, json_object_get(json_array_get(list, from), "records"));
    }
    return all;
}

bool pons__ws_takes_has(const pons_value *list, uint64_t stamp, const pons_buf *text)
{
    char hash[PONS__WS_HASH];
    pons__ws_hash(text->data ? text->data : "", text->len, hash);
    for (size_t i = json_array_size(list); i > 0; i--) {
        const pons_value *take = json_array_get(list, i - 1);
        if (g_of(take) <= stamp) {
            break;
        }
        if (strcmp(pons_get_str(take, "text", ""), hash) == 0) {
            return true;
        }
    }
    return false;
}
