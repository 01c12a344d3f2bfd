// policy_client.c - the two clients of a policy.
//
//     http    POST of the question to `endpoint`; the reply's body is the answer
//     local   `program` (a path, or a list of words) is started with --checkpoint PATH; each question is
//             a line of its standard input, each answer a line of its output. Without `program` the
//             checkpoint itself is the program.
//
// With another `protocol` than pons's the program is pons itself (`watchdog policy`), which speaks that protocol with the
// server at `endpoint`.
//
// An answer is one JSON object of at most ANSWER_MAX bytes. It is read as JSON is: NaN, an infinity or a
// key that stands twice is no answer.
#include "workspace/runtime/policy_client.h"

#include "pons/buf.h"
#include "pons/ext/http.h"
#include "pons/out_of_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHERE      "policy"
#define ANSWER_MAX (1024 * 1024)
#define WORDS_MAX  32
#define PIPE_BYTES (1024 * 1024) // a question with pictures is written at once

struct policy {
    const pons_http_ops *http; // NULL: a program
    void *client;
    char *endpoint;
    uint64_t call;
    int status;

    pid_t pid;
    int in, out;       // the program's; -1: closed
    char *question;    // what it has not read yet
    size_t asked, len; // bytes written, of so many

    pons_buf text; // of the answer
    bool asking;
    int64_t until_ms;
};

// ---- opening ------------------------------------------------------------------------------------

static int open_http(policy *p, const char *endpoint, pons_error *err)
{
    if (strncmp(endpoint, "http://", 7) != 0 && strncmp(endpoint, "https://", 8) != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "policy_client of type http needs an endpoint http://…");
    }
    int rc = pons_http_load(&p->http, err);
    if (rc < 0) {
        p->http = NULL;
        return PONS_EENV;
    }
    rc = p->http->open(NULL, NULL, &p->client, err);
    if (rc < 0) {
        p->http = NULL;
        return PONS_EENV;
    }
    p->endpoint = pons_need_text(endpoint);
    return PONS_OK;
}

// The words of the program; false: there is none.
static bool words_of(const pons_value *client, const char *words[WORDS_MAX + 3])
{
    const pons_value *program = pons_get(client, "program");
    const char *checkpoint = pons_get_str(client, "checkpoint", NULL);
    size_t n = 0;
    if (json_is_array(program)) {
        for (; n < json_array_size(program) && n < WORDS_MAX; n++) {
            words[n] = json_string_value(json_array_get(program, n));
            if (!words[n]) {
                return false;
            }
        }
    } else if (json_is_string(program)) {
        words[n++] = json_string_value(program);
    } else if (!program && checkpoint) {
        words[n++] = checkpoint;
    }
    if (checkpoint && program) {
        words[n] = "--checkpoint";
        words[n + 1] = checkpoint;
        words[n + 2] = NULL;
    } else {
        words[n] = NULL;
    }
    return n > 0;
}

static void become(const char *const *words, int in, int out)
{
    dup2(in, 0);
    dup2(out, 1);
    setpgid(0, 0);                    // it is ended with all its children,
    prctl(PR_SET_PDEATHSIG, SIGKILL); // and when the asking process ends
    signal(SIGPIPE, SIG_DFL);
    execvp(words[0], (char *const *)(uintptr_t)words);
    _exit(127);
}

