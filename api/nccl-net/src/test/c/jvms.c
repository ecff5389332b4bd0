// Programs that have a JVM of their own before they load the plugin.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

// As jni.h has them; to compile this needs no JDK.
typedef struct {
  char *text;
  void *extra;
} jvm_option;

typedef struct {
  int version;
  int count;
  jvm_option *options;
  unsigned char ignore_unknown;
} jvm_arguments;

typedef const struct {
  void *reserved[3];
  int (*destroy)(void *vm);
} *jvm;

enum { MAX_OPTIONS = 8, TEXT_BYTES = 1024 };

// The JVM of a Java home, with options.
static jvm *create_jvm(const char *home, char options[][TEXT_BYTES], int count) {
  enum { VERSION_10 = 0x000a0000 };
  jvm_option list[MAX_OPTIONS];
  for (int i = 0; i < count; i++) {
    list[i] = (jvm_option){options[i], NULL};
  }
  jvm_arguments arguments = {.version = VERSION_10, .count = count, .options = list};
  char path[1024];
  snprintf(path, sizeof path, "%s/lib/server/libjvm.so", home);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  check(library != NULL, "%s", dlerror());
  int (*create)(jvm **, void **, void *) = dlsym(library, "JNI_CreateJavaVM");
  check(create != NULL, "no JNI_CreateJavaVM");
  jvm *vm = NULL;
  void *env = NULL;
  check(create(&vm, &env, &arguments) == 0, "no JVM");
  return vm;
}

// The program's own JVM, with the plugin's modules, serves the plugin, and is gone when the process ends.
void foreign_jvm(side *s) {
  char folder[512], options[3][TEXT_BYTES];
  snprintf(folder, sizeof folder, "%s", s->plugin);
  *strrchr(folder, '/') = 0;
  snprintf(options[0], TEXT_BYTES, "-XX:VMOptionsFile=%s/jvm.options", folder);
  snprintf(options[1], TEXT_BYTES, "--module-path=%s/modules", folder);
  snprintf(options[2], TEXT_BYTES, "--illegal-native-access=deny");
  jvm *vm = create_jvm(getenv("JOFI_JAVA_HOME"), options, 3);
  side_open(s);
  side_close(s);
  check(warnings() == 0, "%d warnings", warnings());
  check((*vm)->destroy(vm) == 0, "the JVM stays");
}

// A JVM of HOST_JAVA_HOME with HOST_JVM_OPTIONS, words separated by spaces, cannot serve it.
void refused_in_jvm(side *s) {
  char options[MAX_OPTIONS][TEXT_BYTES];
  char words[TEXT_BYTES] = "";
  int count = 0;
  snprintf(words, sizeof words, "%s", getenv("HOST_JVM_OPTIONS") == NULL ? "" : getenv("HOST_JVM_OPTIONS"));
  char *rest = NULL;
  for (char *word = strtok_r(words, " ", &rest); word != NULL && count < MAX_OPTIONS; word = strtok_r(NULL, " ", &rest)) {
    snprintf(options[count++], TEXT_BYTES, "%s", word);
  }
  create_jvm(getenv("HOST_JAVA_HOME"), options, count);
  refused(s);
}
