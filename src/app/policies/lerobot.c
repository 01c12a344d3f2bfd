// lerobot.c - the protocol of LeRobot's asynchronous inference: gRPC, with pickled Python in it.
//
//     question --JSON, a line--> policies/lerobot_client.py --gRPC--> server
//     base64 of a pickle <------'                          <---------'
//        |
//        '--> policies/unpickle_actions.py, in the sandbox of tools/sandbox --> rows, JSON
//
// A pickle is a program. A process of its own unpickles each answer: without network and writable files, with limits of
// memory and time, and with five allowed globals. The client never unpickles. Without a sandbox the answer is refused.
#include "app/policies/policies.h"
#include "pons/buf.h"
#include "pons/module.h"
#include "tools/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHERE      "lerobot"
#define CLIENT     "policies/lerobot_client.py"
#define READER     "policies/unpickle_actions.py"
#define READ_MS    10000
#define READ_MB    512
#define ROWS_BYTES (1024 * 1024) // of the reader's answer
#define CHUNK      50

typedef struct server {
    pid_t pid; // the client; 0: none
    FILE *to, *from;
    pons__core core; // what the wall asks for: a folder, here the scripts'
    char reader[PATH_MAX];
} server;

static void server_close(void *self)
{
    server *s = self;
    if (!s) {
        return;
    }
    if (s->to) {
        fclose(s->to);
    }
    if (s->from) {
        fclose(s->from);
    }
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
    }
    if (s->core.root_fd >= 0) {
        close(s->core.root_fd);
    }
    pons__wall_destroy(s->core.wall);
    free(s);
}

// ---- the client ---------------------------------------------------------------------------------

