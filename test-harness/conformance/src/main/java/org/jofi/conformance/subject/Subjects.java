package org.jofi.conformance.subject;

import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.FabricUnavailableException;
import org.jspecify.annotations.Nullable;

/** Subjects by name, as the command line and child processes name them. */
public final class Subjects {
  /** Before the name of a simulated profile. */
  public static final String SIMULATED = "sim:";

  /** Before the name of a class that implements {@link Subject}. */
  public static final String CLASS = "class:";

  private static final String PREFERRED = "tcp";

  /** What libfabric 1 calls its tcp provider of reliable datagram endpoints. */
  private static final String TCP_OF_OLD = "net";

  private Subjects() {}

  /**
   * The subject of that name: {@code sim:PROFILE}, {@code class:CLASS}, or a provider of the
   * installed libfabric.
   *
   * @param domain the NIC; null for any
   * @throws IllegalArgumentException if there is no such profile or class
   * @throws FabricUnavailableException if libfabric, or that provider of it, is not on this machine
   */
  public static Subject named(String name, @Nullable String domain) {
    if (name.startsWith(CLASS)) {
      return instance(name.substring(CLASS.length()));
    }
    if (name.startsWith(SIMULATED)) {
      return new SimulatedSubject(name.substring(SIMULATED.length()), domain);
    }
    return ofLibfabric(name, domain);
  }

  private static Subject ofLibfabric(String name, @Nullable String domain) {
    FabricProvider libfabric = FabricProvider.named("libfabric");
    List<String> offered =
        libfabric.discover(FabricHints.any().withHmem(false)).stream()
            .map(FabricInfo::provider)
            .distinct()
            .sorted()
            .toList();
    String exact =
        name.equals(PREFERRED) && !offered.contains(name) && offered.contains(TCP_OF_OLD)
            ? TCP_OF_OLD
            : name;
    LibfabricSubject subject = new LibfabricSubject(libfabric, exact, domain);
    if (subject.discover(subject.hints()).isEmpty()) {
      if (domain != null && offered.contains(exact)) {
        LibfabricSubject any = new LibfabricSubject(libfabric, exact, null);
        throw new FabricUnavailableException(
            "%s of %s has no domain '%s' here; it has %s"
                .formatted(
                    exact,
                    libfabric.version(),
                    domain,
                    any.discover(any.hints()).stream()
                        .map(FabricInfo::domainName)
                        .distinct()
                        .sorted()
                        .collect(Collectors.joining(", "))));
      }
      throw new FabricUnavailableException(
          "%s has no provider '%s'%s for reliable datagram endpoints here; it has %s"
              .formatted(
                  libfabric.version(),
                  name,
                  Optional.ofNullable(domain).map(" with domain '%s'"::formatted).orElse(""),
                  String.join(", ", offered)));
    }
    return subject;
  }

  private static Subject instance(String className) {
    try {
      return Class.forName(className).asSubclass(Subject.class).getConstructor().newInstance();
    } catch (ClassNotFoundException
        | NoSuchMethodException
        | InstantiationException
        | IllegalAccessException
        | ClassCastException e) {
      throw new IllegalArgumentException(
          "%s is no public class that implements %s and has a public constructor without arguments"
              .formatted(className, Subject.class.getName()),
          e);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException(className + " could not be made: " + e.getCause(), e);
    }
  }
}
