// expectations.c - what a scenario must have shown, and what must hold in every one of them.
//
// The judge reads three things that no brain can touch up: the events as they were shown, the
// body's ledger, and the simulated truth.
#include "scenario/checks/expectations.h"

#include "pons/ledger_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pons__story_init(pons__story *s)
{
    *s = (pons__story){.decisions = json_array(),
                       .sources = json_array(),
                       .modes = json_array(),
                       .types = json_object(),
                       .effects = json_object(),
                       .said = json_array(),
                       .results = json_array(),
                       .nodes = json_array()};
}

void pons__story_fini(pons__story *s)
{
    pons_value_unref(s->decisions);
    pons_value_unref(s->sources);
    pons_value_unref(s->modes);
    pons_value_unref(s->types);
    pons_value_unref(s->effects);
    pons_value_unref(s->said);
    pons_value_unref(s->results);
    pons_value_unref(s->nodes);
}

static void count(pons_value *counts, const char *word)
{
    json_object_set_new(counts, word, json_integer(pons_get_int(counts, word, 0) + 1));
}

void pons__story_event(pons__story *s, const pons_event *ev)
{
    const pons_value *p = ev->payload;
    count(s->types, ev->type);
    if (strcmp(ev->type, "decision") == 0) {
        json_array_append_new(s->decisions,
                              json_string(pons_get_str(pons_get(p, "decision"), "type", "")));
        json_array_append_new(s->sources, json_string(pons_get_str(p, "source", "")));
    } else if (strcmp(ev->type, "mode") == 0) {
        json_array_append_new(s->modes, json_string(pons_get_str(p, "mode", "")));
    } else if (strcmp(ev->type, "effect") == 0) {
        char word[160];
        snprintf(word, sizeof word, "%s %s", pons_get_str(p, "skill", ""),
                 pons_get_str(p, "state", ""));
        count(s->effects, word);
    } else if (strcmp(ev->type, "speak") == 0) {
        json_array_append_new(s->said, json_string(pons_get_str(p, "text", "")));
    } else if (strcmp(ev->type, "run.done") == 0) {
        snprintf(s->status_buf, sizeof s->status_buf, "%s", pons_get_str(p, "status", ""));
        s->status = s->status_buf;
    }
}

static void miss(pons_value *misses, pons_value *text_taken)
{
    json_array_append_new(misses, text_taken);
}

// The wanted words must appear in this order; what lies between them is free, repeats are one.
static void expect_sequence(const pons_value *wanted, const pons_value *got, const char *what,
                            pons_value *misses)
{
    size_t at = 0;
    const size_t n = json_array_size(wanted);
    for (size_t i = 0; i < json_array_size(got) && at < n; i++) {
        at += json_equal(json_array_get(wanted, at), json_array_get(got, i)) != 0;
    }
    if (at < n) {
        char *text = NULL;
        if (pons_value_line(got, &text) < 0) {
            text = NULL;
        }
        miss(misses, json_sprintf("%s: no %s at place %zu of the expected order; got %s", what,
                                  json_string_value(json_array_get(wanted, at)), at + 1,
                                  text ? text : "?"));
        free(text);
    }
}

// Each wanted result must be among those that came, in this order; a member that is not given may
// be anything.
static void expect_results(const pons_value *wanted, const pons_value *got, pons_value *misses)
{
    size_t at = 0;
    const size_t n = json_array_size(wanted);
    for (size_t i = 0; i < json_array_size(got) && at < n; i++) {
        bool fits = true;
        pons_each_member(key, value, json_array_get(wanted, at)) {
            const char *part = strcmp(key, "says") == 0 ? json_string_value(value) : NULL;
            const pons_value *have = pons_get(json_array_get(got, i), part ? "error_msg" : key);
            fits = fits && (part ? strstr(have ? json_string_value(have) : "", part) != NULL
                                 : json_equal(have, value) != 0);
        }
        at += fits;
    }
    if (at < n) {
        char *want = NULL, *have = NULL;
        pons_value_line(json_array_get(wanted, at), &want);
        pons_value_line(got, &have);
        miss(misses, json_sprintf("results: no %s; got %s", want ? want : "?", have ? have : "?"));
        free(want);
        free(have);
    }
}

