// The plugin in a JVM that the host program made. What that was started with is the program's affair. So jofi's jars are
// loaded by a class loader of their own, unless they are among the program's, and what the JVM does not allow is said
// before NCCL relies on this network.

#include "host_jvm.h"
#include "libfabric.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JAVA_NEEDED = 25, LOCAL_REFERENCES = 64 };

#define NATIVE_ACCESS_FLAG "--enable-native-access=ALL-UNNAMED"

void java_exception(JNIEnv *env, char words[REASON_BYTES]) {
  snprintf(words, REASON_BYTES, "no exception");
  jthrowable thrown = (*env)->ExceptionOccurred(env);
  if (thrown == NULL) {
    return;
  }
  (*env)->ExceptionClear(env);
  jmethodID to_string = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, thrown), "toString",
                                            "()Ljava/lang/String;");
  jstring text = to_string == NULL ? NULL : (*env)->CallObjectMethod(env, thrown, to_string);
  const char *characters = text == NULL ? NULL : (*env)->GetStringUTFChars(env, text, NULL);
  (*env)->ExceptionClear(env);
  snprintf(words, REASON_BYTES, "%s", characters == NULL ? "an exception that cannot be told" : characters);
  if (characters != NULL) {
    (*env)->ReleaseStringUTFChars(env, text, characters);
  }
}

// --- Calls of Java ----------------------------------------------------------------------------------------------------

// Each gives NULL if an exception is pending, or leaves one pending.

static jobject call_static(JNIEnv *env, jclass type, const char *method, const char *signature, ...) {
  if (type == NULL || (*env)->ExceptionCheck(env)) {
    return NULL;
  }
  jmethodID id = (*env)->GetStaticMethodID(env, type, method, signature);
  if (id == NULL) {
    return NULL;
  }
  va_list arguments;
  va_start(arguments, signature);
  jobject result = (*env)->CallStaticObjectMethodV(env, type, id, arguments);
  va_end(arguments);
  return result;
}

static jobject call(JNIEnv *env, jobject of, const char *method, const char *signature, ...) {
  if (of == NULL || (*env)->ExceptionCheck(env)) {
    return NULL;
  }
  jmethodID id = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, of), method, signature);
  if (id == NULL) {
    return NULL;
  }
  va_list arguments;
  va_start(arguments, signature);
  jobject result = (*env)->CallObjectMethodV(env, of, id, arguments);
  va_end(arguments);
  return result;
}

static jobject new_object(JNIEnv *env, const char *name, const char *signature, ...) {
  jclass type = (*env)->ExceptionCheck(env) ? NULL : (*env)->FindClass(env, name);
  jmethodID id = type == NULL ? NULL : (*env)->GetMethodID(env, type, "<init>", signature);
  if (id == NULL) {
    return NULL;
  }
  va_list arguments;
  va_start(arguments, signature);
  jobject result = (*env)->NewObjectV(env, type, id, arguments);
  va_end(arguments);
  return result;
}

static jclass find(JNIEnv *env, const char *name) {
  return (*env)->ExceptionCheck(env) ? NULL : (*env)->FindClass(env, name);
}

static jstring text(JNIEnv *env, const char *characters) {
  return (*env)->ExceptionCheck(env) ? NULL : (*env)->NewStringUTF(env, characters);
}

// Copies a string, if there is one, and tells whether there is.
static bool copy(JNIEnv *env, jstring from, char to[REASON_BYTES]) {
  const char *characters = from == NULL ? NULL : (*env)->GetStringUTFChars(env, from, NULL);
  if (characters == NULL) {
    return false;
  }
  snprintf(to, REASON_BYTES, "%s", characters);
  (*env)->ReleaseStringUTFChars(env, from, characters);
  return true;
}

static bool property(JNIEnv *env, const char *name, char value[REASON_BYTES]) {
  jstring found = call_static(env, find(env, "java/lang/System"), "getProperty",
                              "(Ljava/lang/String;)Ljava/lang/String;", text(env, name));
  return copy(env, found, value);
}

// --- What the JVM is --------------------------------------------------------------------------------------------------

// Told by a number, since a JVM that is too old says no more of jofi's classes than which version their format has.
static bool is_new_enough(JNIEnv *env, char reason[REASON_BYTES]) {
  char version[REASON_BYTES], home[REASON_BYTES];
  if (!property(env, "java.specification.version", version) || !property(env, "java.home", home)) {
    java_exception(env, version);
    snprintf(reason, REASON_BYTES, "it does not tell its version: %.1024s", version);
    return false;
  }
  if (strtol(version, NULL, 10) < JAVA_NEEDED) {
    snprintf(reason, REASON_BYTES,
             "it is a Java %.64s (%.1024s): jofi needs a Java %d. Start the program with a JDK %d", version,
             home, JAVA_NEEDED, JAVA_NEEDED);
    return false;
  }
  return true;
}

// --- Its classes ------------------------------------------------------------------------------------------------------

static jobject url_of(JNIEnv *env, const char *path) {
  jobject file = new_object(env, "java/io/File", "(Ljava/lang/String;)V", text(env, path));
  jobject uri = call(env, file, "toURI", "()Ljava/net/URI;");
  return call(env, uri, "toURL", "()Ljava/net/URL;");
}

