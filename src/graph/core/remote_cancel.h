// remote_cancel.h - requests to cancel that come through a thread's inbox.
#ifndef PONS_GRAPH_CORE_REMOTE_CANCEL_H
#define PONS_GRAPH_CORE_REMOTE_CANCEL_H

#include "graph/core/thread.h"

int pons__cancel_heeded(pons_thread *t, pons_error *err); // they have done what they were for

#endif