static void expect_words(const pons_value *wanted, const pons_value *counts, const char *what,
                         bool there, pons_value *misses)
{
    pons_each(word, wanted) {
        if ((pons_get(counts, json_string_value(word)) != NULL) != there) {
            miss(misses, json_sprintf("%s %s %s", there ? "no" : "an unexpected", what,
                                      json_string_value(word)));
        }
    }
}

static void expect_said(const char *said, const pons__story *story, pons_value *misses)
{
    bool received = !said;
    pons_each(word, story->said) {
        received = received || strcmp(json_string_value(word), said) == 0;
    }
    if (!received) {
        miss(misses, json_sprintf("nobody said “%s”", said));
    }
}

static void expect_place(const pons_value *expect, const pons_value *world, pons_pose2 truth,
                         pons_value *misses)
{
    const char *zone = pons_get_str(expect, "in_zone", NULL);
    if (zone && !pons__judge_in_zone(world, zone, truth)) {
        miss(misses, json_sprintf("the robot is at %.2f, %.2f, not in %s", truth.x, truth.y, zone));
    }
    const pons_value *at = pons_get(expect, "at");
    const double x = pons_get_num(at, "x", NAN), y = pons_get_num(at, "y", NAN),
                 within_m = pons_get_num(at, "within_m", NAN);
    if (at && !(hypot(x - truth.x, y - truth.y) <= within_m)) {
        miss(misses, json_sprintf("the robot is at %.2f, %.2f, not within %g m of %g, %g", truth.x,
                                  truth.y, within_m, x, y));
    }
}

void pons__judge_expect(const pons_scenario *s, const pons__story *story, const pons_value *world,
                        pons_pose2 truth, pons_value *misses)
{
    const pons_value *expect = pons_get(s->value, "expect");
    const char *wanted = pons_get_str(expect, "status", "succeeded");
    const char *got = story->status ? story->status : "unfinished";
    const bool over = strcmp(wanted, "over") == 0 && strcmp(got, "unfinished") != 0 &&
                      strcmp(got, "waiting") != 0;
    if (!over && strcmp(wanted, got) != 0) {
        miss(misses, json_sprintf("status is %s, expected %s", got, wanted));
    }
    expect_sequence(pons_get(expect, "decisions"), story->decisions, "decisions", misses);
    expect_sequence(pons_get(expect, "sources"), story->sources, "sources", misses);
    expect_sequence(pons_get(expect, "modes"), story->modes, "modes", misses);
    pons_autovalue decided = json_object();
    pons_each(word, story->decisions) {
        count(decided, json_string_value(word));
    }
    const size_t decisions_max = (size_t)pons_get_int(expect, "decisions_max", INT64_MAX);
    if (json_array_size(story->decisions) > decisions_max) {
        miss(misses, json_sprintf("%zu decisions, at most %zu expected",
                                  json_array_size(story->decisions), decisions_max));
    }
    const double within_s = pons_get_num(expect, "within_s", INFINITY);
    if (story->robot_s > within_s) {
        miss(misses,
             json_sprintf("it took %.1f s, at most %.1f expected", story->robot_s, within_s));
    }
    const double stood_s = pons_get_num(expect, "stood_s", 0.0);
    if (story->stood_s < stood_s) {
        miss(misses, json_sprintf("it stood for %.1f s on its way, at least %.1f expected",
                                  story->stood_s, stood_s));
    }
    expect_words(pons_get(expect, "decisions_include"), decided, "decision", true, misses);
    expect_words(pons_get(expect, "events_include"), story->types, "event", true, misses);
    expect_words(pons_get(expect, "events_exclude"), story->types, "event", false, misses);
    expect_words(pons_get(expect, "effects_include"), story->effects, "effect", true, misses);
    expect_sequence(pons_get(expect, "nodes"), story->nodes, "nodes", misses);
    expect_results(pons_get(expect, "results"), story->results, misses);
    const pons_value *trees = pons_get(expect, "trees");
    if (trees && json_integer_value(trees) != story->trees) {
        miss(misses, json_sprintf("%lld trees began, expected %lld", (long long)story->trees,
                                  (long long)json_integer_value(trees)));
    }
    expect_said(pons_get_str(expect, "said", NULL), story, misses);
    expect_place(expect, world, truth, misses);
    const pons_value *kills = pons_get(expect, "kills");
    if (kills && json_integer_value(kills) != story->kills_reported) {
        miss(misses, json_sprintf("%lld kills, expected %lld", (long long)story->kills_reported,
                                  (long long)json_integer_value(kills)));
    }
}

