package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of the handshake; {@link HandshakeEncoder} has the bytes. It never throws for
 * what is in them: it gives null, and {@link #fault} says why. One thread at a time.
 */
public final class HandshakeDecoder {
  private MemorySegment memory = MemorySegment.NULL;
  private long at;
  private long end;
  private WireFault fault = WireFault.NONE;

  /** What was wrong with the message that was read last. */
  public WireFault fault() {
    return fault;
  }

  /**
   * The connector's reply address, of a request of any version, so that it can be told that this
   * side speaks another one.
   *
   * @return null if that cannot be read
   */
  public @Nullable FabricAddress replyAddress(MemorySegment message, long offset, long length) {
    if (!open(message, offset, length, MessageType.CONNECT)) {
      return null;
    }
    return address();
  }

  /** A request, or null. */
  public @Nullable ConnectRequest request(MemorySegment message, long offset, long length) {
    if (!open(message, offset, length, MessageType.CONNECT) || !isOurVersion(message, offset)) {
      return null;
    }
    FabricAddress reply = address();
    zeros(offset + HandshakeEncoder.NONCE - at);
    Nonce nonce = new Nonce(longWord(), longWord());
    long listener = longWord();
    Rails rails = rails(false);
    if (reply == null || rails == null) {
      return null;
    }
    List<MailboxTarget> mailbox = new ArrayList<>(rails.addresses.control().size());
    for (int rail = 0; rail < rails.addresses.control().size(); rail++) {
      mailbox.add(new MailboxTarget(longWord(), longWord()));
    }
    for (MailboxTarget target : mailbox) {
      if (MailboxReader.wraps(
          target.address(), new MailboxLayout(rails.addresses.data().size()).mailboxBytes())) {
        fail(WireFault.RANGE);
      }
    }
    if (!close()) {
      return null;
    }
    return new ConnectRequest(
        MessageHeader.connectionId(message, offset),
        reply,
        nonce,
        listener,
        rails.features,
        rails.maxMessageBytes,
        rails.addresses,
        mailbox);
  }

  /** An acceptance, or null. */
  public @Nullable ConnectAccept accept(MemorySegment message, long offset, long length) {
    if (!open(message, offset, length, MessageType.ACCEPT) || !isOurVersion(message, offset)) {
      return null;
    }
    Rails rails = rails(true);
    if (rails == null || !close()) {
      return null;
    }
    if ((rails.features & ~Features.ALL) != 0 || !Features.suffice(rails.features)) {
      fault = WireFault.FEATURE;
      return null;
    }
    if (!ConnectAccept.isGrantable(rails.features, rails.eager)) {
      fault = WireFault.RANGE;
      return null;
    }
    return new ConnectAccept(
        MessageHeader.connectionId(message, offset),
        rails.features,
        rails.maxMessageBytes,
        rails.addresses,
        rails.eager);
  }

  private boolean open(MemorySegment message, long offset, long length, MessageType type) {
    fault = MessageHeader.check(message, offset, length);
    if (fault == WireFault.NONE && MessageHeader.type(message, offset) != type) {
      fault = WireFault.TYPE;
    }
    memory = message;
    at = offset + MessageHeader.BYTES;
    end = offset + length;
    return fault == WireFault.NONE;
  }

  private boolean isOurVersion(MemorySegment message, long offset) {
    if (MessageHeader.version(message, offset) != ProtocolLimits.VERSION) {
      fail(WireFault.VERSION);
    }
    return fault == WireFault.NONE;
  }

  private boolean close() {
    if (at != end) {
      fail(WireFault.TRAILING);
    }
    return fault == WireFault.NONE;
  }

  private @Nullable Rails rails(boolean grants) {
    long features = longWord();
    long maxMessageBytes = longWord();
    long counts = longWord();
    int data = (int) counts & 0xff;
    int control = (int) (counts >>> 8) & 0xff;
    int credits = (int) (counts >>> 16) & 0xffff;
    long eagerBytes = counts >>> 32;
    long endpoint = longWord();
    if (fault != WireFault.NONE) {
      return null;
    }
    if (!grants && counts >>> 16 != 0) {
      fail(WireFault.RESERVED);
    } else if (!RailAddresses.isRailCount(data, control)) {
      fail(WireFault.RAILS);
    } else if (maxMessageBytes < 1
        || maxMessageBytes > ProtocolLimits.MAX_MESSAGE_BYTES
        || !EagerGrant.isGrant(credits, eagerBytes)) {
      fail(WireFault.RANGE);
    }
    List<FabricAddress> controlAddresses = new ArrayList<>(ProtocolLimits.MAX_RAILS);
    List<FabricAddress> dataAddresses = new ArrayList<>(ProtocolLimits.MAX_RAILS);
    List<Integer> epochs = new ArrayList<>(ProtocolLimits.MAX_RAILS);
    for (int rail = 0; rail < control && fault == WireFault.NONE; rail++) {
      addAddress(controlAddresses);
    }
    for (int rail = 0; rail < data && fault == WireFault.NONE; rail++) {
      addAddress(dataAddresses);
      epochs.add(epoch());
    }
    return fault == WireFault.NONE
        ? new Rails(
            features,
            maxMessageBytes,
            new RailAddresses(endpoint, controlAddresses, dataAddresses, epochs),
            new EagerGrant(credits, (int) eagerBytes))
        : null;
  }

  private void addAddress(List<FabricAddress> addresses) {
    FabricAddress address = address();
    if (address != null) {
      addresses.add(address);
    }
  }

  private int epoch() {
    int epoch = has(Integer.BYTES) ? memory.get(WireLayouts.INT, at) : 0;
    at += Integer.BYTES;
    if (epoch < 0) {
      fail(WireFault.RANGE);
    }
    return epoch;
  }

  private @Nullable FabricAddress address() {
    int length = has(Short.BYTES) ? Short.toUnsignedInt(memory.get(WireLayouts.SHORT, at)) : 0;
    at += Short.BYTES;
    if (!FabricAddress.isLength(length)) {
      fail(WireFault.ADDRESS);
      return null;
    }
    byte[] bytes = new byte[length];
    if (!has(length)) {
      return null;
    }
    MemorySegment.copy(memory, WireLayouts.BYTE, at, bytes, 0, length);
    at += length;
    return FabricAddress.of(bytes);
  }

  private void zeros(long count) {
    for (long i = 0; i < count && has(1); i++) {
      if (memory.get(WireLayouts.BYTE, at++) != 0) {
        fail(WireFault.RESERVED);
      }
    }
  }

  private long longWord() {
    long word = has(Long.BYTES) ? memory.get(WireLayouts.LONG, at) : 0;
    at += Long.BYTES;
    return word;
  }

  private boolean has(int bytes) {
    if (fault == WireFault.NONE && end - at < bytes) {
      fail(WireFault.TRUNCATED);
    }
    return fault == WireFault.NONE;
  }

  /** The first thing that is wrong is what is told. */
  private void fail(WireFault found) {
    if (fault == WireFault.NONE) {
      fault = found;
    }
  }

  private record Rails(
      long features, long maxMessageBytes, RailAddresses addresses, EagerGrant eager) {}
}
