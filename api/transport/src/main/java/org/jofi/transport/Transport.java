package org.jofi.transport;

import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;

/**
 * The NICs of this machine, grouped into devices. Any thread. Several transports may be open in one
 * process; they share nothing.
 */
public interface Transport extends AutoCloseable {

  /**
   * Opens a transport. The implementation is found on the module path or class path.
   *
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if there is no implementation,
   *     no NIC, or less than the options require; the message says what was looked for
   */
  static Transport open(TransportOptions options) {
    Objects.requireNonNull(options);
    return ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
        .findFirst()
        .orElseThrow(
            () ->
                new TransportException(
                    FailureCause.UNAVAILABLE,
                    "no transport found: put the jofi-rdma-protocol jar on the module path"))
        .open(options);
  }

  /** Its devices, 1 or more, in a stable order. */
  List<Device> devices();

  /** The options that it was opened with. */
  TransportOptions options();

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
