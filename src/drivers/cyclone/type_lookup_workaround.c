// type_lookup_workaround.c - answers about types are not read.
//
// Fast DDS 3 (Kilted) answers who asks it about a type on a topic that everybody hears, and Debian 12's Cyclone DDS (0.10.2)
// reads through NULL in an answer about a type that it has not. pons describes no types and asks about none (dds_node.c), so
// the function that Cyclone calls with such an answer is this one: a module's own symbols come before those of its libraries.
struct ddsi_domaingv;
struct ddsi_serdata;

__attribute__((visibility("default"))) void ddsi_tl_handle_reply(struct ddsi_domaingv *gv,
                                                                 struct ddsi_serdata *answer);

void ddsi_tl_handle_reply(struct ddsi_domaingv *gv, struct ddsi_serdata *answer)
{
    (void)gv;
    (void)answer;
}
