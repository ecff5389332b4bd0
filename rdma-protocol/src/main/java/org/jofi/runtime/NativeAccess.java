package org.jofi.runtime;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.FabricProvider;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/** Whether the JVM allows native code to jofi. */
final class NativeAccess {
  private NativeAccess() {}

  /**
   * Throws if it does not. Looked at before the first call, about which the JVM would print a
   * warning for each module, or later throw from somewhere in the middle.
   *
   * @param provider what runs below, beside those of device memory that are installed
   * @throws TransportException {@link FailureCause#UNAVAILABLE} with the option to start java with;
   *     without a stack, since who does not catch it is to read one line
   */
  static void require(FabricProvider provider) {
    List<Module> needed =
        Stream.of(
                Stream.of(NativeAccess.class.getModule()),
                provider.nativeModules().stream(),
                DeviceMemoryProvider.installed().stream()
                    .flatMap(memory -> memory.nativeModules().stream()))
            .flatMap(modules -> modules)
            .distinct()
            .toList();
    if (!needed.stream().allMatch(Module::isNativeAccessEnabled)) {
      TransportException refusal = new TransportException(FailureCause.UNAVAILABLE, advice(needed));
      refusal.setStackTrace(new StackTraceElement[0]);
      throw refusal;
    }
  }

  private static String advice(List<Module> needed) {
    List<String> names =
        needed.stream()
            .map(module -> module.isNamed() ? module.getName() : "ALL-UNNAMED")
            .distinct()
            .sorted()
            .toList();
    return "this JVM was not started so that jofi may call native code; start it with java --enable-native-access="
        + String.join(",", names);
  }
}
