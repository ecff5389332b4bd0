#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void wire_lock(pthread_mutex_t *mutex) {
  if (pthread_mutex_lock(mutex) == EOWNERDEAD) pthread_mutex_consistent(mutex);
}

void wire_unlock(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }

// By its memory, which no process has at that address: one that was killed and that its parent has not waited for yet
// has no memory any more, where kill() still finds it.
bool process_gone(pid_t pid) {
  char byte;
  struct iovec own = {&byte, 1}, far = {NULL, 1};
  return pid != 0 && process_vm_readv(pid, &own, 1, &far, 1, 0) < 0 && errno == ESRCH;
}

bool wire_path(const char *name, char *path, size_t size) {
  if (*name == '\0' || strchr(name, '/') != NULL) return false;
  int length = snprintf(path, size, "/dev/shm/%s-%s", wire_kind.name, name);
  return length > 0 && (size_t)length < size;
}

int port_state_named(const char *name) {
  static const char *const names[] = {[PORT_UP] = "up", [PORT_SILENT] = "silent", [PORT_MUTE] = "mute", [PORT_ERROR] = "error", [PORT_GONE] = "gone"};
  for (int state = PORT_UP; state <= PORT_GONE; state++) {
    if (strcmp(name, names[state]) == 0) return state;
  }
  return -1;
}

void wire_share(pthread_mutex_t *mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

// Of this file's own part, and of the kind's.
static uint32_t version(void) { return 6 << 16 | wire_kind.version; }

static size_t size_of_wire(void) { return sizeof(struct wire) + wire_kind.bytes; }

static void initialize(struct wire *wire) {
  wire_share(&wire->lock);
  for (int i = 0; i < COMPLETION_QUEUES; i++) wire_share(&wire->queues[i].lock);
  for (int i = 0; i < RECEIVE_QUEUES; i++) wire_share(&wire->receive_queues[i].lock);
  for (int i = 0; i < QUEUE_PAIRS; i++) wire_share(&wire->queue_pairs[i].lock);
  wire->next_domain = 1;
  if (wire_kind.initialize != NULL) wire_kind.initialize(wire);
  wire->version = version();
}

// A program of its own, which outlives a killed process, and its group: it has a session of its own from the start. It
// goes into the background by itself, so that its parent can wait for it here, and holds none of this process's files,
// so that nobody waits for the end of a pipe.
static int start_remover(const char *remover, const char *name) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, 0, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  char *arguments[] = {(char *)remover, (char *)name, "remove-when-unused", NULL};
  pid_t pid;
  int error = posix_spawn(&pid, remover, &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return error;
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

static int flock_fully(int fd, int operation) {
  while (flock(fd, operation) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Whether the open file is still the one that the path names.
static bool still_there(int fd, const char *path) {
  struct stat open_file, named;
  return fstat(fd, &open_file) == 0 && stat(path, &named) == 0 && open_file.st_ino == named.st_ino;
}

// One process at a time makes the wire, by a lock of another kind than the one that says that the wire is in use.
static int lock_making(int fd, short kind) {
  struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_len = 1};
  while (fcntl(fd, F_OFD_SETLKW, &lock) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Where a process has the whole of it; it takes the room of what is written only.
static struct wire *map(int fd) {
  struct wire *wire = mmap(NULL, size_of_wire(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return wire == MAP_FAILED ? NULL : wire;
}

static int make(int fd, const char *name, const char *remover) {
  if (ftruncate(fd, (off_t)size_of_wire()) != 0) return errno;
  struct wire *wire = map(fd);
  if (wire == NULL) return errno;
  initialize(wire);
  munmap(wire, size_of_wire());
  return remover != NULL ? start_remover(remover, name) : 0;
}

// Whether nobody has the file and it has been used: its process may have been killed before there was a remover.
static bool left_behind(int fd) {
  struct stat status;
  return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_size != 0;
}

// The file is kept open, and locked for sharing, as long as the process lives: the remover waits for the lock.
static int open_locked(const char *path, const char *name, const char *remover) {
  for (;;) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    struct stat status = {0};
    int error = lock_making(fd, F_WRLCK);
    if (error == 0 && left_behind(fd) && still_there(fd, path) && unlink(path) != 0) error = errno;
    if (error == 0) error = flock_fully(fd, LOCK_SH);
    // The remover may have been there first: then another file is to be made.
    bool there = error == 0 && still_there(fd, path) && fstat(fd, &status) == 0;
    if (there && status.st_size == 0) error = make(fd, name, remover);
    if (error == 0) error = lock_making(fd, F_UNLCK);
    if (there && error == 0) return fd;
    close(fd);
    if (error != 0) {
      errno = error;
      return -1;
    }
  }
}

struct wire *wire_open(const char *name, const char *remover) {
  char path[256];
  if (!wire_path(name, path, sizeof path)) {
    errno = EINVAL;
    return NULL;
  }
  int fd = open_locked(path, name, remover);
  if (fd < 0) return NULL;
  struct stat status = {0};
  bool whole = fstat(fd, &status) == 0 && (size_t)status.st_size == size_of_wire();
  struct wire *wire = whole ? map(fd) : NULL;
  if (wire != NULL && wire->version == version()) return wire;
  int error = whole && wire == NULL ? errno : EPROTO;
  if (wire != NULL) munmap(wire, size_of_wire());
  close(fd);
  errno = error;
  return NULL;
}

int wire_remove_when_unused(const char *name) {
  char path[256];
  if (!wire_path(name, path, sizeof path)) return EINVAL;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : errno;
  int error = flock_fully(fd, LOCK_EX);
  if (error == 0 && still_there(fd, path) && unlink(path) != 0) error = errno;
  close(fd);
  return error;
}
