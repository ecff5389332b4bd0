package org.jofi.transport;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jofi.fabric.FabricProvider;

/**
 * The NICs of this machine, grouped into devices. Any thread. Several transports may be open in one
 * process; they share nothing.
 */
public interface Transport extends AutoCloseable {

  /**
   * Opens a transport over libfabric. The implementation is found on the module path or class path.
   *
   * @param options which NICs to use and how; {@link TransportOptions#defaults()} for any
   * @return the transport, which the caller closes
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if there is no implementation,
   *     no NIC, or less than the options require; the message says what was looked for. The same if
   *     the JVM was started without {@code --enable-native-access}: the message is the option to
   *     type. With {@link FailureCause#FABRIC} if the NICs cannot be listed
   */
  static Transport open(TransportOptions options) {
    return TransportProvider.installed().open(Objects.requireNonNull(options));
  }

  /**
   * Opens a transport over the NICs of a given provider, such as a simulated one in real time. The
   * provider needs no entry as a service.
   *
   * @param provider whose NICs to use
   * @param options which of its NICs to use and how
   * @return the transport, which the caller closes
   * @throws TransportException as {@link #open(TransportOptions)}
   */
  static Transport open(FabricProvider provider, TransportOptions options) {
    return TransportProvider.installed()
        .open(Objects.requireNonNull(provider), Objects.requireNonNull(options));
  }

  /** {@return its devices, 1 or more, in a stable order} */
  List<Device> devices();

  /** {@return the options that it was opened with} */
  TransportOptions options();

  /**
   * Opens an arena of host memory for any thread. It refuses to close, with an {@link
   * IllegalStateException}, while a request uses its memory; before it frees the memory, it closes
   * what is registered of it. If a NIC refuses that, the close throws a {@link TransportException},
   * frees nothing, and can be repeated; the memory can no longer be registered then. The transport
   * does not close it.
   *
   * @return a new arena, which the caller closes
   */
  Arena openArena();

  /**
   * Closes whatever is registered of memory that is about to be freed, on all devices; the next use
   * registers anew. Memory of arenas needs no such call, and device memory none but to give its
   * pages back at once rather than within a few seconds.
   *
   * @param memory the range that is about to be freed
   * @throws IllegalStateException if requests in flight use any of it; the message names them, and
   *     the memory must not be freed
   * @throws TransportException if a NIC refuses; the memory must not be freed yet, call again
   */
  void forget(Memory memory);

  /**
   * Where it is counted what happens on its devices, for {@link org.jofi.counters.Counters} of this
   * or another process, and for {@code jofi stat}. The file is deleted when the transport is
   * closed.
   *
   * @return the file; empty if there is none, because the system property {@code jofi.counters} or
   *     the variable {@code JOFI_COUNTERS} is {@code off}, or because it could not be made
   */
  default Optional<Path> countersFile() {
    return Optional.empty();
  }

  /**
   * Closes everything that was opened through it, in the right order. Communicators with requests
   * in flight are closed as by {@link Comm#close}. Takes at most {@link
   * TransportOptions#closeTimeout()} per endpoint. A second call does nothing.
   *
   * @throws TransportException if something could not be closed; the message names it
   */
  @Override
  void close();
}
