#include "nics.h"

static const struct test_case *const groups[] = {object_cases, state_cases, posting_cases,    data_cases,
                                                 error_cases,  fault_cases, connection_cases, connection_rule_cases,
                                                 NULL};

const struct suite suite = {.name = "verbs-double", .variables = "VERBS_DOUBLE_", .groups = groups};
