package org.jofi.rdma.wire;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jofi.fabric.ProviderRelease;
import org.jofi.transport.ConnectHandle;

/** Sound messages, drawn at random. */
final class Messages {
  private Messages() {}

  static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  static ConnectionId connectionId(Random random, boolean to, boolean from) {
    return new ConnectionId(
        to ? random.nextInt(1, ProtocolLimits.MAX_COMMUNICATOR + 1) : 0,
        to ? random.nextInt(1, ProtocolLimits.MAX_GENERATION + 1) : 0,
        from ? random.nextInt(1, ProtocolLimits.MAX_COMMUNICATOR + 1) : 0,
        from ? random.nextInt(1, ProtocolLimits.MAX_GENERATION + 1) : 0,
        random.nextLong());
  }

  static RailAddresses rails(Random random) {
    int data = random.nextInt(1, ProtocolLimits.MAX_RAILS + 1);
    return new RailAddresses(
        random.nextLong(),
        addresses(random, random.nextBoolean() ? 1 : data),
        addresses(random, data),
        Stream.generate(() -> random.nextInt(Integer.MAX_VALUE)).limit(data).toList());
  }

  private static List<FabricAddress> addresses(Random random, int count) {
    return Stream.generate(() -> address(random)).limit(count).toList();
  }

  static FabricAddress address(Random random) {
    return FabricAddress.of(bytes(random, random.nextInt(1, ProtocolLimits.MAX_ADDRESS_BYTES + 1)));
  }

  static ConnectRequest request(Random random) {
    RailAddresses rails = rails(random);
    return new ConnectRequest(
        connectionId(random, false, true),
        address(random),
        Nonce.of(bytes(random, ProtocolLimits.NONCE_BYTES)),
        random.nextLong(),
        random.nextLong(),
        random.nextLong(1, ProtocolLimits.MAX_MESSAGE_BYTES + 1),
        rails,
        IntStream.range(0, rails.control().size())
            .mapToObj(_ -> new MailboxTarget(random.nextLong() >>> 1, random.nextLong()))
            .toList());
  }

  static ConnectAccept accept(Random random) {
    long features = random.nextBoolean() ? Features.ALL : Features.WRITE_DATA;
    return new ConnectAccept(
        connectionId(random, true, true),
        features,
        random.nextLong(1, ProtocolLimits.MAX_MESSAGE_BYTES + 1),
        rails(random),
        features == Features.ALL && random.nextBoolean() ? grant(random) : EagerGrant.NONE);
  }

  static ConnectRedirect redirect(Random random) {
    List<Integer> rails =
        new ArrayList<>(IntStream.range(0, ProtocolLimits.MAX_RAILS).boxed().toList());
    Collections.shuffle(rails, random);
    int addresses = random.nextInt(1, 6);
    return new ConnectRedirect(
        connectionId(random, true, false),
        random.nextInt(1, ProtocolLimits.MAX_RAILS + 1),
        rails.subList(0, random.nextInt(1, ProtocolLimits.MAX_RAILS + 1)),
        ConnectHandle.of(
            random.nextInt(1 << 20),
            bytes(random, ProtocolLimits.NONCE_BYTES),
            Stream.generate(() -> bytes(random, 16)).limit(addresses).toList(),
            random.nextInt(256),
            random.nextBoolean() ? ProviderRelease.UNTOLD : new ProviderRelease("tcp", 2, 1)));
  }

  private static EagerGrant grant(Random random) {
    return new EagerGrant(
        random.nextInt(1, EagerGrant.MOST_CREDITS + 1),
        random.nextInt(1, EagerGrant.MOST_BYTES + 1));
  }
}