// The jars, and folders of classes, in a folder; as a java.util.List.
static jobject urls_in(JNIEnv *env, const char *folder) {
  jobject urls = new_object(env, "java/util/ArrayList", "()V");
  DIR *directory = opendir(folder);
  if (directory == NULL) {
    return urls;
  }
  jmethodID add =
      urls == NULL ? NULL : (*env)->GetMethodID(env, (*env)->GetObjectClass(env, urls), "add", "(Ljava/lang/Object;)Z");
  for (struct dirent *entry = readdir(directory); entry != NULL && add != NULL; entry = readdir(directory)) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    (*env)->PushLocalFrame(env, LOCAL_REFERENCES);
    jobject url = entry->d_name[0] == '.' ? NULL : url_of(env, path);
    if (url != NULL) {
      (*env)->CallBooleanMethod(env, urls, add, url);
    }
    (*env)->PopLocalFrame(env, NULL);
  }
  closedir(directory);
  return urls;
}

// A class loader for the jars in the folder 'modules'. Its parent has the JDK's classes and none of the program's, which
// may have other versions of the same.
static jobject new_loader(JNIEnv *env, const char *folder) {
  char modules[PATH_MAX + 16];
  snprintf(modules, sizeof modules, "%s/modules", folder);
  jobject list = urls_in(env, modules);
  jclass element = find(env, "java/net/URL");
  jobjectArray none = element == NULL ? NULL : (*env)->NewObjectArray(env, 0, element, NULL);
  jobject urls = call(env, list, "toArray", "([Ljava/lang/Object;)[Ljava/lang/Object;", none);
  jclass loaders = find(env, "java/lang/ClassLoader");
  jobject parent = call_static(env, loaders, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
  return new_object(env, "java/net/URLClassLoader", "(Ljava/lang/String;[Ljava/net/URL;Ljava/lang/ClassLoader;)V",
                    text(env, "jofi"), urls, parent);
}

// A class by a loader, without running anything of it.
static jclass load(JNIEnv *env, jobject loader, const char *name) {
  return call_static(env, find(env, "java/lang/Class"), "forName",
                     "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;", text(env, name),
                     (jboolean)JNI_FALSE, loader);
}

// The loader that has the Java half: the program's, if it does, or one for the folder.
static jobject loader_of_boot(JNIEnv *env, const char *folder) {
  jclass loaders = find(env, "java/lang/ClassLoader");
  jobject programs = call_static(env, loaders, "getSystemClassLoader", "()Ljava/lang/ClassLoader;");
  if (load(env, programs, "org.jofi.nccl.Boot") != NULL) {
    return programs;
  }
  (*env)->ExceptionClear(env);
  return new_loader(env, folder);
}

// --- What it allows ---------------------------------------------------------------------------------------------------

// A JVM that does not allow native access at all says so now. One that merely warns of it prints its warning, once.
static bool allows_native_access(JNIEnv *env, jobject loader, const char *folder, char reason[REASON_BYTES]) {
  jclass type = load(env, loader, "org.jofi.nccl.NativeAccess");
  jstring refused = call_static(env, type, "refusal", "()Ljava/lang/String;");
  char words[REASON_BYTES];
  if (!copy(env, refused, words)) {
    return !(*env)->ExceptionCheck(env);
  }
  // On the program's module path, jofi's modules have names.
  char options[REASON_BYTES / 2];
  snprintf(options, sizeof options, "the options in %.1024s/jvm.options", folder);
  snprintf(reason, REASON_BYTES, "it does not let jofi call native code (%.1024s). Start the program with %s", words,
           strstr(words, "unnamed module") != NULL ? NATIVE_ACCESS_FLAG : options);
  return false;
}

// The libfabric in the folder, as the option of the plugin's own JVM names it.
static void choose_libfabric(JNIEnv *env, const char *folder) {
  char library[LIBFABRIC_BYTES], chosen[REASON_BYTES];
  if (folders_libfabric(folder, library) && !property(env, "jofi.libfabric", chosen)) {
    call_static(env, find(env, "java/lang/System"), "setProperty",
                "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;", text(env, "jofi.libfabric"),
                text(env, library));
  }
}

static jclass ready_boot(JNIEnv *env, const char *folder, char reason[REASON_BYTES]) {
  if (!is_new_enough(env, reason)) {
    return NULL;
  }
  jobject loader = loader_of_boot(env, folder);
  jclass boot = load(env, loader, "org.jofi.nccl.Boot");
  if (boot == NULL) {
    char words[REASON_BYTES];
    java_exception(env, words);
    snprintf(reason, REASON_BYTES,
             "org.jofi.nccl is neither among its classes nor in %.1024s/modules: %.1024s. Copy the whole plugin folder, "
             "as jofi nccl-plugin laid it out",
             folder, words);
    return NULL;
  }
  if (!allows_native_access(env, loader, folder, reason)) {
    return NULL;
  }
  choose_libfabric(env, folder);
  return boot;
}

jclass host_jvm_boot(JNIEnv *env, const char *folder, char reason[REASON_BYTES]) {
  reason[0] = 0;
  if ((*env)->PushLocalFrame(env, LOCAL_REFERENCES) != 0) {
    java_exception(env, reason);
    return NULL;
  }
  jclass boot = ready_boot(env, folder, reason);
  if (boot == NULL && reason[0] == 0) {
    java_exception(env, reason);
  }
  (*env)->ExceptionClear(env);
  return (*env)->PopLocalFrame(env, boot);
}
