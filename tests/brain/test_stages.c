// test_stages.c - a thread that was stopped at any stage of a decision is gone on with, and ends as it did.
//
// data/decision-stages.db has a thread for each case: it was killed after so many commits of a story.
// data/decision-stages.json has what was told when it went on (data/README.md). With PONS_MAKE_STAGES=DIRECTORY both
// files are made there.
#include "brain_bench.h"
#include "pons/graph.h"
#include "pons/store.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWERS  4
#define DATA     PONS_SOURCE_DIR "/tests/brain/data"
#define LATER_S  300 // when it is gone on with
#define STORY_S  30.0
#define RESUME_S 60.0

typedef struct story {
    const char *name;
    const char *script; // of the model; NULL: the rules decide
    const char *asks;   // a skill that asks a person; NULL: none
    const char *goals[2];
    const char *answers[ANSWERS]; // to each question in turn; NULL: no
    double think_s;               // how long a person takes
    int64_t base_ms;              // how long a skill of the base takes; 0: as the bench has it
    bool stuck;                   // and gets nowhere
    const char *reject;           // a code with which the body takes nothing; NULL: it does
} story;

#define GO(zone)                                                                                   \
    "{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch',"                        \
    "'skill':'navigate_to_pose','args':{'zone':'" zone "'}}]}}"
#define DONE "{'decision':{'type':'FINISH','reason':'there'}}"
#define NO   "{'action':'reject'}"
#define YES  "{'action':'approve'}"

static const story stories[] = {
    {.name = "plain", .goals = {"去厨房"}},
    {.name = "look", .goals = {"去厨房"}, .base_ms = 9000},
    {.name = "stuck", .goals = {"去厨房"}, .base_ms = BENCH_NEVER, .stuck = true},
    {.name = "unsent", .goals = {"去厨房"}, .reject = "busy"},
    {.name = "refused",
     .script = "[" GO("nowhere") "," GO("kitchen") "," DONE "]",
     .goals = {"go to the kitchen"}},
    {.name = "yes", .asks = "navigate_to_pose", .goals = {"去厨房"}, .answers = {YES}},
    {.name = "no", .asks = "navigate_to_pose", .goals = {"去厨房"}},
    {.name = "edit",
     .asks = "navigate_to_pose",
     .goals = {"去厨房"},
     .answers = {"{'action':'edit','args':{'zone':'bedroom'}}"}},
    {.name = "unclear",
     .asks = "navigate_to_pose",
     .goals = {"去厨房"},
     .answers = {"{'action':'edit','args':{'zone':'nowhere'}}",
                 "{'action':'edit','op':7,'args':{}}", YES}},
    {.name = "aside",
     .asks = "navigate_to_pose",
     .goals = {"去厨房", "wait 2 seconds"},
     .answers = {YES},
     .think_s = 4.0},
    {.name = "asks",
     .script = "[{'decision':{'type':'ASK_HUMAN','reason':'why','ops':["
               "{'op':'approval','question':'left or right?','options':['left','right']},"
               "{'op':'approval','question':'now?'}]}}," GO("kitchen") "," DONE "]",
     .goals = {"go to the kitchen"},
     .answers = {"{'action':'approve','answer':'left'}", YES}},
};

static const struct stage {
    const char *story;
    int commits;  // after which it was killed
    int answered; // questions, by then
    bool late_no; // before it goes on a person takes the yes back
} stages[] = {
    {"plain", 8, 0, false},                               // before R2
    {"plain", 9, 0, false},                               // decided
    {"plain", 10, 0, false},                              // proposed
    {"plain", 11, 0, false},                              // intended
    {"plain", 14, 0, false},                              // dispatched
    {"plain", 18, 0, false},                              // sent
    {"plain", 21, 0, false},                              // settled
    {"plain", 28, 0, false},                              // its end
    {"look", 21, 0, false},                               // R7 looked in
    {"look", 23, 0, false},    {"stuck", 21, 0, false},   // what runs gets nowhere
    {"unsent", 18, 0, false},                             // the body has refused it
    {"refused", 13, 0, false},                            // by R4
    {"refused", 14, 0, false}, {"yes", 11, 0, false},     // asking
    {"yes", 17, 1, false},                                // approved
    {"yes", 17, 1, true},                                 // and taken back
    {"yes", 18, 1, false},                                // approved and intended
    {"yes", 18, 1, true},      {"no", 17, 1, false},      // rejected
    {"edit", 17, 1, false},                               // edited
    {"edit", 18, 1, true},     {"unclear", 18, 1, false}, // asking again
    {"unclear", 24, 2, false},                            // the answer is none
    {"aside", 16, 0, false},                              // put aside with its question
    {"aside", 30, 0, false},                              // meanwhile
    {"aside", 58, 1, false},                              // and taken up
    {"asks", 13, 0, false},                               // two questions
    {"asks", 20, 2, false},                               // both answered
};

