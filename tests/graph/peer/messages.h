// messages.h - a case of messages.py's: what pons makes of it.
#ifndef TESTS_GRAPH_PEER_MESSAGES_H
#define TESTS_GRAPH_PEER_MESSAGES_H

#include "pons/value.h"

pons_value *peer_messages(const pons_value *line);

#endif
