// The signals by which a JVM runs: compiled code reads a forbidden page where it is to stop.
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>

// Whether a JVM of this libjvm.so, which this library is to create, can do with handlers in front of its own. It need
// not if the program has loaded libjsig.so.
bool can_take_faults(void *libjvm);

// Takes them, before the JVM is created. What is not the JVM's goes to whatever handled it before.
void take_faults(void);

// If there is no JVM after all.
void give_faults_back(void);

// Looks whether the program has changed them since. If it restored the default, they are taken again. True once for each
// way to change them, with what there is to say.
bool faults_changed(char *words, size_t size);

#endif
