// plan_read.c - a plan of a file as `pons plan` and `pons run --plan` take it: read, with its repairs told, and held against
// what is known of the robot and the world before anything moves.
#include "cli/cli.h"
#include "pons/buf.h"
#include "pons/file.h"
#include "pons/plan.h"
#include "pons/schema.h"
#include "pons/yaml.h"

#include <errno.h>
#include <string.h>

enum { READ_BYTES = 1 << 16, BODY_WAIT_MS = 500 };

typedef struct teller { // who prints repairs
    const char *name;   // of the file
    pons_buf filled;    // what was absent and has its default, by name: one line in the end
} teller;

// ---- reading ------------------------------------------------------------------------------------

int cli_plan_text(const char *path, pons_buf *ret, pons_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : pons_file_read(path);
    if (!f) {
        pons_error_set(err, PONS_ENOTFOUND, "plan", "cannot open %s", path);
        return pons_error_cause(err, "%s", pons_file_why(errno));
    }
    int rc = PONS_OK;
    char block[READ_BYTES];
    for (size_t n; rc == PONS_OK && (n = fread(block, 1, sizeof block, f)) > 0;) {
        rc = pons_buf_bytes(ret, block, n);
        if (ret->len > PONS_PLAN_TEXT_MAX) { // the reader says how much is too much
            break;
        }
    }
    if (ferror(f)) {
        rc = pons_error_set(err, PONS_EINVAL, "plan", "cannot read %s", path);
        pons_error_cause(err, "%s", strerror(errno));
    } else if (rc < 0) {
        pons_error_set(err, rc, "plan", "out of memory");
    }
    if (!is_stdin) {
        fclose(f);
    }
    return rc;
}

static void print_repair(void *user, const pons_plan_repair *r)
{
    teller *t = user;
    const bool filled = r->kind == PONS_REPAIR_DEFAULT || r->kind == PONS_REPAIR_NEW_ID ||
                        r->kind == PONS_REPAIR_NEW_TIME;
    if (filled) { // "steps[0].status: absent, the default …"
        pons_buf_printf(&t->filled, "%s%.*s", t->filled.len > 0 ? ", " : "",
                        (int)strcspn(r->what, ":"), r->what);
    } else {
        cli_err("pons: %s:%d:%d: %s: %s\n", t->name, r->line, r->column, pons_repair_word(r->kind),
                r->what);
    }
}

int cli_plan_read(const char *path, const char *goal, cli_plan_tell tell, pons_plan **ret,
                  pons_error *err)
{
    pons_autobuf text = PONS_BUF_INIT;
    const pons_clock clock = pons_clock_real();
    pons_rand rand;
    const char *name = strcmp(path, "-") == 0 ? "stdin" : path;
    int rc = cli_plan_text(path, &text, err);
    if (rc < 0) {
        return rc;
    }
    pons_rand_seed_os(&rand);
    teller t = {.name = name, .filled = PONS_BUF_INIT};
    const pons_plan_read_options options = {
        .goal = goal,
        .from = {.now_s = (double)pons_wall_ms(&clock) / 1e3, .rand = &rand},
        .fn = tell == CLI_PLAN_SILENT ? NULL : print_repair,
        .user = &t};
    rc = pons_plan_read(text.data ? text.data : "", text.len, &options, ret, err);
    if (rc >= 0 && tell == CLI_PLAN_DEFAULTS && t.filled.len > 0) {
        cli_err("pons: %s: default: %s\n", name, t.filled.data);
    }
    pons_buf_fini(&t.filled);
    if (rc < 0) {
        char where[PONS_ERROR_SOURCE_MAX];
        snprintf(where, sizeof where, "%s", err->source);
        pons_error_source(err, "%s%s%s", name, *where ? ":" : "", where);
        rc = err->status = rc == PONS_EEXIST ? PONS_EINVAL : rc;
    }
    return rc;
}

// ---- the critic ---------------------------------------------------------------------------------

static int load_checked(const char *path, const char *schema, pons_value **ret, pons_error *err)
{
    pons_yaml *yaml = NULL;
    pons_schema *compiled = NULL;
    int rc = pons_yaml_load(path, &yaml, err);
    rc = rc < 0 ? rc : pons_schema_shipped(schema, &compiled, err);
    rc = rc < 0 ? rc : pons_schema_check_yaml(compiled, yaml, err);
    if (rc >= 0) {
        *ret = pons_value_ref(pons_yaml_value(yaml));
    }
    pons_schema_destroy(compiled);
    pons_yaml_destroy(yaml);
    return rc;
}

// Of a robot that is only a world's: its size and speeds.
static pons_value *embodiment_of(const pons_value *world)
{
    const pons_value *robot = pons_get(world, "robot"), *radius = pons_get(robot, "radius_m");
    return pons_object("name", json_string(pons_get_str(robot, "id", "this robot")), "radius_m",
                       radius ? pons_value_ref(radius) : NULL, "limits",
                       robot ? pons_value_ref(robot) : NULL, NULL);
}

int cli_plan_judge(cli *c, const pons_plan *p, const char *world_name, const char *embodiment_path,
                   const char *skill_names, pons_verdict **ret, pons_error *err)
{
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    pons_autovalue world = NULL;
    pons_autovalue skills = NULL;
    pons_autovalue embodiment = NULL;
    pons_autovalue config = NULL;
    pons_critic *critic = NULL;
    app_observe(&c->app, BODY_WAIT_MS, &hello, &telemetry);
    int rc = world_name ? app_world(world_name, &world, err) : PONS_OK;
    if (rc >= 0 && embodiment_path) {
        rc = load_checked(embodiment_path, "schemas/embodiment.json", &embodiment, err);
    } else if (rc >= 0 && world) {
        embodiment = embodiment_of(world);
    }
    rc = rc < 0 ? rc : app_config(&c->app, &config, err);
    if (rc < 0) {
        return rc;
    }
    const pons_value *reported = pons_get(hello, "skills");
    app_skills modules = {0};
    rc = reported ? PONS_OK : app_skills_load(skill_names, &modules, err);
    rc = rc >= 0 && !reported ? pons_body_skills(modules.at, modules.n, &skills, err) : rc;
    if (rc < 0) {
        return rc;
    }
    skills = reported ? pons_value_ref(reported) : skills;
    pons_autovalue policy = pons_brain_critic_policy(config);
    // A profile of another body lists that body's own actions: they are no skills of ours.
    const bool foreign = pons_get(embodiment, "supported_actions") != NULL;
    const pons_critic_options o = {.skills = foreign ? NULL : skills,
                                   .embodiment = embodiment,
                                   .world = world,
                                   .policy = policy};
    // On paper: what is true at this moment (a latch, the battery) is the run's to see.
    const pons_critic_situation now = {.robot = NULL};
    rc = pons_critic_create(&o, &critic, err);
    rc = rc < 0 ? rc : pons_critic_judge_plan(critic, p, &now, ret, err);
    pons_critic_destroy(critic);
    return rc;
}

void cli_plan_verdict(const pons_verdict *v)
{
    pons_each(rule, pons_verdict_rules(v)) {
        const int64_t step = pons_get_int(rule, "step_id", -1);
        cli_err("pons: plan: ");
        if (step >= 0) {
            cli_err("step %lld, %s: ", (long long)step, pons_get_str(rule, "skill", ""));
        }
        cli_err("%s: %s\n", pons_get_str(rule, "rule", ""), pons_get_str(rule, "message", ""));
    }
    pons_each(rule, pons_verdict_approvals(v)) {
        cli_err("pons: plan: a person is asked: %s\n", pons_get_str(rule, "message", ""));
    }
}
