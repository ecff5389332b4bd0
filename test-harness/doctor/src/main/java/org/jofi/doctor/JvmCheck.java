package org.jofi.doctor;

import java.util.List;

/** Checks options of the JVM that matter to jofi. */
final class JvmCheck implements Check {
  private static final String NAME = "jvm";
  private static final List<String> READ = List.of("the JVM's options");

  @Override
  public List<Finding> examine(Patient patient) {
    return patient
        .process()
        .map(
            process ->
                List.of(
                    nativeAccess(process),
                    signals(process),
                    children(process),
                    largePages(process),
                    collector(process)))
        .orElseGet(
            () ->
                List.of(
                    Finding.skip(
                        NAME, "", "not read: its options belong to the live machine", READ)));
  }

  private static Finding nativeAccess(LiveProcess process) {
    return process
        .withoutNativeAccess()
        .map(
            module ->
                Finding.warn(
                    NAME,
                    "native-access",
                    module + " is not allowed to call native code: a transport does not open",
                    READ,
                    "java --enable-native-access="
                        + (module.equals("ALL-UNNAMED")
                            ? module
                            : module + "," + module + ".bindings,org.jofi.rdma")))
        .orElseGet(() -> Finding.pass(NAME, "native-access", "allowed for libfabric", READ));
  }

  private static Finding signals(LiveProcess process) {
    return process.started("-Xrs")
        ? Finding.warn(
            NAME,
            "signals",
            "-Xrs: Ctrl-C and SIGTERM end the process without its shutdown hooks, and shared"
                + " memory of the shm provider stays behind in /dev/shm",
            READ,
            "leave out -Xrs, unless the JVM is a guest in another program")
        : Finding.pass(
            NAME,
            "signals",
            "the JVM's own; jofi takes out the handlers that shm and psm2 install",
            READ);
  }

  private static Finding children(LiveProcess process) {
    return process.started("-Djdk.lang.Process.launchMechanism=FORK")
        ? Finding.warn(
            NAME,
            "children",
            "ProcessBuilder forks, and the child shares pages that a NIC writes to",
            READ,
            "leave out -Djdk.lang.Process.launchMechanism=FORK")
        : Finding.pass(
            NAME, "children", "ProcessBuilder starts them without copying memory maps", READ);
  }

  private static Finding largePages(LiveProcess process) {
    boolean asked =
        process.started("-XX:+UseLargePages") || process.started("-XX:+UseTransparentHugePages");
    return Finding.pass(
        NAME,
        "large-pages",
        (asked ? "asked for" : "not asked for")
            + ": they serve the heap, and jofi's buffers are outside of it",
        READ);
  }

  private static Finding collector(LiveProcess process) {
    return Finding.pass(
        NAME,
        "collector",
        String.join(", ", process.collectors())
            + ": any will do, coloured pointers included, since no NIC sees the heap",
        READ);
  }
}
