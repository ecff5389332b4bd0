package org.jofi.nccl;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/** The functions that the shared library calls, in the order of its table. */
enum Upcall {
  INIT("init", "(J)I"),
  FINALIZE("finalizeContext", "(J)I"),
  DEVICES("devices", "(J)I"),
  GET_PROPERTIES("getProperties", "(IJ)I"),
  LISTEN("listen", "(JIJJ)I"),
  CONNECT("connect", "(JIJJ)I"),
  ACCEPT("accept", "(JJ)I"),
  REG_MR("regMr", "(JJJIIJIJ)I"),
  DEREG_MR("deregMr", "(JJ)I"),
  ISEND("isend", "(JJJIJJ)I"),
  IRECV("irecv", "(JIJJJJJ)I"),
  IFLUSH("iflush", "(JIJJJJ)I"),
  TEST("test", "(JJJ)I"),
  CLOSE_SEND("closeSend", "(J)I"),
  CLOSE_RECV("closeRecv", "(J)I"),
  CLOSE_LISTEN("closeListen", "(J)I");

  private final String method;
  private final String signature;

  /**
   * @param method name of the method of {@link NetPlugin}
   * @param signature its descriptor: integers, and pointers as longs
   */
  Upcall(String method, String signature) {
    this.method = method;
    this.signature = signature;
  }

  /** Its name in error messages. */
  String words() {
    return this == FINALIZE ? "finalize" : method;
  }

  private MethodType type() {
    return MethodType.fromMethodDescriptorString(signature, null);
  }

  /** Its C signature. */
  FunctionDescriptor descriptor() {
    return FunctionDescriptor.of(
        ValueLayout.JAVA_INT,
        type().parameterList().stream()
            .map(type -> type == int.class ? ValueLayout.JAVA_INT : ValueLayout.JAVA_LONG)
            .toArray(MemoryLayout[]::new));
  }

  /**
   * A handle of the plugin's method that never throws, because an exception that leaves an upcall
   * would end the process.
   */
  MethodHandle guarded(NetPlugin plugin, PluginLog log) throws ReflectiveOperationException {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    MethodHandle target = lookup.findVirtual(NetPlugin.class, method, type()).bindTo(plugin);
    MethodHandle report =
        lookup
            .findVirtual(
                Upcall.class,
                "report",
                MethodType.methodType(int.class, PluginLog.class, Throwable.class))
            .bindTo(this)
            .bindTo(log);
    // Reporting can fail as well, if the stack or the memory is exhausted.
    MethodHandle giveUp =
        MethodHandles.dropArguments(
            MethodHandles.constant(int.class, NcclResult.INTERNAL_ERROR),
            0,
            Throwable.class,
            Throwable.class);
    return MethodHandles.catchException(
        target, Throwable.class, MethodHandles.catchException(report, Throwable.class, giveUp));
  }

  @SuppressWarnings("unused") // through a method handle
  private int report(PluginLog log, Throwable thrown) {
    int result = NcclResult.of(thrown);
    @Nullable String message = thrown.getMessage();
    if (result != NcclResult.INTERNAL_ERROR && message != null) {
      log.warn(words() + ": " + message);
    } else {
      StackTraceElement[] trace = thrown.getStackTrace();
      log.warn(words() + ": " + thrown + (trace.length > 0 ? " at " + trace[0] : ""));
    }
    return result;
  }
}
