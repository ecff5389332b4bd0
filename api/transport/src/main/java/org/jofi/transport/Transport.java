package org.jofi.transport;

import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;

/**
 * The NICs of this machine, as devices. Any thread. Several may be open in one process; they share
 * nothing.
 */
public interface Transport extends AutoCloseable {

  /**
   * Opens one, with the transport that is on the module or class path.
   *
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if there is no transport, no
   *     NIC, or less than the options require; the message says what was looked at
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

  /** What it was opened with. */
  TransportOptions options();

  /**
   * Closes everything that it opened, in order, communicators included: those with requests in
   * flight as {@link Comm#close} does. Bounded by {@link TransportOptions#closeTimeout()} per
   * endpoint. Again is a no-op.
   *
   * @throws TransportException if something could not be closed; the message names it
   */
  @Override
  void close();
}
