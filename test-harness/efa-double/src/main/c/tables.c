#include "tables.h"

const struct wire_kind wire_kind = {.name = "efa-double", .version = 1, .bytes = sizeof(struct efa_tables)};
