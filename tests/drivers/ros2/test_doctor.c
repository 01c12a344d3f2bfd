// test_doctor.c - `pons doctor` on a robot whose goals cannot work: its services use an RMW that this installation does not
// speak, or nobody publishes on the topic of Nav2's last stage. The test plays the robot's servers; the program is real.
#include "peer.h"
#include "pons/module.h"
#include "ros2.h"
#include "server.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char ns[32], workspace[64];
static uint32_t domain;
static char printed[1 << 16];

static void shell(const char *words)
{
    char line[2048];
    snprintf(line, sizeof line, "%s", words);
    FILE *p = popen(line, "re");
    assert_non_null(p);
    const size_t n = fread(printed, 1, sizeof printed - 1, p);
    printed[n] = '\0';
    pclose(p);
}

// Finds the printed line that begins with this text. Returns the rest of the line.
static const char *line_of(const char *begin)
{
    static char line[512];
    const char *at = strstr(printed, begin);
    if (!at) {
        fail_msg("no '%s' in\n%s", begin, printed);
        return "";
    }
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

static void says(const char *begin, const char *words)
{
    if (!strstr(line_of(begin), words)) {
        fail_msg("'%s' has no '%s'", line_of(begin), words);
    }
}

// Runs `pons doctor` from a folder with its own modules. "": from the build.
static void doctor(const char *installed)
{
    char words[512];
    if (*installed) {
        snprintf(words, sizeof words,
                 "PONS_MODULE_PATH=%s/modules %s/bin/pons doctor --workspace %s", installed,
                 installed, workspace);
    } else {
        snprintf(words, sizeof words, PONS_BINARY_DIR "/pons doctor --workspace %s", workspace);
    }
    shell(words);
}

static void open_workspace(void)
{
    char yaml[128];
    snprintf(yaml, sizeof yaml, "domain: %u\nnamespace: %s\n", domain, ns);
    peer_workspace(yaml, workspace);
}

static void close_workspace(void)
{
    char words[128];
    snprintf(words, sizeof words, "rm -r %s", workspace);
    shell(words);
}

static void test_nobody_publishes_where_nav2_should(void **state)
{
    (void)state;
    char serves[64], wants[64], line[128];
    pons_error err = PONS_ERROR_INIT;
    ros2_node n = {0};
    server s = {0};
    ros2_types *types = peer_types("jazzy");
    open_workspace();
    snprintf(serves, sizeof serves, "%s/navigate_to_pose", ns);
    snprintf(wants, sizeof wants, "%s/cmd_vel_nav2", ns);
    assert_int_equal(ros2_node_open(&n, domain, &err), PONS_OK);
    server_open(&s, &n, types, serves, "nav2_msgs/action/NavigateToPose");
    doctor("");
    snprintf(line, sizeof line, "%s: nobody publishes it, Nav2 should", wants);
    says("absent   ros2 nav2", line);
    assert_non_null(strstr(printed, "`pons ros2 setup` writes nav2.launch.py"));
    assert_int_not_equal(ros2_node_writer(&n, "rt", wants, NULL,
                                          &geometry_msgs_msg_dds__Twist__desc,
                                          (ros2_qos){.reliable = true, .depth = 1}, &err),
                         0);
    doctor("");
    snprintf(line, sizeof line, "%s is published", wants);
    says("ok       ros2 nav2", line);
    server_close(&s);
    ros2_node_close(&n);
    ros2_types_destroy(types);
    close_workspace();
}

static void nothing_came(void *user)
{
    (void)user;
}

// An action server's services as rmw_fastrtps names them.
static ros2_fast *fast_server(const ros2_fast_ops *ops)
{
    ros2_fast *f = NULL;
    char why[128] = "", topics[2][96];
    snprintf(topics[0], sizeof topics[0], "rq%s/navigate_to_pose/_action/send_goalRequest", ns);
    snprintf(topics[1], sizeof topics[1], "rr%s/navigate_to_pose/_action/send_goalReply", ns);
    if (ops->open(domain, nothing_came, NULL, &f, why, sizeof why) < 0) {
        fail_msg("%s", why);
    }
    const ros2_fast_service s = {
        .topics = {topics[0], topics[1]},
        .types = {"nav2_msgs::action::dds_::NavigateToPose_SendGoal_Request_",
                  "nav2_msgs::action::dds_::NavigateToPose_SendGoal_Response_"},
        .says = {"", ""},
        .serves = true};
    assert_non_null(ops->end(f, &s));
    return f;
}

static void test_a_missing_module(void **state)
{
    (void)state;
    const void *found = NULL;
    char installed[] = "/tmp/pons-doctor-XXXXXX", words[1024];
    if (pons_module_load("dds", "fast", &found, NULL) < 0) {
        print_message("skipped: built without Fast DDS\n");
        skip();
    }
    const ros2_fast_ops *ops = found;
    open_workspace();
    ros2_fast *f = fast_server(ops);
    doctor("");
    says("ok       ros2 network", "rmw_fastrtps_cpp 1, others 0");
    says("ok       dds fast", "services of rmw_fastrtps_cpp work");

    assert_non_null(mkdtemp(installed));
    snprintf(words, sizeof words,
             "mkdir %s/bin %s/modules && ln -s " PONS_BINARY_DIR "/lib/pons/*.so %s/modules && rm "
             "%s/modules/dds-fast.so && { ln " PONS_BINARY_DIR
             "/pons %s/bin/pons 2>/dev/null || cp " PONS_BINARY_DIR "/pons %s/bin/pons; }",
             installed, installed, installed, installed, installed, installed);
    shell(words);
    doctor(installed);
    says("ok       ros2 network", "rmw_fastrtps_cpp 1, others 0");
    says("absent   dds fast", "the module dds-fast is not installed");
    assert_non_null(strstr(printed, "without it no goal, no service and no parameter of this robot "
                                    "works, only topics: install pons-ros2"));
    ops->close(f);
    snprintf(words, sizeof words, "rm -r %s", installed);
    shell(words);
    close_workspace();
}

int main(void)
{
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    unsetenv("AMENT_PREFIX_PATH");
    peer_surroundings(ns, &domain);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_publishes_where_nav2_should),
        cmocka_unit_test(test_a_missing_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
