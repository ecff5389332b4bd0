// NCCL's network plugin over jofi: the tables of functions that NCCL looks up, and the start of the JVM.
//
// The library has tables of functions for NCCL 2.30 and newer (version 12), for 2.28 and 2.29 (version 11), and for
// 2.26 and 2.27 (version 10). Older ones find tables whose init says what is needed. Each function checks that this
// process may call into the JVM, and calls a Java method through the address that Java left in `java` when it was
// started. The first init starts the JVM.
//
// Nothing here is ever unloaded: the library is linked with -z nodelete, since a process can have one JVM in its life.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"
#include "files.h"
#include "host_jvm.h"
#include "libfabric.h"
#include "nccl_net.h"

// --- What this library and its Java half have agreed on ---------------------------------------------------------------

enum { BOOT_VERSION = 1 };

// Java's methods, in the order of org.jofi.nccl.Upcall. Pointers are passed as integers.
typedef struct {
  int32_t (*init)(int64_t context_out);
  int32_t (*finalize)(int64_t context);
  int32_t (*devices)(int64_t count_out);
  int32_t (*get_properties)(int32_t device, int64_t properties);
  int32_t (*listen)(int64_t context, int32_t device, int64_t handle, int64_t listener_out);
  int32_t (*connect)(int64_t context, int32_t device, int64_t handle, int64_t sender_out);
  int32_t (*accept)(int64_t listener, int64_t receiver_out);
  int32_t (*reg_mr)(int64_t comm, int64_t data, int64_t size, int32_t type, int32_t gpu, int64_t offset, int32_t fd,
                    int64_t region_out);
  int32_t (*dereg_mr)(int64_t comm, int64_t region);
  int32_t (*isend)(int64_t comm, int64_t data, int64_t size, int32_t tag, int64_t region, int64_t request_out);
  int32_t (*irecv)(int64_t comm, int32_t count, int64_t data, int64_t sizes, int64_t tags, int64_t regions,
                   int64_t request_out);
  int32_t (*iflush)(int64_t comm, int32_t count, int64_t data, int64_t sizes, int64_t regions, int64_t request_out);
  int32_t (*test)(int64_t request, int64_t done_out, int64_t sizes_out);
  int32_t (*close_send)(int64_t comm);
  int32_t (*close_recv)(int64_t comm);
  int32_t (*close_listen)(int64_t comm);
} java_calls;

enum { CALLS = sizeof(java_calls) / sizeof(void *) };

static void log_for_java(int32_t level, int64_t subsystems, int64_t message);

static java_calls java;

// The struct whose address is passed to Java's boot method.
static struct {
  int32_t version;
  int32_t calls;
  void *log;
  java_calls *table;
  int32_t error_size;
  int32_t unused;
  char error[1024];
} boot = {.version = BOOT_VERSION, .calls = CALLS, .log = log_for_java, .table = &java, .error_size = 1024};

// --- Logging ----------------------------------------------------------------------------------------------------------

static _Atomic(logger) nccl_log;

__attribute__((format(printf, 3, 4))) static void say(int level, unsigned long subsystems, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  logger log = atomic_load(&nccl_log);
  if (log != NULL) {
    log(level, subsystems, "nccl_net_jofi", 0, "NET/jofi : %s", text);
  } else if (level == LEVEL_WARN) {
    fprintf(stderr, "NET/jofi : %s\n", text);
  }
}

static void log_for_java(int32_t level, int64_t subsystems, int64_t message) {
  say(level, (unsigned long)subsystems, "%s", (const char *)message);
}

// --- Starting the JVM -------------------------------------------------------------------------------------------------

enum { BOOT_SECONDS = 120, BOOT_STACK_BYTES = 8 << 20, MAX_OPTIONS = 64, TEXT_BYTES = 4096 };

typedef enum { NOT_STARTED, STARTING, READY, FAILED } jvm_state;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;  // held during init
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER; // guards the next three variables
static pthread_cond_t state_changed = PTHREAD_COND_INITIALIZER;
static jvm_state state = NOT_STARTED;
static char failure[2 * TEXT_BYTES];

static atomic_bool ready;   // whether state == READY; read by every call
static atomic_bool forked;  // this is a forked child of the process with the JVM
static bool jvm_is_own;     // this library created the JVM; set before ready
static bool watches_faults; // and handles its faults before it does; set before ready
static JavaVM *jvm;         // set before ready

static pthread_t boot_thread;
static char jvm_words[TEXT_BYTES]; // what the JVM printed while it started; used by the boot thread only

extern net_v11 ncclNetPlugin_v11;

static void settle(jvm_state outcome) {
  pthread_mutex_lock(&state_lock);
  if (state == STARTING) {
    state = outcome;
    pthread_cond_broadcast(&state_changed);
  }
  pthread_mutex_unlock(&state_lock);
}

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&state_lock);
  if (state == STARTING) {
    vsnprintf(failure, sizeof failure, format, arguments);
  }
  pthread_mutex_unlock(&state_lock);
  va_end(arguments);
  settle(FAILED);
}

