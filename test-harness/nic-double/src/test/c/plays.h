// What the two processes of a probe do, for the facts that are asked of every provider.

#pragma once

#include "facts.h"

enum { KIB = 1 << 10, MIB = 1 << 20, NEVER_MS = 4000 };

// What `kind` says where a play is of one of several.
enum closing { REGION, ENDPOINT };
enum wrongness { CLOSED, KEY, RANGE };

// The three lengths of writes where there are three: 100 B, 100 KiB, 4 MiB; and the five of completions.
extern const size_t three_sizes[3], five_sizes[5];
extern const char *const five_names[5];

// plays-order.c
void post_many(struct node *node);
void see_writes(struct node *node);
void see_sends(struct node *node);
void write_blocks(struct node *node);
void look_at_blocks(struct node *node);
void write_one(struct node *node);
void see_one(struct node *node);
void complete_each(struct node *node);
void help_as_told(struct node *node);

// plays-fence.c
void write_long(struct node *node);
void close_in_the_middle(struct node *node);
void close_own(struct node *node);
void see_poison(struct node *node);
void write_wrongly(struct node *node);
void be_wrong(struct node *node);

// plays-peer.c
void contact(struct node *node);
void be_contacted(struct node *node);
void write_into_silence(struct node *node);
void be_silent(struct node *node);
void come_back(struct node *node);
void wait_for_three(struct node *node);
void write_to_the_dead(struct node *node);
void be_killed(struct node *node);
void write_to_the_old(struct node *node);
void replace(struct node *node);
void bind_twice(struct node *node);
void do_nothing(struct node *node);
void close_beside(struct node *node);
void stay_silent(struct node *node);

// plays-receive.c
void say_count(struct node *node, size_t count, size_t all, const char *what);
void send_many(struct node *node);
void take_many(struct node *node);
void write_many(struct node *node);
void sleep_over_writes(struct node *node);
void send_two(struct node *node);
void cancel_one(struct node *node);
void read_own(struct node *node);
void be_there(struct node *node);

// plays-limits.c
void alone(struct node *node);
void finish(struct node *node);
void tell_sizes(struct node *node);
void send_immediates(struct node *node);
void see_immediates(struct node *node);
void inject_some(struct node *node);
void take_injected(struct node *node);
void write_injected(struct node *node);
void look_at_injected(struct node *node);
void register_many(struct node *node);
void write_to_offer(struct node *node);
void offer_region(struct node *node);
