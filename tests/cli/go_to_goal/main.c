// go_to_goal - a policy for tests: a controller that really drives a base to params.goal [x, y] from
// the observation's state [x, y, yaw, …]. Each answer is a chunk of velocities, found by driving a model of
// the base ahead; near the goal it says done. With the mode stages it
// gives the way as stages (ReKep). params.mode else makes it a bad one: see misbehave(). params.think_ms: [least, most]
// that an answer takes.
//
//     go_to_goal                  questions are lines of standard input (policy_client local)
//     go_to_goal --serve          HTTP on a port of its own, which it prints (policy_client http)
#include <jansson.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK    10
#define PERIOD_S 0.1
#define NEAR_M   0.15
#define V_MAX    0.4
#define W_MAX    0.8

static double at(const json_t *list, size_t i)
{
    return json_number_value(json_array_get(list, i));
}

static double within(double v, double most)
{
    return v > most ? most : v < -most ? -most : v;
}

static json_t *drive(const json_t *state, const json_t *goal)
{
    double x = at(state, 0), y = at(state, 1), yaw = at(state, 2);
    json_t *actions = json_array();
    if (hypot(at(goal, 0) - x, at(goal, 1) - y) < NEAR_M) {
        return json_pack("{so sb}", "actions", actions, "done", 1);
    }
    for (int i = 0; i < CHUNK; i++) {
        const double dx = at(goal, 0) - x, dy = at(goal, 1) - y;
        const double off = remainder(atan2(dy, dx) - yaw, 2 * M_PI);
        const double w = within(2.0 * off, W_MAX);
        const double v = fabs(off) < 0.5 ? within(hypot(dx, dy), V_MAX) * cos(off) : 0.0;
        json_array_append_new(actions, json_pack("[f,f]", v, w));
        x += v * cos(yaw) * PERIOD_S;
        y += v * sin(yaw) * PERIOD_S;
        yaw += w * PERIOD_S;
    }
    return json_pack("{so s{sf sf}}", "actions", actions, "meta", "x", x, "y", y);
}

// Half the way, and the goal itself, looking ahead.
static json_t *stages(const json_t *state, const json_t *goal)
{
    const double x = at(state, 0), y = at(state, 1);
    const double yaw = atan2(at(goal, 1) - y, at(goal, 0) - x);
    return json_pack("{s[{s[[f,f,f]] s[f,f,f]}]}", "stages", "path", (x + at(goal, 0)) / 2,
                     (y + at(goal, 1)) / 2, yaw, "subgoal", at(goal, 0), at(goal, 1), yaw);
}

// The text of a bad answer, malloc; NULL: this mode is none of them.
static char *misbehave(const char *mode)
{
    static const struct {
        const char *mode, *answer;
    } bad[] = {
        {"nan", "{\"actions\":[[NaN,0.1]]}"},
        {"infinite", "{\"actions\":[[1e999,0.1]]}"},
        {"width", "{\"actions\":[[0.1,0.1,0.1]]}"},
        {"words", "{\"actions\":[[\"fast\",0]]}"},
        {"empty", "{\"actions\":[]}"},
        {"no_actions", "{}"},
        {"list", "[1,2,3]"},
        {"broken", "{\"actions\":[[0.1,"},
        {"twice", "{\"actions\":[[0.1,0]],\"actions\":[[0.1,0]]}"},
        {"too_fast", "{\"actions\":[[9.0,0.0]]}"},
        {"error", "{\"error\":{\"code\":\"NO_GPU\",\"message\":\"out of memory\"}}"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (strcmp(bad[i].mode, mode) == 0) {
            return strdup(bad[i].answer);
        }
    }
    if (strcmp(mode, "long") == 0) { // a chunk over the limit
        json_t *actions = json_array();
        for (int i = 0; i < 65; i++) {
            json_array_append_new(actions, json_pack("[f,f]", 0.1, 0.0));
        }
        json_t *v = json_pack("{so}", "actions", actions);
        char *text = json_dumps(v, 0);
        json_decref(v);
        return text;
    }
    if (strcmp(mode, "huge") == 0) {
        char *text = malloc(3u << 20);
        memset(text, ' ', 3u << 20);
        text[(3u << 20) - 1] = '\0';
        return text;
    }
    return NULL;
}

static char *answer(const char *question)
{
    json_t *q = json_loads(question, 0, NULL);
    const json_t *params = json_object_get(q, "params");
    const char *mode = json_string_value(json_object_get(params, "mode"));
    char *text = mode ? misbehave(mode) : NULL;
    const json_t *think = json_object_get(params, "think_ms");
    if (think) {
        usleep((useconds_t)(1000.0 * (at(think, 0) + drand48() * (at(think, 1) - at(think, 0)))));
    }
    if (mode && strcmp(mode, "silent") == 0) {
        pause();
    }
    if (mode && strcmp(mode, "dies") == 0) {
        _exit(1);
    }
    if (mode && strcmp(mode, "circles") == 0) { // never done
        text = strdup("{\"actions\":[[0.0,0.3],[0.0,0.3]]}");
    }
    if (!text) {
        const json_t *state = json_object_get(json_object_get(q, "observation"), "state");
        const json_t *goal = json_object_get(params, "goal");
        json_t *a = mode && strcmp(mode, "stages") == 0 ? stages(state, goal) : drive(state, goal);
        text = json_dumps(a, JSON_COMPACT);
        json_decref(a);
    }
    json_decref(q);
    return text;
}

static void serve_one(int fd)
{
    static char text[1 << 20];
    size_t n = 0, body = 0, length = 0;
    while (n < sizeof text - 1) {
        const ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        if (got <= 0) {
            return;
        }
        n += (size_t)got;
        text[n] = '\0';
        const char *end = strstr(text, "\r\n\r\n");
        if (end && !body) {
            const char *size = strcasestr(text, "\r\ncontent-length:");
            body = (size_t)(end - text) + 4;
            length = size ? strtoul(size + 17, NULL, 10) : 0;
        }
        if (body && n >= body + length) {
            break;
        }
    }
    char *said = answer(text + body);
    dprintf(fd,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
            "Connection: close\r\n\r\n%s",
            strlen(said), said);
    free(said);
}

static int serve(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 8) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
        perror("go_to_goal");
        return 1;
    }
    printf("{\"type\":\"listening\",\"port\":%d}\n", ntohs(a.sin_port));
    fflush(stdout);
    for (;;) {
        const int peer = accept(fd, NULL, NULL);
        if (peer >= 0) {
            serve_one(peer);
            close(peer);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--serve") == 0) {
        return serve();
    }
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, stdin) > 0) {
        char *said = answer(line);
        printf("%s\n", said);
        fflush(stdout);
        free(said);
    }
    free(line);
    return 0;
}