static bool on_boot_thread(void) {
  return !atomic_load(&ready) && pthread_equal(pthread_self(), boot_thread);
}

static jint hook_print(FILE *stream, const char *format, va_list arguments) {
  bool is_log = stream != stdout && stream != stderr;
  if (is_log || !on_boot_thread()) {
    return vfprintf(stream, format, arguments);
  }
  size_t used = strlen(jvm_words);
  int written = vsnprintf(jvm_words + used, sizeof jvm_words - used, format, arguments);
  for (char *c = jvm_words + used; *c != 0; c++) {
    if (*c == '\n') {
      *c = ' ';
    }
  }
  return written;
}

// The variables with options for the JVM: this library reads the first, and every JVM the others.
static void options_given(char *words, size_t size) {
  const char *const variables[] = {"JOFI_JVM_OPTS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"};
  size_t used = 0;
  words[0] = 0;
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    const char *value = getenv(variables[i]);
    if ((i == 0 || value != NULL) && used < size) {
      used += (size_t)snprintf(words + used, size - used, "%s%s='%s'", i == 0 ? "" : ", ", variables[i],
                               value == NULL ? "" : value);
    }
  }
}

// A JVM that cannot start, for example because memory is short, ends its process. To keep the process alive, the JVM is
// started on a thread of its own, and this hook makes that thread sleep for ever.
static void hook_abort(void) {
  if (on_boot_thread()) {
    char given[TEXT_BYTES / 2];
    options_given(given, sizeof given);
    // Its word for a thread that it cannot have.
    bool threads = strstr(jvm_words, "EAGAIN") != NULL;
    fail("the JVM gave up while it started: %s (its own words may be on stderr). %s. It was given %s",
         jvm_words[0] != 0 ? jvm_words : "no reason was given",
         threads ? "It needs some tens of threads, which count as processes: raise the limit of this user (ulimit -u) or "
                   "of this container or job (pids.max)"
                 : "Check its options and the memory of this process",
         given);
    if (watches_faults) {
      give_faults_back();
    }
    while (true) {
      pause();
    }
  }
}

static void hook_exit(jint code) {
  (void)code;
  hook_abort();
}

// --- Shared memory that processes leave ---------------------------------------------------------------------------------

// libfabric's shm has a file for each endpoint, which bears the numbers of its process, of the user and of the endpoint,
// and jofi adds that of the PID namespace: in another one, a process that lives may have the number of one that is dead
// here.
#define SHARED_MEMORY "/dev/shm"

static bool is_dead(pid_t process) { return kill(process, 0) != 0 && errno == ESRCH; }

// Removes the files of a process that is dead, or of this one. A number may be given again at any moment; but a file that
// was there before its process was found dead is that process's.
static void remove_file(int folder, const char *name, pid_t process) {
  struct stat seen, now;
  bool there = fstatat(folder, name, &seen, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(seen.st_mode);
  if (there && (process == getpid() || is_dead(process)) && fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
      now.st_ino == seen.st_ino) {
    unlinkat(folder, name, 0);
  }
}

static void remove_files(bool of_the_dead) {
  struct stat names;
  DIR *folder = stat("/proc/self/ns/pid", &names) == 0 ? opendir(SHARED_MEMORY) : NULL;
  if (folder == NULL) {
    return;
  }
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    int process, end = 0;
    unsigned user, endpoint;
    unsigned long long where;
    if (sscanf(entry->d_name, "%d:%u:%u-%llx%n", &process, &user, &endpoint, &where, &end) == 4 &&
        entry->d_name[end] == 0 && process > 0 && where == names.st_ino && user == getuid() &&
        (of_the_dead || process == getpid())) {
      remove_file(dirfd(folder), entry->d_name, process);
    }
  }
  closedir(folder);
}

// A program that ends without finalize leaves its files; one that is killed as well, until the next one starts.
static void remove_own_files(void) {
  if (!atomic_load(&forked)) {
    remove_files(false);
  }
}

static void after_fork_in_child(void) { atomic_store(&forked, true); }

// --- Threads that call Java -------------------------------------------------------------------------------------------

// A thread that is not attached when it first calls Java is attached by the JVM, which detaches it when the thread ends:
// by a destructor that exit() runs in a forked child, too, where it waits for ever for a JVM that is not there. So each
// thread is attached before, as one that does not keep the JVM alive, and detached by a key that exit() leaves alone.
static pthread_key_t attachment;
static bool has_attachment; // set before ready
static __thread bool attached;

static void detach(void *unused) {
  (void)unused;
  if (!atomic_load(&forked)) {
    (*jvm)->DetachCurrentThread(jvm);
  }
}

// Java keeps 96 KiB at the end of a stack clear, and loads classes with the rest. With less than 96 the JVM crashes.
enum { LEAST_STACK_KIB = 192, ADVISED_STACK_KIB = 512 };