static int start_program(policy *p, const char *const *words, pons_error *err)
{
    int to[2], from[2];
    if (strchr(words[0], '/') && access(words[0], X_OK) < 0) {
        return pons_error_set(err, PONS_EENV, WHERE, "%s cannot be run: %s", words[0],
                              strerror(errno));
    }
    if (pipe2(to, O_CLOEXEC) < 0) {
        return pons_error_set(err, PONS_EENV, WHERE, "no pipe: %s", strerror(errno));
    }
    if (pipe2(from, O_CLOEXEC) < 0) {
        close(to[0]);
        close(to[1]);
        return pons_error_set(err, PONS_EENV, WHERE, "no pipe: %s", strerror(errno));
    }
    p->pid = fork();
    if (p->pid == 0) {
        become(words, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    p->in = to[1];
    p->out = from[0];
    fcntl(p->in, F_SETFL, O_NONBLOCK);
    fcntl(p->in, F_SETPIPE_SZ, PIPE_BYTES);
    fcntl(p->out, F_SETFL, O_NONBLOCK);
    return p->pid > 0 ? PONS_OK
                      : pons_error_set(err, PONS_EENV, WHERE, "cannot start %s", words[0]);
}

static int open_program(policy *p, const pons_value *client, pons_error *err)
{
    const char *words[WORDS_MAX + 3];
    if (!words_of(client, words)) {
        return pons_error_set(
            err, PONS_EINVAL, WHERE,
            "policy_client of type local needs a program, or a checkpoint that is "
            "one");
    }
    return start_program(p, words, err);
}

// Opens a server of another protocol; `pons watchdog policy` knows the protocols.
static int open_protocol(policy *p, const pons_value *client, const char *pons, pons_error *err)
{
    const char *name = pons_get_str(client, "protocol", "");
    if (strcmp(pons_get_str(client, "type", ""), "http") != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "policy_client of protocol %s has type http: it is a server", name);
    }
    if (!pons) {
        return pons_error_set(err, PONS_EENV, WHERE, "only the program pons speaks the protocol %s",
                              name);
    }
    char *text = NULL;
    if (pons_value_line(client, &text) < 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "policy_client cannot be written as JSON");
    }
    const char *const words[] = {pons, "watchdog", "policy", text, NULL};
    const int rc = start_program(p, words, err);
    free(text);
    return rc;
}

int pons__policy_open(const pons_value *client, const char *pons, policy **ret, pons_error *err)
{
    const char *type = pons_get_str(client, "type", "");
    policy *p = pons_need_zeroed(1, sizeof *p);
    p->in = p->out = -1;
    int rc;
    if (strcmp(pons_get_str(client, "protocol", "pons"), "pons") != 0) {
        rc = open_protocol(p, client, pons, err);
    } else if (strcmp(type, "http") == 0) {
        rc = open_http(p, pons_get_str(client, "endpoint", ""), err);
    } else if (strcmp(type, "local") == 0) {
        rc = open_program(p, client, err);
    } else {
        rc = pons_error_set(err, PONS_EINVAL, WHERE,
                            "policy_client has type '%.40s': http or local", type);
    }
    if (rc < 0) {
        pons__policy_close(p);
        return rc;
    }
    *ret = p;
    return PONS_OK;
}

void pons__policy_close(policy *p)
{
    if (!p) {
        return;
    }
    if (p->http) {
        p->http->close(p->client);
    }
    if (p->in >= 0) {
        close(p->in);
    }
    if (p->out >= 0) {
        close(p->out);
    }
    if (p->pid > 0) {
        kill(-p->pid, SIGKILL);
        kill(p->pid, SIGKILL); // it may not have made its group yet
        waitpid(p->pid, NULL, 0);
    }
    pons_buf_fini(&p->text);
    free(p->endpoint);
    free(p->question);
    free(p);
}

// ---- asking -------------------------------------------------------------------------------------

static void give_program(policy *p)
{
    while (p->in >= 0 && p->asked < p->len) {
        const ssize_t n = write(p->in, p->question + p->asked, p->len - p->asked);
        if (n < 0) {
            return; // it has not read yet; one that is gone shows at its output
        }
        p->asked += (size_t)n;
    }
}

void pons__policy_ask(policy *p, const pons_value *question, int64_t now_ms, int64_t timeout_ms)
{
    pons_error ignored = PONS_ERROR_INIT;
    char *line = NULL;
    const long n = pons_value_line(question, &line);
    free(p->question);
    p->question = NULL;
    pons_buf_clear(&p->text);
    p->asking = true;
    p->until_ms = now_ms + timeout_ms;
    if (n < 0) {
        p->until_ms = now_ms;
        return;
    }
    if (p->http) {
        static const char *const headers[] = {"Content-Type: application/json", NULL};
        const pons_http_request request = {.url = p->endpoint,
                                           .headers = headers,
                                           .body = line,
                                           .body_n = (size_t)n,
                                           .decode = true,
                                           .body_max = ANSWER_MAX,
                                           .whole_ms = timeout_ms};
        p->status = 0;
        if (p->http->start(p->client, ++p->call, &request, &ignored) < 0) {
            p->until_ms = now_ms;
        }
        free(line);
        return;
    }
    p->question = pons_need_more(line, (size_t)n + 1);
    p->question[n] = '\n';
    p->asked = 0;
    p->len = (size_t)n + 1;
    give_program(p);
}

