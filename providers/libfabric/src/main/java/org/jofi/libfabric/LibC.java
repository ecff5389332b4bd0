package org.jofi.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** The few functions of the C library that the provider needs itself. */
final class LibC {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      CAPTURE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final int RTLD_NOW = 2;
  private static final int MS_ASYNC = 1;
  private static final int SC_PAGESIZE = 30;
  private static final int PTHREAD_PROCESS_SHARED = 1;
  private static final int SHUT_RDWR = 2;
  private static final int O_RDONLY_CLOEXEC = 0x80000;
  private static final int LOCK_EX_NB = 2 | 4;
  private static final int ENOMEM = 12;
  private static final int EFAULT = 14;
  private static final long MAX_TEXT_BYTES = 4096;

  private static final MethodHandle DLOPEN =
      plain(
          "dlopen",
          FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
  private static final MethodHandle DLERROR =
      plain("dlerror", FunctionDescriptor.of(ValueLayout.ADDRESS));
  private static final MethodHandle STRDUP =
      plain("strdup", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
  private static final MethodHandle GETENV =
      plain("getenv", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
  private static final MethodHandle SETENV =
      plain(
          "setenv",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_INT));
  private static final MethodHandle UNSETENV =
      plain("unsetenv", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
  private static final MethodHandle SYSCONF =
      plain("sysconf", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
  private static final MethodHandle SIGACTION =
      plain(
          "sigaction",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.ADDRESS));
  private static final MethodHandle PTHREAD_SPIN_INIT =
      plain(
          "pthread_spin_init",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
  private static final FunctionDescriptor NAMING =
      FunctionDescriptor.of(
          ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
  private static final MethodHandle GETSOCKNAME = plain("getsockname", NAMING);
  private static final MethodHandle GETPEERNAME = plain("getpeername", NAMING);
  private static final MethodHandle GETSOCKOPT =
      plain(
          "getsockopt",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.ADDRESS));
  private static final MethodHandle SHUTDOWN =
      plain(
          "shutdown",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  private static final MethodHandle OPEN =
      plain(
          "open",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
  private static final MethodHandle CLOSE =
      plain("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  private static final MethodHandle FLOCK =
      plain(
          "flock",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  private static final MethodHandle MSYNC =
      capturing(
          "msync",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT));
  private static final MethodHandle PROCESS_VM_READV =
      capturing(
          "process_vm_readv",
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG));

  /** Size of a memory page. */
  static final long PAGE_BYTES = sysconf(SC_PAGESIZE);

  private LibC() {}

  @SuppressWarnings("restricted")
  private static MethodHandle plain(String name, FunctionDescriptor shape) {
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), shape);
  }

  @SuppressWarnings("restricted")
  private static MethodHandle capturing(String name, FunctionDescriptor shape) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), shape, Linker.Option.captureCallState("errno"));
  }

  /**
   * Loads a shared library, which is never unloaded.
   *
   * @return null if it is loaded, else the dynamic linker's message
   */
  static @Nullable String loadLibrary(String name) {
    try (Arena arena = Arena.ofConfined()) {
      // Link dlerror before it is needed: no other call may come between a failing dlopen and its
      // dlerror.
      MemorySegment stale = (MemorySegment) DLERROR.invokeExact();
      MemorySegment handle = (MemorySegment) DLOPEN.invokeExact(arena.allocateFrom(name), RTLD_NOW);
      if (handle.address() != 0) {
        return null;
      }
      MemorySegment text = (MemorySegment) DLERROR.invokeExact();
      return text.address() == 0 ? "unknown reason, after " + stale : text(text);
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** A copy of a string that {@code free} can free. */
  static MemorySegment strdup(String text) {
    try (Arena arena = Arena.ofConfined()) {
      return (MemorySegment) STRDUP.invokeExact(arena.allocateFrom(text));
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /**
   * An environment variable as C sees it, which may differ from System.getenv's copy; empty if not
   * set.
   */
  static String variable(String name) {
    try (Arena arena = Arena.ofConfined()) {
      return text((MemorySegment) GETENV.invokeExact(arena.allocateFrom(name)));
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /**
   * Sets an environment variable for C code, unless it is set already. Call it before native code
   * reads the environment.
   *
   * @return whether it was not set
   */
  static boolean offerVariable(String name, String value) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom(name);
      if (((MemorySegment) GETENV.invokeExact(key)).address() != 0) {
        return false;
      }
      int failed = (int) SETENV.invokeExact(key, arena.allocateFrom(value), 0);
      assert failed == 0 : name;
      return true;
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** Takes an environment variable of C code back. */
  static void withdrawVariable(String name) {
    try (Arena arena = Arena.ofConfined()) {
      int failed = (int) UNSETENV.invokeExact(arena.allocateFrom(name));
      assert failed == 0 : name;
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** The C string at this address, at most 4 KiB of it; empty for a null pointer. */
  @SuppressWarnings("restricted")
  static String text(MemorySegment pointer) {
    return pointer.address() == 0
        ? ""
        : MemorySegment.ofAddress(pointer.address()).reinterpret(MAX_TEXT_BYTES).getString(0);
  }

  /**
   * Whether every page of the range is mapped, and its first and last byte can be read. Takes a few
   * microseconds. It does not check whether other pages can be read, nor whether any can be
   * written.
   */
  static boolean isMapped(long address, long lengthBytes) {
    return pagesExist(address, lengthBytes)
        && isReadable(address)
        && isReadable(address + lengthBytes - 1);
  }

  /**
   * Asks the kernel to copy the byte: if it is not readable, a load in this process would crash the
   * JVM.
   */
  private static boolean isReadable(long address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(CAPTURE);
      MemorySegment local = arena.allocate(ValueLayout.JAVA_LONG, 2);
      MemorySegment remote = arena.allocate(ValueLayout.JAVA_LONG, 2);
      local.setAtIndex(ValueLayout.JAVA_LONG, 0, arena.allocate(1).address());
      local.setAtIndex(ValueLayout.JAVA_LONG, 1, 1);
      remote.setAtIndex(ValueLayout.JAVA_LONG, 0, address);
      remote.setAtIndex(ValueLayout.JAVA_LONG, 1, 1);
      int self = (int) ProcessHandle.current().pid();
      long copied = (long) PROCESS_VM_READV.invokeExact(state, self, local, 1L, remote, 1L, 0L);
      // If a sandbox forbids the call, nothing is known, and the byte counts as readable.
      return copied == 1 || (int) ERRNO.get(state, 0L) != EFAULT;
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  private static boolean pagesExist(long address, long lengthBytes) {
    long first = address & -PAGE_BYTES;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(CAPTURE);
      // MS_ASYNC writes nothing back on Linux; it only walks the mappings.
      int result = (int) MSYNC.invokeExact(state, first, lengthBytes + (address - first), MS_ASYNC);
      return result == 0 || (int) ERRNO.get(state, 0L) != ENOMEM;
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** sigaction(2); either pointer may be null. */
  static int sigaction(int signal, MemorySegment action, MemorySegment old) {
    try {
      return (int) SIGACTION.invokeExact(signal, action, old);
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** getsockname(2): the local address of a socket, zeros behind it; 0 if it is a socket. */
  static int getsockname(int socket, MemorySegment name) {
    return nameOf(GETSOCKNAME, socket, name);
  }

  /** getpeername(2): as {@link #getsockname}, the address that it is connected to. */
  static int getpeername(int socket, MemorySegment name) {
    return nameOf(GETPEERNAME, socket, name);
  }

  private static int nameOf(MethodHandle naming, int socket, MemorySegment name) {
    try (Arena arena = Arena.ofConfined()) {
      name.fill((byte) 0);
      MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, (int) name.byteSize());
      return (int) naming.invokeExact(socket, name, length);
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** getsockopt(2): the value of an option, zeros behind it; 0 if there is one. */
  static int getsockopt(int socket, int level, int option, MemorySegment value) {
    try (Arena arena = Arena.ofConfined()) {
      value.fill((byte) 0);
      MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, (int) value.byteSize());
      return (int) GETSOCKOPT.invokeExact(socket, level, option, value, length);
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** shutdown(2), in both directions. That it is over already is no failure. */
  static void shutdown(int socket) {
    try {
      int over = (int) SHUTDOWN.invokeExact(socket, SHUT_RDWR);
      assert over == 0 || over == -1;
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** open(2) of a file or a folder, for reading; negative if that fails. */
  static int open(String file) {
    try (Arena arena = Arena.ofConfined()) {
      return (int) OPEN.invokeExact(arena.allocateFrom(file), O_RDONLY_CLOEXEC);
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** close(2). */
  static void close(int file) {
    try {
      int failed = (int) CLOSE.invokeExact(file);
      assert failed == 0;
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** flock(2), exclusive and without waiting; whether it was to be had. */
  static boolean lock(int file) {
    try {
      return (int) FLOCK.invokeExact(file, LOCK_EX_NB) == 0;
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  /** The value of a pthread_spinlock_t that is not held; it depends on the CPU architecture. */
  static int freeSpinLock() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment lock = arena.allocate(ValueLayout.JAVA_INT);
      int failed = (int) PTHREAD_SPIN_INIT.invokeExact(lock, PTHREAD_PROCESS_SHARED);
      assert failed == 0;
      return lock.get(ValueLayout.JAVA_INT, 0);
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  private static long sysconf(int name) {
    try {
      return (long) SYSCONF.invokeExact(name);
    } catch (Throwable impossible) {
      throw rethrow(impossible);
    }
  }

  private static RuntimeException rethrow(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    return new IllegalStateException("call into the C library failed", cause);
  }
}