// Whether this thread has stack enough for Java, or how much is not known, as on a stack that the program made itself.
static bool has_stack(const char *call) {
  static __thread bool said;
  pthread_attr_t attributes;
  void *lowest = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return true;
  }
  bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  size_t left = (size_t)((uintptr_t)&attributes - (uintptr_t)lowest);
  if (!known || left > size || left >> 10 >= LEAST_STACK_KIB) {
    return true;
  }
  if (!said) {
    said = true;
    say(LEVEL_WARN, SUBSYSTEM_NET,
        "%s: this thread has a stack of %zu KiB, of which %zu are left, and Java needs %d: give it %d or more "
        "(pthread_attr_setstacksize, ulimit -s)",
        call, size >> 10, left >> 10, LEAST_STACK_KIB, ADVISED_STACK_KIB);
  }
  return false;
}

static bool attach(const char *call) {
  void *env = NULL;
  // Whoever is attached already, as in a JVM of the host program, stays so.
  if ((*jvm)->GetEnv(jvm, &env, JNI_VERSION_10) != JNI_OK) {
    if (!has_stack(call)) {
      return false;
    }
    if (has_attachment && (*jvm)->AttachCurrentThreadAsDaemon(jvm, &env, NULL) == JNI_OK) {
      pthread_setspecific(attachment, jvm);
    }
  }
  attached = true;
  return true;
}

// --- Folders ----------------------------------------------------------------------------------------------------------

// Of lib/server/libjvm.so in a Java home.
enum { ABOVE_LIBJVM = 3 };

// The folder so many levels above the file that has a symbol; the file may have been loaded through a link.
static bool folder_of(const void *symbol, int levels, char folder[PATH_MAX]) {
  Dl_info info;
  if (dladdr(symbol, &info) == 0 || realpath(info.dli_fname, folder) == NULL) {
    return false;
  }
  for (int i = 0; i < levels; i++) {
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
      return false;
    }
    *slash = 0;
  }
  return true;
}

// The folder that contains this library.
static bool own_folder(char folder[PATH_MAX]) {
  return folder_of(&ncclNetPlugin_v11, 1, folder);
}

// The files that the JVM opens as it goes, of which the last are open when the first connections are.
static void mark_first_files(void) {
  enum { TIMES = 8 };
  static atomic_int times;
  static char folder[PATH_MAX], java_home[PATH_MAX];
  if (!jvm_is_own || atomic_load(&times) >= TIMES || atomic_fetch_add(&times, 1) >= TIMES) {
    return;
  }
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (own_folder(folder) && folder_of((*jvm)->GetEnv, ABOVE_LIBJVM, java_home)) {
    mark_files(folder, java_home);
  }
  pthread_mutex_unlock(&lock);
}

// Opens the libjvm.so of a Java home. If that fails, returns NULL and appends the reason to the reasons.
static void *try_jvm(const char *origin, const char *home, const char *below, char reasons[TEXT_BYTES]) {
  size_t used = strlen(reasons);
  if (home == NULL || *home == 0) {
    snprintf(reasons + used, TEXT_BYTES - used, "; %s: not set", origin);
    return NULL;
  }
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s%s/lib/server/libjvm.so", home, below);
  if (access(path, R_OK) != 0) {
    snprintf(reasons + used, TEXT_BYTES - used, "; %s: no %s", origin, path);
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(reasons + used, TEXT_BYTES - used, "; %s: %s", origin, dlerror());
  }
  return library;
}

static void *open_jvm(const char *folder) {
  // If the process has a JVM already, that is the only one it can have.
  void *library = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (library != NULL) {
    return library;
  }
  char reasons[TEXT_BYTES] = "";
  if ((library = try_jvm("plugin folder", folder, "/jre", reasons)) != NULL ||
      (library = try_jvm("JOFI_JAVA_HOME", getenv("JOFI_JAVA_HOME"), "", reasons)) != NULL ||
      (library = try_jvm("JAVA_HOME", getenv("JAVA_HOME"), "", reasons)) != NULL) {
    return library;
  }
  fail("no JVM found%s. Copy the whole plugin folder, or set JOFI_JAVA_HOME to a JDK 25", reasons);
  return NULL;
}

typedef struct {
  JavaVMOption list[MAX_OPTIONS];
  int count;
  bool overflow;
  char text[2 * TEXT_BYTES];
  size_t used;
} jvm_options;

__attribute__((format(printf, 2, 3))) static void add_option(jvm_options *options, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof options->text - options->used;
  int length = vsnprintf(options->text + options->used, room, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= room || options->count == MAX_OPTIONS) {
    options->overflow = true;
    return;
  }
  options->list[options->count++] = (JavaVMOption){.optionString = options->text + options->used};
  options->used += (size_t)length + 1;
}

static void add_hook(jvm_options *options, char *name, void (*hook)(void)) {
  options->list[options->count++] = (JavaVMOption){.optionString = name, .extraInfo = (void *)hook};
}

