package org.jofi.cuda;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The two functions of the C library that are needed here. */
@SuppressWarnings("restricted")
final class LibC {
  private static final MethodHandle CLOSE =
      handle("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  private static final MethodHandle PAGE_SIZE =
      handle("getpagesize", FunctionDescriptor.of(ValueLayout.JAVA_INT));

  private LibC() {}

  /** close(2). */
  static int close(int fd) {
    try {
      return (int) CLOSE.invokeExact(fd);
    } catch (Throwable e) {
      throw Downcalls.unexpected(e);
    }
  }

  /** getpagesize(2), in bytes. */
  static int pageBytes() {
    try {
      return (int) PAGE_SIZE.invokeExact();
    } catch (Throwable e) {
      throw Downcalls.unexpected(e);
    }
  }

  private static MethodHandle handle(String name, FunctionDescriptor type) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
  }
}