static void open_store(bench *b, const char *path)
{
    pons_error err = PONS_ERROR_INIT;
    pons_store s;
    if (pons_store_open(path, &s, &err) < 0) {
        fail_msg("%s", err.message);
    }
    bench_store(b, s);
}

static const story *story_of(const struct stage *at)
{
    size_t i = 0;
    while (strcmp(stories[i].name, at->story) != 0) {
        i++;
    }
    return &stories[i];
}

static void begin(bench *b, const struct stage *at, const char *path, char thread[64])
{
    const story *st = story_of(at);
    snprintf(thread, 64, "%s-%d%s", at->story, at->commits, at->late_no ? "-no" : "");
    bench_open(b, st->script);
    b->thread = thread;
    if (st->asks) {
        json_object_set_new(json_object_get(b->config, "approval"), "skills",
                            json_pack("[s]", st->asks));
    }
    if (st->stuck) { // nobody looks in meanwhile
        json_t *limits = json_object_get(b->config, "limits");
        json_object_set_new(limits, "check_in_s", json_real(100.0));
        json_object_set_new(limits, "no_progress_s", json_real(5.0));
    }
    b->base_ms = st->base_ms ? st->base_ms : b->base_ms;
    b->stuck = st->stuck;
    b->reject = st->reject;
    open_store(b, path);
}

// The n-th question gets the story's n-th answer.
static void reply(bench *b, const story *st, size_t n, const pons_value *question)
{
    char text[400];
    const char *with = n < ANSWERS && st->answers[n] ? st->answers[n] : NO;
    snprintf(text, sizeof text, "{'id':'%s',%s", pons_get_str(question, "id", ""), with + 1);
    if (!b->dead) {
        bench_post(b, "answer", text);
    }
}

// Answers questions as they come, from the next one on.
static void go_on(bench *b, const story *st, size_t answered, size_t done, double seconds)
{
    size_t n = answered, at = 0;
    for (double s = 0.0;
         s < seconds && !b->dead && (size_t)bench_count(b, "task.done", NULL, NULL) < done;
         s += 0.1) {
        bench_run(b, 0.1);
        for (; at < json_array_size(b->events); at++) {
            const pons_value *ev = json_array_get(b->events, at);
            if (strcmp(pons_get_str(ev, "type", ""), "approval.requested") == 0) {
                bench_run(b, st->think_s);
                reply(b, st, n++, pons_get(ev, "payload"));
            }
        }
    }
}

static void tell(bench *b, const struct stage *at)
{
    const story *st = story_of(at);
    size_t n = 0;
    bench_brain(b);
    bench_run(b, 0.5);
    for (; n < 2 && st->goals[n]; n++) {
        bench_goal_text(b, st->goals[n]);
    }
    b->kill_at = b->commits + at->commits;
    go_on(b, st, 0, n, STORY_S);
    if (!b->dead) {
        fail_msg("%s does not come to commit %d", at->story, at->commits);
    }
}