// Whether options have one among them that a start cache may not go with. With some, the JVM ends in place of doing without
// it: those for other archives of classes, such as -Xshare:off, and a first heap whose old generation is too small for the
// objects in the cache.
static bool forgo_cache(const char *options) {
  const char *const words[] = {"AOT",   "-Xshare", "Shared",  "Archive", "DynamicDump", "LoadedClassList",
                               "-Xms",  "-Xmn",    "NewSize", "OldSize", "HeapSize",    "NewRatio",
                               "Percentage"};
  bool found = false;
  for (size_t i = 0; options != NULL && i < sizeof words / sizeof words[0]; i++) {
    found = found || strstr(options, words[i]) != NULL;
  }
  return found;
}

// Whether options have one such as -XX:+UseG1GC among them.
static bool chooses_collector(const char *options) {
  const char *choice = options;
  while (choice != NULL && (choice = strstr(choice, "-XX:+Use")) != NULL) {
    size_t length = strcspn(choice, " \t\n");
    if (length > 2 && strncmp(choice + length - 2, "GC", 2) == 0) {
      return true;
    }
    choice += length;
  }
  return false;
}

static bool names_libfabric(const char *options) {
  return options != NULL && strstr(options, "jofi.libfabric") != NULL;
}

// Whether something is so of what the user tells the JVM, wherever it takes options from.
static bool is_told(bool (*something)(const char *options)) {
  return something(getenv("JOFI_JVM_OPTS")) || something(getenv("JAVA_TOOL_OPTIONS")) ||
         something(getenv("_JAVA_OPTIONS"));
}

// For the JVM in the folder, which has jofi's modules in it, or for another one. Later options override earlier ones.
// Options that may be changed come before JOFI_JVM_OPTS, the others after it.
static bool collect_options(jvm_options *options, const char *folder, bool is_folders, bool has_faults) {
  add_hook(options, "vfprintf", (void (*)(void))hook_print);
  add_hook(options, "exit", (void (*)(void))hook_exit);
  add_hook(options, "abort", hook_abort);
  const char *wishes = getenv("JOFI_JVM_OPTS");
  char words[TEXT_BYTES] = "";
  if (wishes != NULL && (size_t)snprintf(words, sizeof words, "%s", wishes) >= sizeof words) {
    fail("JOFI_JVM_OPTS is longer than %d characters", TEXT_BYTES - 1);
    return false;
  }
  // Two collectors would not start.
  if (!is_told(chooses_collector)) {
    add_option(options, "-XX:+UseSerialGC");
  }
  add_option(options, "-Xms32m");
  add_option(options, "-Xmn16m");
  add_option(options, "-Xmx256m");
  add_option(options, "-XX:-UsePerfData");
  char *rest = NULL;
  for (char *word = strtok_r(words, " \t\n", &rest); word != NULL; word = strtok_r(NULL, " \t\n", &rest)) {
    add_option(options, "%s", word);
  }
  char file[PATH_MAX + 32];
  snprintf(file, sizeof file, "%s/jvm.options", folder);
  if (access(file, R_OK) != 0) {
    fail("no %s. Copy the whole plugin folder, as jofi nccl-plugin laid it out", file);
    return false;
  }
  // The host program keeps its signal handlers: in Python, Ctrl-C still raises KeyboardInterrupt.
  add_option(options, "-Xrs");
  if (has_faults) {
    add_option(options, "-XX:+AllowUserSignalHandlers");
  }
  // And its limit of open files.
  add_option(options, "-XX:-MaxFDLimit");
  add_option(options, "-XX:VMOptionsFile=%s", file);
  char cache[PATH_MAX + 32];
  snprintf(cache, sizeof cache, "%s/jofi.aot", folder);
  if (!is_folders) {
    add_option(options, "--module-path=%s/modules", folder);
  } else if (access(cache, R_OK) == 0 && !is_told(forgo_cache)) {
    // One that does not fit is left alone without a word.
    add_option(options, "-XX:AOTCache=%s", cache);
  }
  char library[LIBFABRIC_BYTES];
  if (folders_libfabric(folder, library)) {
    add_option(options, "-Djofi.libfabric=%s", library);
  }
  if (options->overflow) {
    fail("too many options for the JVM: JOFI_JVM_OPTS holds more than %d, or more than %d characters", MAX_OPTIONS - 14,
         TEXT_BYTES);
    return false;
  }
  return true;
}

// Whether this function is one of the JVM in the folder.
static bool is_of_folder(const void *function, const char *folder) {
  char home[PATH_MAX], runtime[PATH_MAX + 8];
  snprintf(runtime, sizeof runtime, "%s/jre", folder);
  return folder_of(function, ABOVE_LIBJVM, home) && strcmp(home, runtime) == 0;
}

static bool call_java_boot(JNIEnv *env, jclass type) {
  char words[REASON_BYTES];
  jmethodID method = (*env)->GetStaticMethodID(env, type, "boot", "(J)I");
  jint outcome = method == NULL ? 0 : (*env)->CallStaticIntMethod(env, type, method, (jlong)(uintptr_t)&boot);
  if ((*env)->ExceptionCheck(env)) {
    java_exception(env, words);
    fail("org.jofi.nccl could not start: %s", words);
    return false;
  }
  if (outcome != 0) {
    fail("org.jofi.nccl could not start: %s", boot.error);
    return false;
  }
  return true;
}

