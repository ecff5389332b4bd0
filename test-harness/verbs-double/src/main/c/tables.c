#include "tables.h"

#include <stdio.h>

// Where the system's own ports begin that nobody chooses, too.
enum { FIRST_PORT = 40000 };

static void initialize(struct wire *wire) {
  wire_share(&tables_of(wire)->cm_lock);
  tables_of(wire)->next_port = FIRST_PORT;
}

static void print_more(struct wire *wire) {
  const struct verbs_tables *tables = tables_of(wire);
  printf(" retried %lu connects %lu rejects %lu disconnects %lu", tables->retried, tables->connects, tables->rejects,
         tables->disconnects);
}

const struct wire_kind wire_kind = {.name = "verbs-double",
                                    .version = 1,
                                    .bytes = sizeof(struct verbs_tables),
                                    .initialize = initialize,
                                    .print_more = print_more};
