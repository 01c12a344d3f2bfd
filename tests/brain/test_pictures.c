// test_pictures.c - a decision waits for its picture, gets one or none, and nothing of it is kept; a task that is
// cancelled meanwhile asks no model. Where a person is to be asked first, decisions go on without until the yes.
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON 10.0
#define NAME "5e4ba1b6b2c1cbf9e36a1a3c8ec7bb6a7d1f0a3f5d9f0a1c2b3d4e5f60718293"
#define SCRIPT                                                                                     \
    "[{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':"               \
    "'navigate_to_pose','args':{'zone':'kitchen'}}]}},"                                            \
    "{'decision':{'type':'FINISH','reason':'there'}}]"

static int asked,
    ready_at; // how often a picture was asked for; at which time it is there, 0: never
static int rc_at_last;

static int picture(void *user, pons_value **ret)
{
    (void)user;
    if (++asked < ready_at || ready_at == 0) {
        return PONS_EAGAIN;
    }
    if (rc_at_last == PONS_OK) {
        *ret =
            pons_object("sha256", json_string(NAME), "caption", json_string("camera front"), NULL);
    }
    return rc_at_last;
}

static void begin(bench *b, int at, int rc)
{
    asked = 0;
    ready_at = at;
    rc_at_last = rc;
    bench_open(b, SCRIPT);
    b->picture = picture;
    bench_brain(b);
    bench_run(b, 0.5);
    bench_goal_text(b, "去厨房");
}

// Of the newest words of the newest request; NULL: none.
static const char *pictured(const bench *b)
{
    const pons_value *list = pons_get(b->llm_request, "messages");
    const pons_value *last = json_array_get(list, json_array_size(list) - 1);
    return pons_get_str(json_array_get(pons_get(last, "pictures"), 0), "sha256", NULL);
}

static void a_decision_waits_for_its_picture(void **state)
{
    (void)state;
    bench b;
    begin(&b, 30, PONS_OK);
    for (int i = 0; i < 1000 && asked < 29; i++) {
        assert_int_equal(b.llm_starts, 0);
        bench_run(&b, 0.02);
    }
    bench_await(&b, "effect", "state", "accepted", SOON);
    assert_string_equal(pictured(&b), NAME);
    bench_await(&b, "task.done", "status", "succeeded", 60);
    pons_autovalue state_kept = NULL;
    assert_int_equal(pons_state_read(b.store, "t1", "react", &state_kept, &b.error), PONS_OK);
    char *text = NULL;
    assert_true(pons_value_line(state_kept, &text) > 0);
    assert_null(strstr(text, NAME));
    free(text);
    bench_close(&b);
}

static void without_one_it_is_made_all_the_same(void **state)
{
    (void)state;
    bench b;
    begin(&b, 3, PONS_ETIMEOUT);
    bench_await(&b, "effect", "state", "accepted", SOON);
    assert_int_equal(asked, 3);
    assert_int_equal(b.llm_starts, 1);
    assert_null(pictured(&b));
    bench_close(&b);
}

static void what_is_cancelled_meanwhile_asks_nobody(void **state)
{
    (void)state;
    bench b;
    begin(&b, 0, PONS_OK);
    for (int i = 0; i < 1000 && asked == 0; i++) {
        bench_run(&b, 0.02);
    }
    bench_say(&b, "取消");
    bench_await(&b, "task.done", "status", "cancelled", SOON);
    ready_at = 1;
    bench_run(&b, 1);
    assert_int_equal(b.llm_starts, 0);
    bench_close(&b);
}

// What was never asked is asked by the next life.
static void a_death_while_it_waits_costs_no_call(void **state)
{
    (void)state;
    bench b;
    begin(&b, 0, PONS_OK);
    for (int i = 0; i < 1000 && asked == 0; i++) {
        bench_run(&b, 0.02);
    }
    bench_kill(&b);
    ready_at = 1;
    bench_brain(&b);
    bench_await(&b, "effect", "state", "accepted", 30);
    assert_string_equal(pictured(&b), NAME);
    bench_close(&b);
}

#define TO(zone)                                                                                   \
    "{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':"                \
    "'navigate_to_pose','args':{'zone':'" zone "'}}]}},"                                           \
    "{'decision':{'type':'FINISH','reason':'there'}}"