// The Java half in the JVM that this library made. NULL if it cannot be had.
static jclass own_boot(JNIEnv *env) {
  jclass type = (*env)->FindClass(env, BOOT_CLASS);
  if (type == NULL) {
    char words[REASON_BYTES];
    java_exception(env, words);
    fail("the JVM runs, but org.jofi.nccl is not in it: %s. Its jars belong in the folder 'modules' beside this "
         "library",
         words);
  }
  return type;
}

// The same in the host program's JVM.
static jclass boot_of_host(JNIEnv *env, const char *folder) {
  char reason[REASON_BYTES];
  jclass type = host_jvm_boot(env, folder, reason);
  if (type == NULL) {
    fail("this process has a JVM already, the only one that it can have, and %s", reason);
  }
  return type;
}

static const char *jni_error(jint code) {
  switch (code) {
  case JNI_EVERSION: return "the JVM is too old";
  case JNI_ENOMEM: return "not enough memory";
  case JNI_EEXIST: return "this process has had a JVM already";
  case JNI_EINVAL: return "it does not accept its options";
  default: return "it did not say why";
  }
}

// Signals that a JVM takes without needing them: the sockets of this library do not raise SIGPIPE, and it starts no
// processes whose ends it waits for.
enum { SIGNALS_OF_NO_USE = 3 };

static void exchange_signals(struct sigaction hosts[SIGNALS_OF_NO_USE], bool give_back) {
  const int signals[SIGNALS_OF_NO_USE] = {SIGPIPE, SIGXFSZ, SIGCHLD};
  for (int i = 0; i < SIGNALS_OF_NO_USE; i++) {
    sigaction(signals[i], give_back ? &hosts[i] : NULL, give_back ? NULL : &hosts[i]);
  }
}

static bool start_jvm(void) {
  char folder[PATH_MAX];
  if (!own_folder(folder)) {
    fail("cannot tell which folder this library lies in");
    return false;
  }
  void *library = open_jvm(folder);
  if (library == NULL) {
    return false;
  }
  jint (*created)(JavaVM **, jsize, jsize *) = dlsym(library, "JNI_GetCreatedJavaVMs");
  jint (*create)(JavaVM **, void **, void *) = dlsym(library, "JNI_CreateJavaVM");
  if (created == NULL || create == NULL) {
    fail("libjvm.so has no JNI_CreateJavaVM: it is no JVM");
    return false;
  }
  JavaVM *vm = NULL;
  JNIEnv *env = NULL;
  jsize running = 0;
  struct sigaction hosts[SIGNALS_OF_NO_USE];
  exchange_signals(hosts, false);
  if (created(&vm, 1, &running) == JNI_OK && running > 0) {
    // The host program's JVM.
    if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, NULL) != JNI_OK) {
      fail("this process has a JVM already, and it takes no more threads");
      return false;
    }
  } else {
    static jvm_options options;
    bool has_faults = can_take_faults(library);
    if (!collect_options(&options, folder, is_of_folder((const void *)create, folder), has_faults)) {
      return false;
    }
    remember_files();
    if (has_faults) {
      take_faults();
      watches_faults = true;
    }
    JavaVMInitArgs arguments = {.version = JNI_VERSION_10, .nOptions = options.count, .options = options.list};
    char *locale = setlocale(LC_ALL, NULL);
    char *saved = locale == NULL ? NULL : strdup(locale);
    jint code = create(&vm, (void **)&env, &arguments);
    if (saved != NULL) {
      setlocale(LC_ALL, saved);
      free(saved);
    }
    if (code != JNI_OK) {
      exchange_signals(hosts, true);
      if (watches_faults) {
        give_faults_back();
      }
      char given[TEXT_BYTES / 2];
      options_given(given, sizeof given);
      fail("the JVM did not start: %s (%d). %s%sIt was given %s", jni_error(code), code, jvm_words,
           jvm_words[0] != 0 ? " " : "", given);
      return false;
    }
    jvm_is_own = true;
    load_libfabric(folder, is_told(names_libfabric));
  }
  jclass type = jvm_is_own ? own_boot(env) : boot_of_host(env, folder);
  bool booted = type != NULL && call_java_boot(env, type);
  if (jvm_is_own) {
    exchange_signals(hosts, true);
  }
  (*vm)->DetachCurrentThread(vm);
  jvm = vm;
  has_attachment = pthread_key_create(&attachment, detach) == 0;
  return booted;
}

static void *run_boot(void *unused) {
  (void)unused;
  boot_thread = pthread_self();
  if (start_jvm()) {
    atomic_store(&ready, true);
    settle(READY);
  }
  return NULL;
}

// The JVM's threads inherit the signals that this thread blocks, so signals go to the host program's threads.
static int create_boot_thread(void) {
  sigset_t hosts, before;
  sigemptyset(&hosts);
  const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGWINCH, SIGTSTP, SIGCONT};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    sigaddset(&hosts, signals[i]);
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, BOOT_STACK_BYTES);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_BLOCK, &hosts, &before);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run_boot, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

