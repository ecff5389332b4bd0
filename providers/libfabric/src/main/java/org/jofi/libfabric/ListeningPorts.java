package org.jofi.libfabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.libfabric.LibfabricTraits.PortVariables;
import org.jofi.libfabric.bindings.fi_info;
import org.jofi.transport.diagnostics.Log;

/**
 * The ports at which endpoints over sockets may listen, for machines with a firewall between them.
 * Any thread.
 *
 * @param low the first, 1 to 65535
 * @param high the last
 */
record ListeningPorts(int low, int high) {
  static final String PROPERTY = "jofi.ports";
  static final String VARIABLE = "JOFI_PORTS";

  private static final Log LOG = new Log(Log.Name.PROVIDER);
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,5})-([0-9]{1,5})");
  private static final int MAX_PORT = 65_535;
  private static final ValueLayout.OfShort PORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** Where a sockaddr_in and a sockaddr_in6 have it. */
  private static final int PORT_AT = 2;

  private static final AtomicBoolean TOLD = new AtomicBoolean();

  /**
   * What the property or the variable says; empty if neither does.
   *
   * @throws FabricUnavailableException if that is no range of ports
   */
  static Optional<ListeningPorts> chosen() {
    String property = System.getProperty(PROPERTY, "");
    String variable = System.getenv(VARIABLE);
    String chosen = property.isEmpty() && variable != null ? variable : property;
    return chosen.isBlank() ? Optional.empty() : Optional.of(of(chosen.strip()));
  }

  /** Reads a range; {@link #chosen}. */
  static ListeningPorts of(String text) {
    Matcher range = RANGE.matcher(text);
    if (range.matches()) {
      int low = Integer.parseInt(range.group(1));
      int high = Integer.parseInt(range.group(2));
      if (low >= 1 && low <= high && high <= MAX_PORT) {
        return new ListeningPorts(low, high);
      }
    }
    throw new FabricUnavailableException(
        "%s='%s' (-D%s, --ports): must be the first and the last port, as 14000-14100, of 1 to %d"
            .formatted(VARIABLE, text, PROPERTY, MAX_PORT));
  }

  /** Has a provider's variables say so, unless the user has set them, which is told. */
  void offer(PortVariables variables, Offer environment) {
    String first = LibC.variable(variables.low());
    String last = LibC.variable(variables.high());
    if (first.isEmpty() && last.isEmpty()) {
      environment.variable(variables.low(), Integer.toString(low));
      environment.variable(variables.high(), Integer.toString(high));
    } else if (!first.equals(Integer.toString(low)) || !last.equals(Integer.toString(high))) {
      LOG.log(
          System.Logger.Level.WARNING,
          "%s=%s and %s=%s are set, and count for endpoints over %s, in place of %s"
              .formatted(
                  variables.low(), first, variables.high(), last, variables.provider(), this));
    }
  }

  /** Takes a variable for the library's providers. */
  interface Offer {
    void variable(String name, String value);
  }

  /** How many there are. */
  int count() {
    return high - low + 1;
  }

  /** The port to begin with: not the same one for all processes. */
  int anyOffset() {
    return ThreadLocalRandom.current().nextInt(count());
  }

  /** An info whose endpoint listens at one of these ports. */
  NativeInfo at(int offset, NativeInfo handle) {
    NativeInfo copy = handle.with(NativeInfo::copyOf);
    copy.with(
        pointer -> {
          MemorySegment info = InfoReader.struct(pointer);
          MemorySegment address = fi_info.src_addr(info);
          if (address.address() != 0 && fi_info.src_addrlen(info) > PORT_AT + Short.BYTES) {
            InfoReader.struct(address).set(PORT, PORT_AT, (short) (low + offset % count()));
          }
          return copy;
        });
    return copy;
  }

  /** Whether an endpoint could not be opened because its port is taken. */
  static boolean isTaken(FabricException failure) {
    return failure.errno() == FabricErrno.EADDRINUSE
        || failure.errno() == FabricErrno.EADDRNOTAVAIL;
  }

  /** The same failure, with what is short. */
  FabricException explain(FabricException failure) {
    return new FabricException(
        failure.operation(),
        failure.errno(),
        "none of the %d ports of %s is free; each rail of an endpoint takes two, of each process: give more"
            .formatted(count(), this),
        failure.where());
  }

  /** Tells, once, of an endpoint that listens elsewhere. */
  void check(LibfabricEndpoint endpoint, PortVariables variables) {
    byte[] address = endpoint.address();
    if (address.length <= PORT_AT + Short.BYTES || !LibC.variable(variables.low()).isEmpty()) {
      return;
    }
    int port = Short.toUnsignedInt(MemorySegment.ofArray(address).get(PORT, PORT_AT));
    if ((port < low || port > high) && TOLD.compareAndSet(false, true)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "%s listens outside of %s: this process used libfabric before these ports were asked for, and libfabric reads its settings once; set %s=%d and %s=%d for the process"
              .formatted(endpoint, this, variables.low(), low, variables.high(), high));
    }
  }

  /** As the variable says it. */
  @Override
  public String toString() {
    return "%s=%d-%d".formatted(VARIABLE, low, high);
  }
}
