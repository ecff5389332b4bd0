package org.jofi.abidouble;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.Grouping;
import org.jofi.transport.ImmediateDelivery;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;

/**
 * What two processes are started with, as arguments of their command lines.
 *
 * @param exchange what they do
 * @param rails how many, all of them on this machine's own interface
 * @param providerKeys as {@link DoubleSettings}
 * @param localDescriptors as {@link DoubleSettings}
 * @param writeData as {@link DoubleSettings}
 * @param board as {@link DoubleSettings}
 */
record PeerSettings(
    Exchange exchange,
    int rails,
    boolean providerKeys,
    boolean localDescriptors,
    boolean writeData,
    Path board) {

  /** As {@link #argument} has written them. */
  static PeerSettings parse(String argument) {
    String[] parts = argument.split(",", 6);
    return new PeerSettings(
        Exchange.valueOf(parts[0]),
        Integer.parseInt(parts[1]),
        Boolean.parseBoolean(parts[2]),
        Boolean.parseBoolean(parts[3]),
        Boolean.parseBoolean(parts[4]),
        Path.of(parts[5]));
  }

  /** These as one argument of a command line. */
  String argument() {
    return String.join(
        ",",
        exchange.name(),
        Integer.toString(rails),
        Boolean.toString(providerKeys),
        Boolean.toString(localDescriptors),
        Boolean.toString(writeData),
        board.toString());
  }

  /** These, with that board. */
  PeerSettings withBoard(Path file) {
    return new PeerSettings(exchange, rails, providerKeys, localDescriptors, writeData, file);
  }

  DoubleSettings settings() {
    return new DoubleSettings(providerKeys, localDescriptors, writeData, Optional.of(board));
  }

  TransportOptions options(String provider, String nic) {
    return TransportOptions.builder()
        .provider(provider)
        .grouping(new Grouping.Explicit(List.of(Collections.nCopies(rails, nic))))
        .tuning(
            Tuning.DEFAULT
                .withMinStripeBytes(4096)
                .withImmediateDelivery(
                    writeData ? ImmediateDelivery.AUTO : ImmediateDelivery.WRITE_THEN_SEND))
        .flushPolicy(exchange == Exchange.FLUSHES ? FlushPolicy.ALWAYS : FlushPolicy.AUTO)
        .peerTimeout(exchange.peerTimeout())
        .build();
  }

  @Override
  public String toString() {
    return "%s, %d rail(s), %s keys%s%s"
        .formatted(
            exchange,
            rails,
            providerKeys ? "provider" : "client",
            localDescriptors ? ", local descriptors" : "",
            writeData ? "" : ", no fi_writedata");
  }
}