// Starts the JVM on the first call and waits until it runs. It is not started on the caller's thread, which may end
// soon. There is one attempt per process, whether it succeeds or not.
static result ensure_jvm(void) {
  if (atomic_load(&forked)) {
    return OK; // the call that follows is refused with the reason
  }
  bool first = false;
  pthread_mutex_lock(&state_lock);
  if (state == NOT_STARTED) {
    state = STARTING;
    first = true;
  }
  pthread_mutex_unlock(&state_lock);
  if (first) {
    pthread_atfork(NULL, NULL, after_fork_in_child);
    int error = create_boot_thread();
    if (error != 0) {
      fail("no thread to start the JVM on: %s", strerror(error));
    }
  }
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += BOOT_SECONDS;
  int waited = 0;
  pthread_mutex_lock(&state_lock);
  while (state == STARTING && waited != ETIMEDOUT) {
    waited = pthread_cond_timedwait(&state_changed, &state_lock, &limit);
  }
  if (state == STARTING) {
    snprintf(failure, sizeof failure, "the JVM did not start within %d s", BOOT_SECONDS);
    state = FAILED;
  }
  jvm_state outcome = state;
  pthread_mutex_unlock(&state_lock);
  if (outcome == READY) {
    if (first) {
      remove_files(true);
      atexit(remove_own_files);
    }
    return OK;
  }
  if (first) {
    say(LEVEL_WARN, SUBSYSTEM_INIT | SUBSYSTEM_NET, "%s", failure);
  } else {
    say(LEVEL_INFO, SUBSYSTEM_INIT | SUBSYSTEM_NET, "not usable in this process, as said before: %s", failure);
  }
  return SYSTEM_ERROR;
}

// --- The calls --------------------------------------------------------------------------------------------------------

// Does not use NCCL's logger: another thread may have held its lock when the process forked.
static result refuse_forked(const char *call) {
  static atomic_bool said;
  if (!atomic_exchange(&said, true)) {
    char text[512];
    int length = snprintf(text, sizeof text,
                          "NET/jofi : %s in process %d, which is a fork of one that uses the network already: the JVM "
                          "does not survive fork. Start workers by spawn or exec, or fork them before\n",
                          call, (int)getpid());
    if (write(STDERR_FILENO, text, (size_t)length) != length) {
      return SYSTEM_ERROR;
    }
  }
  return SYSTEM_ERROR;
}

static result refuse_early(const char *call) {
  say(LEVEL_WARN, SUBSYSTEM_NET, "%s before init, or after an init that failed", call);
  return INVALID_USAGE;
}

// The program may change the handlers of signals by which the JVM runs, at any time and without a word. Asking the kernel
// takes about 0.1 us for each signal, so that calls for each message do it now and then, and all others always.
enum { CALLS_BETWEEN_LOOKS = 32 };
static __thread unsigned calls;

static void look_at_faults(void) {
  char words[TEXT_BYTES];
  if (watches_faults && faults_changed(words, sizeof words)) {
    say(LEVEL_WARN, SUBSYSTEM_INIT | SUBSYSTEM_NET, "%s", words);
  }
}

#define ENTER_LOOKING(call, looks)                                                                                     \
  do {                                                                                                                 \
    if (__builtin_expect(atomic_load_explicit(&forked, memory_order_relaxed), 0)) {                                    \
      return refuse_forked(call);                                                                                      \
    }                                                                                                                  \
    if (__builtin_expect(!atomic_load_explicit(&ready, memory_order_acquire), 0)) {                                    \
      return refuse_early(call);                                                                                       \
    }                                                                                                                  \
    if (__builtin_expect(!attached, 0) && !attach(call)) {                                                             \
      return SYSTEM_ERROR;                                                                                             \
    }                                                                                                                  \
    if (__builtin_expect(looks, 0)) {                                                                                  \
      look_at_faults();                                                                                                \
    }                                                                                                                  \
  } while (false)

#define ENTER(call) ENTER_LOOKING(call, true)

#define ENTER_OFTEN(call) ENTER_LOOKING(call, ++calls % CALLS_BETWEEN_LOOKS == 0)

#define NOT_NULL(pointer)                                                                                              \
  do {                                                                                                                 \
    if ((pointer) == NULL) {                                                                                           \
      return INVALID_ARGUMENT;                                                                                         \
    }                                                                                                                  \
  } while (false)

#define INTEGER(pointer) ((int64_t)(uintptr_t)(pointer))

static result net_init(void **context, logger log) {
  if (log != NULL) {
    atomic_store(&nccl_log, log);
  }
  if (context == NULL) {
    return INVALID_ARGUMENT;
  }
  pthread_mutex_lock(&init_lock);
  result outcome = ensure_jvm();
  pthread_mutex_unlock(&init_lock);
  if (outcome != OK) {
    return outcome;
  }
  ENTER("init");
  outcome = java.init(INTEGER(context));
  mark_first_files();
  return outcome;
}

static result init_v11(void **context, uint64_t communicator, void *config, logger log, void *profiler) {
  (void)communicator;
  (void)config;
  (void)profiler;
  if (context != NULL) {
    *context = NULL;
  }
  return net_init(context, log);
}

