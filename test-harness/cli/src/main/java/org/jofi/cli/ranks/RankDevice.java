package org.jofi.cli.ranks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Grouping;
import org.jofi.transport.NicNames;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/**
 * The device that a rank uses, and its transport.
 *
 * @param transport the transport, closed with this
 * @param device one of its devices
 */
public record RankDevice(Transport transport, Device device) implements AutoCloseable {
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(30);

  /**
   * Opens a device.
   *
   * @param fabric the fabric
   * @param options options of the transport; this method changes them
   * @param names name of the device or of one of its NICs, or what that begins with; or the same of
   *     several NICs separated by commas, or {@code =} and the names of NICs, as the rails of one;
   *     or {@code ^} and what NICs not to use begin with; empty for the first device
   * @param rails number of rails, 1 to 8; 0 for as many as it has NICs. If it has more NICs, the
   *     first ones are used; if it has fewer, they are used several times.
   * @throws TransportException if there is no such device
   */
  public static RankDevice open(
      FabricChoice fabric, TransportOptions.Builder options, String names, int rails) {
    if (names.startsWith("^")) {
      return open(fabric, options.nics(NicNames.of(names)), "", rails);
    }
    boolean exact = names.startsWith("=");
    List<String> wanted = List.of((exact ? names.substring(1) : names).split(",", -1));
    if (!exact && wanted.size() == 1) {
      Transport transport = fabric.open(options);
      try {
        Device found = find(transport, names);
        wanted = nics(found);
        if (rails == 0 || wanted.size() == rails) {
          return new RankDevice(transport, found);
        }
      } catch (RuntimeException e) {
        transport.close();
        throw e;
      }
      transport.close();
    } else if (!exact) {
      wanted = inFull(fabric, options, wanted);
    }
    List<String> nics = new ArrayList<>();
    for (int rail = 0; rail < (rails == 0 ? wanted.size() : rails); rail++) {
      nics.add(wanted.get(rail % wanted.size()));
    }
    Transport transport = fabric.open(options.grouping(new Grouping.Explicit(List.of(nics))));
    return new RankDevice(transport, transport.devices().getFirst());
  }

  /** The NICs with these names; in place of what is no name, all those that begin with it. */
  private static List<String> inFull(
      FabricChoice fabric, TransportOptions.Builder options, List<String> words) {
    List<String> all;
    try (Transport transport = fabric.open(options.grouping(new Grouping.EachNic()))) {
      all = transport.devices().stream().flatMap(device -> nics(device).stream()).toList();
    }
    return words.stream()
        .flatMap(
            word ->
                word.isEmpty() || all.contains(word) || all.stream().noneMatch(startWith(word))
                    ? Stream.of(word)
                    : all.stream().filter(startWith(word)))
        .toList();
  }

  private static Predicate<String> startWith(String word) {
    return name -> name.startsWith(word);
  }

  private static Device find(Transport transport, String name) {
    List<Device> devices = transport.devices();
    if (name.isEmpty()) {
      return devices.getFirst();
    }
    return devices.stream()
        .filter(device -> isNamed(device.properties(), name))
        .findFirst()
        .or(() -> devices.stream().filter(device -> nicBegins(device, name)).findFirst())
        .orElseThrow(
            () ->
                new TransportException(
                    FailureCause.UNAVAILABLE,
                    "no device or NIC named '%s'; there are %s"
                        .formatted(
                            name,
                            devices.stream()
                                .map(device -> device.properties().name())
                                .collect(Collectors.joining(", ")))));
  }

  private static boolean nicBegins(Device device, String name) {
    return nics(device).stream().anyMatch(startWith(name));
  }

  private static boolean isNamed(DeviceProperties properties, String name) {
    return properties.name().equals(name)
        || properties.rails().stream().anyMatch(rail -> rail.nic().equals(name));
  }

  /** Its provider, name and rails, for messages. */
  public String describe() {
    DeviceProperties properties = device.properties();
    return "%s device %s, %d rail(s): %s"
        .formatted(
            properties.provider(),
            properties.name(),
            properties.rails().size(),
            String.join(", ", nics()));
  }

  /** The name of the NIC of each rail. */
  public List<String> nics() {
    return nics(device);
  }

  private static List<String> nics(Device device) {
    return device.properties().rails().stream().map(DeviceProperties.Rail::nic).toList();
  }

  /**
   * Closes the transport. A provider may wait for its NIC in this without a bound: {@code efa}
   * does, until every operation has come back. So a thread of its own closes, which this process
   * does not wait for when it ends.
   *
   * @throws TransportException TIMED_OUT if it takes longer than 30 s
   */
  @Override
  public void close() {
    closeWithin(transport, CLOSE_WITHIN, describe());
  }

  static void closeWithin(AutoCloseable transport, Duration bound, String name) {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("rank-close")
        .start(
            () -> {
              try {
                transport.close();
                closed.complete(null);
              } catch (Throwable e) {
                closed.completeExceptionally(e);
              }
            });
    try {
      closed.get(bound.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          "closing %s did not end within %d s: the provider may still wait for a NIC that does not complete its operations"
              .formatted(name, bound.toSeconds()));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error failure) {
        throw failure;
      }
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TransportException(
          FailureCause.TIMED_OUT, "interrupted while closing %s".formatted(name));
    }
  }
}