// One transition of a goal. started: {goal id: true}; open_goal: {task id: {goal_id, boot_id}} of a
// goal without an end.
static void judge_line(const pons_ledger_line *l, pons_value *started, pons_value *open_goal,
                       pons_value *results, pons_value *misses)
{
    const bool base = pons__judge_moves(l->skill);
    const pons_value *before = base ? pons_get(open_goal, l->task_id) : NULL;
    if (l->state == PONS_GOAL_STARTED) {
        if (pons_get(started, l->goal_id)) {
            miss(misses, json_sprintf("goal %s started twice", l->goal_id));
        }
        json_object_set_new(started, l->goal_id, json_true());
        if (before && strcmp(pons_get_str(before, "boot_id", ""), l->boot_id) == 0) {
            miss(misses, json_sprintf("goal %s of task %s started while goal %s was under way",
                                      l->goal_id, l->task_id, pons_get_str(before, "goal_id", "")));
        }
        if (base) {
            json_object_set_new(open_goal, l->task_id,
                                pons_object("goal_id", json_string(l->goal_id), "boot_id",
                                            json_string(l->boot_id), NULL));
        }
        return;
    }
    if (!pons_goal_over((pons_goal_state)l->state)) {
        return;
    }
    if (results) {
        json_array_append_new(results,
                              pons_object("skill", json_string(l->skill), "status",
                                          json_string(pons_goal_states[l->state]), "error_code",
                                          json_integer(l->end.error_code), "error_msg",
                                          json_string(l->end.error_msg), NULL));
    }
    before = pons_get(open_goal, l->task_id);
    if (strcmp(pons_get_str(before, "goal_id", ""), l->goal_id) == 0) {
        json_object_del(open_goal, l->task_id);
    }
}

int64_t pons__judge_ledger(const char *ledger_path, pons_value *results, pons_value *misses)
{
    FILE *f = fopen(ledger_path, "r");
    pons_autovalue started = json_object(); // goal id → true
    pons_autovalue open_goal =
        json_object(); // task id → {goal_id, boot_id} of a goal without an end
    int64_t starts = 0;
    pons_error err = PONS_ERROR_INIT;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    if (!f) {
        miss(misses, json_sprintf("there is no ledger at %s", ledger_path));
        return 0;
    }
    while ((n = getline(&line, &cap, f)) > 0) {
        pons_autovalue row = NULL;
        if (pons_value_parse(line, (size_t)n, &row, NULL) < 0) {
            miss(misses, json_string("the ledger has a line that is not JSON"));
            continue;
        }
        if (!pons_ledger_about_goal(row)) {
            continue;
        }
        pons_ledger_line l;
        if (pons_ledger_line_decode(row, &l, &err) < 0) {
            miss(misses, json_string(err.message));
            continue;
        }
        starts += l.state == PONS_GOAL_STARTED;
        judge_line(&l, started, open_goal, results, misses);
    }
    free(line);
    fclose(f);
    return starts;
}

// stop_base ends motions; the others have nothing to do with the base.
bool pons__judge_moves(const char *skill)
{
    static const char *const still[] = {"speak", "wait", "look", "stop_base"};
    for (size_t i = 0; i < sizeof still / sizeof still[0]; i++) {
        if (strcmp(skill, still[i]) == 0) {
            return false;
        }
    }
    return true;
}

bool pons__judge_in_zone(const pons_value *world, const char *zone, pons_pose2 p)
{
    pons_each(z, pons_get(world, "zones")) {
        if (strcmp(pons_get_str(z, "id", ""), zone) != 0) {
            continue;
        }
        return pons_polygon_contains(pons_get(z, "polygon"), p.x, p.y);
    }
    return false;
}