// NCCL calls this even for a context that init failed to make.
static result finalize_v11(void *context) {
  if (context == NULL) {
    return OK;
  }
  ENTER("finalize");
  return java.finalize(INTEGER(context));
}

// Version 10 has no contexts and no finalize: one context is used until the process ends.
static _Atomic(void *) context_v10;

// A transport that is left open would leave files behind, for example in shared memory. Open communicators stay open.
static void finalize_at_exit(void) {
  void *context = atomic_exchange(&context_v10, NULL);
  if (context != NULL && !atomic_load(&forked)) {
    atomic_store(&nccl_log, NULL);
    finalize_v11(context);
  }
}

static result init_v10(logger log, void *profiler) {
  (void)profiler;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  result outcome = OK;
  pthread_mutex_lock(&lock);
  if (atomic_load(&context_v10) == NULL) {
    void *context = NULL;
    outcome = net_init(&context, log);
    if (outcome == OK) {
      atomic_store(&context_v10, context);
      // The host program's JVM may be gone by now; calling into it would crash the process.
      if (jvm_is_own) {
        atexit(finalize_at_exit);
      }
    }
  }
  pthread_mutex_unlock(&lock);
  return outcome;
}

static result net_devices(int *count) {
  ENTER("devices");
  NOT_NULL(count);
  return java.devices(INTEGER(count));
}

static result get_properties_v11(int device, properties_v11 *properties) {
  ENTER("getProperties");
  NOT_NULL(properties);
  return java.get_properties(device, INTEGER(properties));
}

static result get_properties_v10(int device, properties_v10 *properties) {
  ENTER("getProperties");
  NOT_NULL(properties);
  properties_v11 wide;
  memset(&wide, 0, sizeof wide);
  result outcome = java.get_properties(device, INTEGER(&wide));
  if (outcome == OK) {
    *properties = wide.common;
  }
  return outcome;
}

static result get_properties_v12(int device, properties_v12 *properties) {
  ENTER("getProperties");
  NOT_NULL(properties);
  enum { UNKNOWN = -1 };
  properties_v11 from;
  memset(&from, 0, sizeof from);
  result outcome = java.get_properties(device, INTEGER(&from));
  if (outcome != OK) {
    return outcome;
  }
  const properties_v10 *common = &from.common;
  *properties = (properties_v12){
      .head = common->head,
      .member_count = common->members.count,
      .max_point_to_point_bytes = common->max_point_to_point_bytes,
      .max_collective_bytes = common->max_collective_bytes,
      .max_multi_request_size = from.max_multi_request_size,
      .rail = UNKNOWN,
      .plane = UNKNOWN,
  };
  memcpy(properties->members, common->members.devices, sizeof common->members.devices);
  return OK;
}

static result init_older(logger log) {
  if (log != NULL) {
    atomic_store(&nccl_log, log);
  }
  say(LEVEL_WARN, SUBSYSTEM_INIT | SUBSYSTEM_NET,
      "needs NCCL 2.26 or newer; this one, 2.20 to 2.25, goes on without it");
  return SYSTEM_ERROR;
}

static result listen_v11(void *context, int device, void *handle, void **listener) {
  ENTER("listen");
  NOT_NULL(handle);
  NOT_NULL(listener);
  return java.listen(INTEGER(context), device, INTEGER(handle), INTEGER(listener));
}

static result listen_v10(int device, void *handle, void **listener) {
  return listen_v11(atomic_load(&context_v10), device, handle, listener);
}

static result connect_v11(void *context, int device, void *handle, void **sender, void **device_handle) {
  ENTER("connect");
  NOT_NULL(handle);
  NOT_NULL(sender);
  if (device_handle != NULL) {
    *device_handle = NULL;
  }
  result outcome = java.connect(INTEGER(context), device, INTEGER(handle), INTEGER(sender));
  if (outcome == OK && *sender != NULL) {
    mark_first_files();
  }
  return outcome;
}

static result connect_v10(int device, void *config, void *handle, void **sender, void **device_handle) {
  (void)config;
  return connect_v11(atomic_load(&context_v10), device, handle, sender, device_handle);
}

static result net_accept(void *listener, void **receiver, void **device_handle) {
  ENTER("accept");
  NOT_NULL(receiver);
  if (device_handle != NULL) {
    *device_handle = NULL;
  }
  result outcome = java.accept(INTEGER(listener), INTEGER(receiver));
  if (outcome == OK && *receiver != NULL) {
    mark_first_files();
  }
  return outcome;
}

// The GPU that a pointer belongs to, according to the driver that NCCL has loaded; -1 if unknown.
static int gpu_of(void *data) {
  enum { DEVICE_ORDINAL = 9 };
  static _Atomic(void *) found;
  int (*attribute)(void *, int, unsigned long long) = atomic_load(&found);
  if (attribute == NULL) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    attribute = driver == NULL ? NULL : dlsym(driver, "cuPointerGetAttribute");
    atomic_store(&found, attribute);
  }
  int ordinal = -1;
  if (attribute == NULL || attribute(&ordinal, DEVICE_ORDINAL, (unsigned long long)(uintptr_t)data) != 0) {
    return -1;
  }
  return ordinal;
}