static bool failed(policy *p, policy_answer *ret, const char *code, const char *why)
{
    p->asking = false;
    ret->value = NULL;
    ret->code = code;
    snprintf(ret->why, sizeof ret->why, "%s", why);
    return true;
}

static bool read_answer(policy *p, size_t len, policy_answer *ret)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *value = NULL;
    p->asking = false;
    if (pons_value_parse(p->text.data ? p->text.data : "", len, &value, &err) < 0) {
        char why[POLICY_WHY_MAX];
        snprintf(why, sizeof why, "the answer is no JSON at %.40s: %.160s", err.source,
                 err.message);
        return failed(p, ret, "POLICY_BAD_ANSWER", why);
    }
    if (!json_is_object(value)) {
        pons_value_unref(value);
        return failed(p, ret, "POLICY_BAD_ANSWER", "the answer is no JSON object");
    }
    *ret = (policy_answer){.value = value};
    return true;
}

static const char *fault_code(pons_http_fault fault)
{
    switch (fault) {
    case PONS_HTTP_SLOW_CONNECT:
    case PONS_HTTP_SLOW_START:
    case PONS_HTTP_SLOW_NEXT:
    case PONS_HTTP_SLOW_WHOLE:
        return "POLICY_TIMEOUT";
    case PONS_HTTP_LONG_HEAD:
    case PONS_HTTP_LONG_BODY:
        return "POLICY_BAD_ANSWER";
    default:
        return "POLICY_UNREACHABLE";
    }
}

static bool take_http(policy *p, policy_answer *ret)
{
    pons_http_event e;
    bool there = false;
    while (!there && p->http->next(p->client, &e)) {
        if (e.call != p->call || !p->asking) {
            // of a question that was given up
        } else if (e.kind == PONS_HTTP_HEAD) {
            p->status = e.status;
        } else if (e.kind == PONS_HTTP_DATA) {
            pons_buf_bytes(&p->text, e.data, e.n);
        } else if (e.kind == PONS_HTTP_FAILED) {
            there = failed(p, ret, fault_code(e.fault), e.data ? e.data : "the connection failed");
        } else if (p->status != 200) {
            char why[POLICY_WHY_MAX];
            snprintf(why, sizeof why, "the policy's server answers %d: %.120s", p->status,
                     p->text.data ? p->text.data : "");
            there = failed(p, ret, "POLICY_ERROR", why);
        } else {
            there = read_answer(p, p->text.len, ret);
        }
        pons_http_event_clear(&e);
    }
    return there;
}

static bool take_program(policy *p, policy_answer *ret)
{
    char chunk[16384];
    give_program(p);
    for (;;) {
        const ssize_t n = read(p->out, chunk, sizeof chunk);
        if (n == 0) {
            int status = 0;
            const bool ended = waitpid(p->pid, &status, WNOHANG) == p->pid;
            p->pid = ended ? 0 : p->pid;
            return failed(p, ret, "POLICY_UNREACHABLE",
                          ended && WIFEXITED(status) && WEXITSTATUS(status) == 127
                              ? "the policy's program cannot be run"
                              : "the policy's program has ended");
        }
        if (n < 0) {
            return false;
        }
        pons_buf_bytes(&p->text, chunk, (size_t)n);
        const char *end = memchr(p->text.data, '\n', p->text.len);
        if (end) {
            return read_answer(p, (size_t)(end - p->text.data), ret);
        }
        if (p->text.len > ANSWER_MAX) {
            return failed(p, ret, "POLICY_BAD_ANSWER", "the answer is too long");
        }
    }
}

bool pons__policy_answer(policy *p, int64_t now_ms, policy_answer *ret)
{
    if (!p->asking) {
        return false;
    }
    if (p->http ? take_http(p, ret) : take_program(p, ret)) {
        return true;
    }
    if (now_ms < p->until_ms) {
        return false;
    }
    if (p->http) {
        p->http->cancel(p->client, p->call);
    }
    return failed(p, ret, "POLICY_TIMEOUT", "the policy did not answer in its time");
}

int pons__policy_fd(const policy *p)
{
    return p->http ? p->http->event_fd(p->client) : p->out;
}