// Another goal, from its words to its end: what its first request had, and to whom it may go.
static const char *goal_with(bench *b, const char *words)
{
    static char server[64];
    const int before = b->llm_starts;
    bench_say(b, words);
    for (int i = 0; i < 1000 && b->llm_starts == before; i++) {
        bench_run(b, 0.02);
    }
    snprintf(server, sizeof server, "%s", pons_get_str(b->llm_request, "pictures_allowed", ""));
    assert_true(!pictured(b) == !*server);
    bench_await(b, "task.done", "status", "succeeded", 60);
    return server;
}

static void answer(bench *b, const char *id, const char *action)
{
    pons_autovalue said = pons_object("id", json_string(id), "action", json_string(action), NULL);
    assert_int_equal(pons_brain_answer(b->brain, said, &b->error), PONS_OK);
    bench_await(b, "approval.resolved", "action", action, SOON);
}

static void a_person_is_asked_once_and_nobody_waits(void **state)
{
    (void)state;
    bench b;
    char id[64];
    bench_open(&b, "[" TO("kitchen") "," TO("bedroom") "," TO("kitchen") "," TO("bedroom") "," TO(
                       "kitchen") "]");
    asked = 0;
    ready_at = 1;
    rc_at_last = PONS_OK;
    b.picture = picture;
    b.pictures_to = "models.example";
    b.keep_running = true;
    bench_brain(&b);
    bench_run(&b, 0.5);
    assert_string_equal(goal_with(&b, "go to the kitchen"), ""); // and it went on
    assert_int_equal(asked, 0);
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
    pons_autovalue status = pons_brain_status(b.brain);
    const pons_value *q = json_array_get(pons_get(status, "approvals"), 0);
    assert_string_equal(pons_get_str(q, "question", ""),
                        "may pictures of the robot's cameras go to models.example?");
    assert_null(pons_brain_body_stays(b.brain)); // a body does not wait for it either
    snprintf(id, sizeof id, "%s", pons_get_str(q, "id", ""));
    answer(&b, id, "approve");
    assert_string_equal(goal_with(&b, "go to the bedroom"), "models.example");
    bench_kill(&b);
    bench_brain(&b);
    bench_run(&b, 0.5);
    assert_string_equal(goal_with(&b, "go to the kitchen"), "models.example");
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
    answer(&b, id, "reject"); // takes it back
    assert_string_equal(goal_with(&b, "go to the bedroom"), "");
    bench_kill(&b);
    b.pictures_to = "elsewhere.example";
    bench_brain(&b);
    bench_run(&b, 0.5);
    assert_string_equal(goal_with(&b, "go to the kitchen"), "");
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 2);
    bench_close(&b);
}

// Nothing waits for the pictures' question, so a no while the robot drives is about the drive, answered or not.
static void a_no_while_it_drives_is_a_stop(void **state)
{
    (void)state;
    for (int allowed = 0; allowed < 2; allowed++) {
        bench b;
        bench_open(&b, "[" TO("kitchen") "]");
        asked = 0;
        ready_at = 1;
        rc_at_last = PONS_OK;
        b.picture = picture;
        b.pictures_to = "models.example";
        bench_brain(&b);
        bench_run(&b, 0.5);
        bench_say(&b, "go to the kitchen");
        bench_await(&b, "effect", "state", "accepted", SOON);
        pons_autovalue status = pons_brain_status(b.brain);
        const pons_value *q = json_array_get(pons_get(status, "approvals"), 0);
        assert_non_null(q);
        if (allowed) {
            answer(&b, pons_get_str(q, "id", ""), "approve");
        }
        bench_say(&b, "no");
        bench_await(&b, "stop", NULL, NULL, SOON);
        assert_int_equal(bench_count(&b, "approval.resolved", "action", "reject"), 0);
        bench_close(&b);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decision_waits_for_its_picture),
        cmocka_unit_test(without_one_it_is_made_all_the_same),
        cmocka_unit_test(what_is_cancelled_meanwhile_asks_nobody),
        cmocka_unit_test(a_death_while_it_waits_costs_no_call),
        cmocka_unit_test(a_person_is_asked_once_and_nobody_waits),
        cmocka_unit_test(a_no_while_it_drives_is_a_stop),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("pictures", tests, NULL, NULL);
}
