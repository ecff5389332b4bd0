// A JVM that the host program made: the program is in Java, or has an interpreter of it.
#ifndef HOST_JVM_H
#define HOST_JVM_H

#include <jni.h>

#define BOOT_CLASS "org/jofi/nccl/Boot"

enum { REASON_BYTES = 4096 };

// The Java half, ready to be called, in the host program's JVM: among the program's own classes or modules, or else
// loaded from the folder 'modules'. NULL if it cannot be had, with the reason and what to do about it.
jclass host_jvm_boot(JNIEnv *env, const char *folder, char reason[REASON_BYTES]);

// Describes the pending exception, which is then over.
void java_exception(JNIEnv *env, char words[REASON_BYTES]);

#endif
