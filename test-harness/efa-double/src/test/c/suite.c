#include "nics.h"

static const struct test_case *const groups[] = {object_cases, posting_cases, data_cases,   queue_cases, status_cases,
                                                 fault_cases,  timing_cases,  wire_cases,   NULL};

const struct suite suite = {.name = "efa-double", .variables = "EFA_DOUBLE_", .groups = groups};
