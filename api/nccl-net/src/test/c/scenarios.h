#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "harness.h"

// Each is run by both processes of a pair, with the plugin open.
void sizes(side *s);
void in_flight(side *s);
void groups(side *s);
void flushes(side *s);
void service_thread(side *s);
void four_at_once(side *s);
void listener_again(side *s);
void close_in_flight(side *s);
void too_long(side *s);
void stale_handles(side *s);
void again(side *s);
void some_churn(side *s);
void churn(side *s);
void peer_killed(side *s);
void rails(side *s);
void fork_then_call(side *s);
void children_exit(side *s);
void handlers_reset(side *s);
void finalize_in_flight(side *s);
void files_close_on_exec(side *s);

// Each is run by one process, with nothing loaded.
void host_unchanged(side *s);
void faults_of_program(side *s);
void foreign_jvm(side *s);
void refused_in_jvm(side *s);
void older(side *s);
void early_calls(side *s);
void refused(side *s);
void boundary(side *s);
void start(side *s);
void small_stacks(side *s);
void exit_open(side *s);
void killed_open(side *s);

#endif