static result net_reg_mr(void *comm, void *data, size_t size, int type, void **region) {
  ENTER("regMr");
  NOT_NULL(region);
  int gpu = type == MEMORY_CUDA ? gpu_of(data) : 0;
  return java.reg_mr(INTEGER(comm), INTEGER(data), (int64_t)size, type, gpu, 0, -1, INTEGER(region));
}

static result net_reg_mr_dma_buf(void *comm, void *data, size_t size, int type, uint64_t offset, int fd,
                                 void **region) {
  ENTER("regMrDmaBuf");
  NOT_NULL(region);
  int gpu = type == MEMORY_CUDA || type == MEMORY_DMABUF ? gpu_of(data) : 0;
  return java.reg_mr(INTEGER(comm), INTEGER(data), (int64_t)size, type, gpu, (int64_t)offset, fd, INTEGER(region));
}

static result net_dereg_mr(void *comm, void *region) {
  ENTER("deregMr");
  return java.dereg_mr(INTEGER(comm), INTEGER(region));
}

static result net_isend(void *comm, void *data, size_t size, int tag, void *region, void *profiler, void **request) {
  ENTER_OFTEN("isend");
  (void)profiler;
  return java.isend(INTEGER(comm), INTEGER(data), (int64_t)size, tag, INTEGER(region), INTEGER(request));
}

static result net_irecv(void *comm, int count, void **data, size_t *sizes, int *tags, void **regions, void **profilers,
                        void **request) {
  ENTER_OFTEN("irecv");
  (void)profilers;
  return java.irecv(INTEGER(comm), count, INTEGER(data), INTEGER(sizes), INTEGER(tags), INTEGER(regions),
                    INTEGER(request));
}

static result net_iflush(void *comm, int count, void **data, int *sizes, void **regions, void **request) {
  ENTER_OFTEN("iflush");
  return java.iflush(INTEGER(comm), count, INTEGER(data), INTEGER(sizes), INTEGER(regions), INTEGER(request));
}

static result net_test(void *request, int *done, int *sizes) {
  ENTER_OFTEN("test");
  return java.test(INTEGER(request), INTEGER(done), INTEGER(sizes));
}

static result net_close_send(void *comm) {
  ENTER("closeSend");
  return java.close_send(INTEGER(comm));
}

static result net_close_recv(void *comm) {
  ENTER("closeRecv");
  return java.close_recv(INTEGER(comm));
}

static result net_close_listen(void *comm) {
  ENTER("closeListen");
  return java.close_listen(INTEGER(comm));
}

// --- The tables -------------------------------------------------------------------------------------------------------

#define EXPORTED __attribute__((visibility("default")))

#define SLOTS_OF_V11(properties)                                                                                       \
  {                                                                                                                    \
      .name = "jofi",                                                                                                  \
      .init = init_v11,                                                                                                \
      .devices = net_devices,                                                                                          \
      .get_properties = properties,                                                                                    \
      .listen = listen_v11,                                                                                            \
      .connect = connect_v11,                                                                                          \
      .accept = net_accept,                                                                                            \
      .reg_mr = net_reg_mr,                                                                                            \
      .reg_mr_dma_buf = net_reg_mr_dma_buf,                                                                            \
      .dereg_mr = net_dereg_mr,                                                                                        \
      .isend = net_isend,                                                                                              \
      .irecv = net_irecv,                                                                                              \
      .iflush = net_iflush,                                                                                            \
      .test = net_test,                                                                                                \
      .close_send = net_close_send,                                                                                    \
      .close_recv = net_close_recv,                                                                                    \
      .close_listen = net_close_listen,                                                                                \
      .finalize = finalize_v11,                                                                                        \
  }

EXPORTED net_v12 ncclNetPlugin_v12 = {
    SLOTS_OF_V11((result(*)(int, properties_v11 *))(void (*)(void))get_properties_v12)};

EXPORTED net_v11 ncclNetPlugin_v11 = SLOTS_OF_V11(get_properties_v11);

EXPORTED net_older ncclNetPlugin_v9 = {.name = "jofi", .init = init_older};

EXPORTED net_older ncclNetPlugin_v8 = {.name = "jofi", .init = init_older};

EXPORTED net_v10 ncclNetPlugin_v10 = {
    .name = "jofi",
    .init = init_v10,
    .devices = net_devices,
    .get_properties = get_properties_v10,
    .listen = listen_v10,
    .connect = connect_v10,
    .accept = net_accept,
    .reg_mr = net_reg_mr,
    .reg_mr_dma_buf = net_reg_mr_dma_buf,
    .dereg_mr = net_dereg_mr,
    .isend = net_isend,
    .irecv = net_irecv,
    .iflush = net_iflush,
    .test = net_test,
    .close_send = net_close_send,
    .close_recv = net_close_recv,
    .close_listen = net_close_listen,
};