static int start_client(server *s, const pons_value *client, const char *script, pons_error *err)
{
    pons_autovalue config =
        pons_object("endpoint", json_string(pons_get_str(client, "endpoint", "")), "policy_type",
                    json_string(pons_get_str(client, "policy_type", "")), "checkpoint",
                    json_string(pons_get_str(client, "checkpoint", "")), "actions_per_chunk",
                    json_integer(pons_get_int(client, "actions_per_chunk", CHUNK)), "device",
                    json_string(pons_get_str(client, "device", "cpu")), NULL);
    const char *python = pons_get_str(client, "python", "python3");
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    char *text = NULL;
    if (pons_value_line(config, &text) < 0 || pipe2(to, O_CLOEXEC) < 0 ||
        pipe2(from, O_CLOEXEC) < 0) {
        free(text);
        return pons_error_set(err, PONS_EENV, WHERE, "cannot start %.120s: %s", python,
                              strerror(errno));
    }
    char *const argv[] = {(char *)(uintptr_t)python, (char *)(uintptr_t)script, text, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    const int rc = posix_spawnp(&s->pid, python, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(text);
    close(to[0]);
    close(from[1]);
    s->pid = rc == 0 ? s->pid : 0;
    s->to = fdopen(to[1], "w");
    s->from = fdopen(from[0], "r");
    return rc == 0 && s->to && s->from
               ? PONS_OK
               : pons_error_set(err, PONS_EENV, WHERE, "cannot start %.120s: %s", python,
                                strerror(rc));
}

// ---- the wall -----------------------------------------------------------------------------------

static int open_wall(server *s, pons_error *err)
{
    char folder[PATH_MAX];
    int rc = pons_share_path(READER, s->reader, sizeof s->reader, err);
    if (rc < 0) {
        return rc;
    }
    snprintf(folder, sizeof folder, "%s", s->reader);
    if (!realpath(dirname(folder), s->core.workspace) ||
        (s->core.root_fd = open(s->core.workspace, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0 ||
        pons__wall_create(&s->core, &s->core.wall) < 0) {
        return pons_error_set(err, PONS_EENV, WHERE, "cannot open %.200s", folder);
    }
    snprintf(s->reader, sizeof s->reader, "%.*s/%s", PATH_MAX - 64, s->core.workspace,
             strrchr(READER, '/') + 1);
    pons_error why = PONS_ERROR_INIT;
    return pons__wall_ready(&s->core, &why) < 0
               ? pons_error_set(err, PONS_EENV, WHERE,
                                "LeRobot's answers are pickles, which are only read behind a "
                                "sandbox: %.200s",
                                why.message)
               : PONS_OK;
}

// Until the reader's output has ended; false: it takes too long, or says too much.
static bool read_all(int fd, pons_buf *ret)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char chunk[16384];
    while (ret->len < ROWS_BYTES && poll(&p, 1, READ_MS) > 0) {
        const ssize_t n = read(fd, chunk, sizeof chunk);
        if (n <= 0) {
            return n == 0;
        }
        pons_buf_bytes(ret, chunk, (size_t)n);
    }
    return false;
}

// The pickle in memory as its standard input; *ret: what it prints.
static int run_reader(server *s, const pons_buf *pickle, pons_buf *ret, pons_error *err)
{
    const char *const argv[] = {"python3", "-I", "-S", s->reader, NULL};
    const int in = memfd_create("answer", MFD_CLOEXEC);
    int out[2] = {-1, -1};
    pid_t pid = 0;
    if (in < 0 || pipe2(out, O_CLOEXEC) < 0 ||
        write(in, pickle->data, pickle->len) != (ssize_t)pickle->len || lseek(in, 0, SEEK_SET)) {
        return pons_error_set(err, PONS_EENV, WHERE, "no memory for an answer");
    }
    const pons__run run = {.argv = argv,
                           .cwd = ".",
                           .null = in,
                           .out = out[1],
                           .memory_mb = READ_MB,
                           .file_mb = 1,
                           .git_dir = "",
                           .git_top = ""};
    int rc = pons__wall_start(&s->core, &run, &pid, err);
    close(out[1]);
    close(in);
    if (rc >= 0 && !read_all(out[0], ret)) {
        kill(pid, SIGKILL);
        rc = pons_error_set(err, PONS_EPROTOCOL, WHERE,
                            "the answer is no list of actions: reading it takes too long");
    }
    close(out[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return rc;
}

static int take_rows(const pons_value *rows, pons_policy_rows *ret, pons_error *err)
{
    const size_t n = json_array_size(rows), width = json_array_size(json_array_get(rows, 0));
    if (n == 0 || n > PONS_POLICY_ROWS_MAX || width == 0 || width > PONS_POLICY_WIDTH_MAX) {
        return pons_error_set(err, PONS_EPROTOCOL, WHERE, "the answer is no list of actions");
    }
    *ret = (pons_policy_rows){n, width, calloc(n * width, sizeof *ret->at)};
    for (size_t i = 0; ret->at && i < n * width; i++) {
        const pons_value *v = json_array_get(json_array_get(rows, i / width), i % width);
        ret->at[i] = json_is_number(v) ? json_number_value(v) : NAN;
    }
    return ret->at ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for an answer");
}

static int read_pickle(server *s, const char *base64, pons_policy_rows *ret, pons_error *err)
{
    pons_autobuf pickle = PONS_BUF_INIT, text = PONS_BUF_INIT;
    if (pons_buf_unbase64(&pickle, base64, strlen(base64)) < 0 ||
        pickle.len > PONS_POLICY_ANSWER_MAX) {
        return pons_error_set(err, PONS_EPROTOCOL, WHERE, "the answer is no list of actions");
    }
    const int rc = run_reader(s, &pickle, &text, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue said = json_loadb(text.data ? text.data : "", text.len, 0, NULL);
    const char *error = pons_get_str(said, "error", said ? NULL : "reading it ended early");
    return error ? pons_error_set(err, PONS_EPROTOCOL, WHERE,
                                  "the answer is no list of actions: %.200s", error)
                 : take_rows(pons_get(said, "rows"), ret, err);
}

// ---- the server ---------------------------------------------------------------------------------

static int server_open(const pons_value *client, void **ret_self, pons_error *err)
{
    static const char *const needs[] = {"endpoint", "policy_type", "checkpoint"};
    char script[PATH_MAX];
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (!*pons_get_str(client, needs[i], "")) {
            return pons_error_set(err, PONS_EINVAL, WHERE, "policy_client.%s is missing: %s",
                                  needs[i], "a text");
        }
    }
    if (strstr(pons_get_str(client, "endpoint", ""), "://")) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "policy_client.endpoint of lerobot is HOST:PORT");
    }
    server *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a connection");
    }
    s->core.root_fd = -1;
    signal(SIGPIPE, SIG_IGN);
    int rc = pons_share_path(CLIENT, script, sizeof script, err);
    rc = rc < 0 ? rc : open_wall(s, err);
    rc = rc < 0 ? rc : start_client(s, client, script, err);
    if (rc < 0) {
        server_close(s);
        return rc;
    }
    *ret_self = s;
    return PONS_OK;
}

static pons_value *input_of(const pons_policy_input *in)
{
    pons_value *v = pons_object("key", json_string(in->key), NULL);
    if (in->kind == PONS_POLICY_TEXT) {
        json_object_set_new(v, "text", pons_string(in->text));
    } else if (in->kind == PONS_POLICY_NUMBERS) {
        pons_value *list = json_array();
        for (size_t i = 0; i < in->n; i++) {
            json_array_append_new(list, json_real(in->numbers[i]));
        }
        json_object_set_new(v, "numbers", list);
    } else {
        pons_autobuf text = PONS_BUF_INIT;
        pons_buf_base64(&text, in->rgb, (size_t)in->width * (size_t)in->height * 3);
        json_object_set_new(v, "rgb", json_string_nocheck(text.data ? text.data : ""));
        json_object_set_new(v, "width", json_integer(in->width));
        json_object_set_new(v, "height", json_integer(in->height));
    }
    return v;
}

// What the client says: the pickle, or why there is none.
static int status_of(const pons_value *said)
{
    static const struct {
        const char *word;
        int status;
    } words[] = {{"unreachable", PONS_EIO},
                 {"refused", PONS_EREFUSED},
                 {"lacks", PONS_EENV},
                 {"bad", PONS_EPROTOCOL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, pons_get_str(said, "error", "")) == 0) {
            return words[i].status;
        }
    }
    return PONS_OK;
}

static int server_ask(void *self, const pons_policy_input *inputs, size_t n, pons_policy_rows *ret,
                      pons_error *err)
{
    server *s = self;
    pons_value *list = json_array();
    char *text = NULL, *line = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, input_of(&inputs[i]));
    }
    pons_autovalue question = pons_object("inputs", list, NULL);
    const bool sent = pons_value_line(question, &text) >= 0 && fprintf(s->to, "%s\n", text) > 0 &&
                      fflush(s->to) == 0;
    free(text);
    const ssize_t got = sent ? getline(&line, &cap, s->from) : -1;
    pons_autovalue said = got > 0 ? json_loadb(line, (size_t)got, 0, NULL) : NULL;
    free(line);
    if (!said) {
        return pons_error_set(err, PONS_EENV, WHERE, "the client of LeRobot's server has ended");
    }
    const int rc = status_of(said);
    return rc < 0 ? pons_error_set(err, rc, WHERE, "%.300s", pons_get_str(said, "message", ""))
                  : read_pickle(s, pons_get_str(said, "data", ""), ret, err);
}

const pons_policy_server_ops app_policy_lerobot = {
    .abi = PONS_POLICY_SERVER_ABI, .open = server_open, .ask = server_ask, .close = server_close};