// What is told from then on, a line each.
static pons_value *reported(const bench *b)
{
    static const char *const keys[] = {"state", "status", "action", "decision", "source", "reason"};
    pons_value *lines = json_array();
    size_t i;
    json_t *ev;
    json_array_foreach(b->events, i, ev) {
        const char *type = pons_get_str(ev, "type", "");
        char line[400];
        size_t used = (size_t)snprintf(line, sizeof line, "%s", type);
        const bool telling = strcmp(type, "decision") == 0 || strcmp(type, "effect") == 0 ||
                             strcmp(type, "guard.refused") == 0 ||
                             strncmp(type, "approval.", 9) == 0 || strncmp(type, "task.", 5) == 0;
        const pons_value *p = pons_get(ev, "payload");
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            const pons_value *v = pons_get(p, keys[k]);
            const char *word =
                json_is_object(v) ? pons_get_str(v, "type", "") : json_string_value(v);
            if (word && used < sizeof line) {
                used += (size_t)snprintf(line + used, sizeof line - used, " %s", word);
            }
        }
        if (telling) {
            json_array_append_new(lines, json_string(line));
        }
    }
    return lines;
}

#define N_STAGES (sizeof stages / sizeof stages[0])

static pons_value *resume(const struct stage *at, const char *path, char thread[64])
{
    bench b;
    const story *st = story_of(at);
    begin(&b, at, path, thread);
    b.resumed = true;
    b.time.now_ns = LATER_S * PONS_NS_PER_S;
    bench_brain(&b);
    if (at->late_no) {
        bench_post(&b, "answer", NO);
    }
    pons_autovalue status = pons_brain_status(b.brain);
    const pons_value *open = pons_get(status, "approvals");
    const size_t n = json_array_size(open);
    for (size_t i = 0; i < n; i++) { // those that stand since before
        reply(&b, st, (size_t)at->answered + i, json_array_get(open, i));
    }
    go_on(&b, st, (size_t)at->answered + n, json_array_size(pons_get(status, "queue")), RESUME_S);
    pons_value *lines = reported(&b);
    bench_close(&b);
    return lines;
}

static void path_of(char *ret, size_t cap, const char *in, const char *ext)
{
    snprintf(ret, cap, "%s/decision-stages.%s", in, ext);
}

// How all threads of a store end; the store stays as it is.
static void in_a_copy(const char *path, pons_value *ends)
{
    char dir[] = "/dev/shm/pons-stages-XXXXXX", copy[64], thread[64], command[128];
    pons_error err = PONS_ERROR_INIT;
    assert_non_null(mkdtemp(dir));
    snprintf(copy, sizeof copy, "%s/pons.db", dir);
    assert_true(pons_store_backup(path, copy, &err) >= 0);
    for (size_t i = 0; i < N_STAGES; i++) {
        pons_value *lines = resume(&stages[i], copy, thread);
        json_object_set_new(ends, thread, lines);
    }
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    assert_int_equal(system(command), 0);
}

static void make(const char *to)
{
    char path[300], thread[64];
    pons_autovalue ends = json_object();
    path_of(path, sizeof path, to, "db");
    for (size_t i = 0; i < N_STAGES; i++) {
        bench b;
        begin(&b, &stages[i], path, thread);
        tell(&b, &stages[i]);
        bench_kill(&b);
        bench_close(&b);
    }
    in_a_copy(path, ends);
    path_of(path, sizeof path, to, "json");
    assert_int_equal(json_dump_file(ends, path, JSON_INDENT(1) | JSON_SORT_KEYS), 0);
}

static void each_ends_as_it_did(void **state)
{
    (void)state;
    char path[300];
    pons_autovalue ends = json_object();
    path_of(path, sizeof path, DATA, "db");
    in_a_copy(path, ends);
    path_of(path, sizeof path, DATA, "json");
    pons_autovalue as = json_load_file(path, 0, NULL);
    assert_int_equal(json_object_size(as), N_STAGES);
    const char *thread;
    json_t *lines;
    json_object_foreach((json_t *)as, thread, lines) {
        const pons_value *now = pons_get(ends, thread);
        if (!json_equal(now, lines)) {
            char *was = json_dumps(lines, JSON_INDENT(1)), *is = json_dumps(now, JSON_INDENT(1));
            fail_msg("%s ends otherwise: %s, not %s", thread, is, was);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_ends_as_it_did),
    };
    pons_value_init();
    const char *to = getenv("PONS_MAKE_STAGES");
    if (to) {
        make(to);
        return 0;
    }
    return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
