package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.transport.ConnectHandle;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the messages of the handshake. Reading never throws for what is in them: it
 * gives null, and {@link #fault} says why. One thread at a time.
 *
 * <pre>
 * CONNECT   0 header   32 reply address: u16 length, 96 bytes padded with 0   130 6 bytes reserved
 *         136 nonce, 16 bytes   152 u64 listener   160 rails
 *             then per control rail: u64 mailbox address, u64 key
 * ACCEPT    0 header   32 rails
 * REDIRECT  0 header   32 u64 the listener's data rails
 *          40 u8 per rail to use, its number and 1; padded with 0 to 8   48 connect handle
 * rails     0 u64 features   8 u64 longest message   16 u8 data rails   17 u8 control rails
 *          18 u16 eager messages granted, 20 u32 the longest of them; reserved in CONNECT
 *          24 u64 endpoint
 *          32 addresses of control rails, then of data rails: u16 length, that many bytes;
 *             and after that of a data rail its u32 epoch
 * </pre>
 *
 * The reply address is where it is in every version, so that who speaks another one can be told.
 */
public final class Handshake {
  private static final int NONCE = 136;
  private static final int RAILS_OF_REQUEST = 160;
  private static final int HANDLE_OF_REDIRECT = 48;
  private static final int ADDRESSES = 32;

  /** The longest message, and the least length of a buffer to receive or write them in. */
  public static final int MAX_BYTES =
      RAILS_OF_REQUEST
          + ADDRESSES
          + 2 * ProtocolLimits.MAX_RAILS * (Short.BYTES + ProtocolLimits.MAX_ADDRESS_BYTES)
          + ProtocolLimits.MAX_RAILS * Integer.BYTES
          + ProtocolLimits.MAX_RAILS * 2 * Long.BYTES;

  private static final int CONTROL_AT = 8;
  private static final int CREDITS_AT = 16;
  private static final int EAGER_BYTES_AT = 32;

  private MemorySegment memory = MemorySegment.NULL;
  private long at;
  private long end;
  private WireFault fault = WireFault.NONE;

  /** Writes a request to memory of {@link #MAX_BYTES}; returns its length. */
  public static int put(MemorySegment memory, ConnectRequest request) {
    Handshake out = new Handshake();
    out.start(memory);
    out.putAddress(request.replyAddress());
    memory.asSlice(out.at, NONCE - out.at).fill((byte) 0);
    out.at = NONCE;
    out.putLong(request.nonce().low());
    out.putLong(request.nonce().high());
    out.putLong(request.listener());
    out.putRails(request.features(), request.maxMessageBytes(), request.rails(), EagerGrant.NONE);
    for (MailboxTarget target : request.mailbox()) {
      out.putLong(target.address());
      out.putLong(target.key());
    }
    return out.finish(MessageType.CONNECT, request.id());
  }

  /** Writes an acceptance, as a request. */
  public static int put(MemorySegment memory, ConnectAccept accept) {
    Handshake out = new Handshake();
    out.start(memory);
    out.putRails(accept.features(), accept.maxMessageBytes(), accept.rails(), accept.eager());
    return out.finish(MessageType.ACCEPT, accept.id());
  }

  /** Writes where the connector is to ask, as a request. */
  public static int put(MemorySegment memory, ConnectRedirect redirect) {
    Handshake out = new Handshake();
    out.start(memory);
    out.putLong(redirect.listenerRails());
    memory.asSlice(out.at, HANDLE_OF_REDIRECT - out.at).fill((byte) 0);
    for (int i = 0; i < redirect.rails().size(); i++) {
      memory.set(WireLayouts.BYTE, out.at + i, (byte) (redirect.rails().get(i) + 1));
    }
    byte[] handle = redirect.handle().encode();
    MemorySegment.copy(handle, 0, memory, WireLayouts.BYTE, HANDLE_OF_REDIRECT, handle.length);
    out.at += HANDLE_OF_REDIRECT - out.at + handle.length;
    return out.finish(MessageType.REDIRECT, redirect.id());
  }

  private void start(MemorySegment message) {
    memory = message;
    at = MessageHeader.BYTES;
  }

  private int finish(MessageType type, ConnectionId id) {
    int length = (int) at;
    MessageHeader.put(memory, type, length, id);
    return length;
  }

  private void putRails(long features, long most, RailAddresses rails, EagerGrant eager) {
    putLong(features);
    putLong(most);
    putLong(
        rails.data().size()
            | rails.control().size() << CONTROL_AT
            | (long) eager.credits() << CREDITS_AT
            | (long) eager.bytes() << EAGER_BYTES_AT);
    putLong(rails.endpoint());
    rails.control().forEach(this::putAddress);
    for (int rail = 0; rail < rails.data().size(); rail++) {
      putAddress(rails.data().get(rail));
      memory.set(WireLayouts.INT, at, rails.epochs().get(rail));
      at += Integer.BYTES;
    }
  }

  private void putAddress(FabricAddress address) {
    byte[] bytes = address.bytes();
    memory.set(WireLayouts.SHORT, at, (short) bytes.length);
    MemorySegment.copy(bytes, 0, memory, WireLayouts.BYTE, at + Short.BYTES, bytes.length);
    at += Short.BYTES + bytes.length;
  }

  private void putLong(long word) {
    memory.set(WireLayouts.LONG, at, word);
    at += Long.BYTES;
  }

  /** What was wrong with the message that was read last. */
  public WireFault fault() {
    return fault;
  }

  /** The reply address of a request of any version; null if that cannot be read. */
  public @Nullable FabricAddress replyAddress(MemorySegment message, long length) {
    fault = MessageHeader.check(message, length);
    if (fault == WireFault.NONE && MessageHeader.type(message) != MessageType.CONNECT) {
      fault = WireFault.TYPE;
    }
    return open(message, length) ? address() : null;
  }

  public @Nullable ConnectRequest request(MemorySegment message, long length) {
    fault = MessageHeader.check(message, length, MessageType.CONNECT);
    if (!open(message, length)) {
      return null;
    }
    FabricAddress reply = address();
    zeros(NONCE - at);
    Nonce nonce = new Nonce(longWord(), longWord());
    long listener = longWord();
    Rails rails = rails(false);
    if (reply == null || rails == null) {
      return null;
    }
    int mailboxBytes = new MailboxLayout(rails.addresses.data().size()).mailboxBytes();
    List<MailboxTarget> mailbox = new ArrayList<>(rails.addresses.control().size());
    for (int rail = 0; rail < rails.addresses.control().size(); rail++) {
      mailbox.add(new MailboxTarget(longWord(), longWord()));
    }
    for (MailboxTarget target : mailbox) {
      if (MailboxReader.wraps(target.address(), mailboxBytes)) {
        fail(WireFault.RANGE);
      }
    }
    return close()
        ? new ConnectRequest(
            MessageHeader.connectionId(message),
            reply,
            nonce,
            listener,
            rails.features,
            rails.maxMessageBytes,
            rails.addresses,
            mailbox)
        : null;
  }

  public @Nullable ConnectAccept accept(MemorySegment message, long length) {
    fault = MessageHeader.check(message, length, MessageType.ACCEPT);
    Rails rails = open(message, length) ? rails(true) : null;
    if (rails == null || !close()) {
      return null;
    }
    if ((rails.features & ~Features.ALL) != 0 || !Features.suffice(rails.features)) {
      fail(WireFault.FEATURE);
      return null;
    }
    if (!ConnectAccept.isGrantable(rails.features, rails.eager)) {
      fail(WireFault.RANGE);
      return null;
    }
    return new ConnectAccept(
        MessageHeader.connectionId(message),
        rails.features,
        rails.maxMessageBytes,
        rails.addresses,
        rails.eager);
  }

  public @Nullable ConnectRedirect redirect(MemorySegment message, long length) {
    fault = MessageHeader.check(message, length, MessageType.REDIRECT);
    open(message, length);
    long listenerRails = longWord();
    List<Integer> rails = new ArrayList<>(ProtocolLimits.MAX_RAILS);
    for (; at < HANDLE_OF_REDIRECT && has(1) && memory.get(WireLayouts.BYTE, at) != 0; at++) {
      rails.add(memory.get(WireLayouts.BYTE, at) - 1);
    }
    zeros(HANDLE_OF_REDIRECT - at);
    if (!ConnectRedirect.areSome(rails)
        || listenerRails < 1
        || listenerRails > ProtocolLimits.MAX_RAILS) {
      fail(WireFault.RAILS);
    }
    byte[] bytes = bytes((int) (end - at));
    ConnectHandle handle = bytes == null ? null : handle(bytes);
    return handle == null
        ? null
        : new ConnectRedirect(
            MessageHeader.connectionId(message), (int) listenerRails, rails, handle);
  }

  private @Nullable ConnectHandle handle(byte[] bytes) {
    try {
      ConnectHandle handle = ConnectHandle.decode(bytes);
      if (handle.encode().length == bytes.length) {
        return handle;
      }
      fail(WireFault.TRAILING);
    } catch (IllegalArgumentException none) {
      fail(WireFault.ADDRESS);
    }
    return null;
  }

  private boolean open(MemorySegment message, long length) {
    start(message);
    end = length;
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
    int control = (int) (counts >>> CONTROL_AT) & 0xff;
    int credits = (int) (counts >>> CREDITS_AT) & 0xffff;
    long eagerBytes = counts >>> EAGER_BYTES_AT;
    long endpoint = longWord();
    if (fault != WireFault.NONE) {
      return null;
    }
    if (!grants && counts >>> CREDITS_AT != 0) {
      fail(WireFault.RESERVED);
    } else if (!RailAddresses.isRailCount(data, control)) {
      fail(WireFault.RAILS);
    } else if (maxMessageBytes < 1
        || maxMessageBytes > ProtocolLimits.MAX_MESSAGE_BYTES
        || !EagerGrant.isGrant(credits, eagerBytes)) {
      fail(WireFault.RANGE);
    }
    List<FabricAddress> addresses = new ArrayList<>(2 * ProtocolLimits.MAX_RAILS);
    List<Integer> epochs = new ArrayList<>(ProtocolLimits.MAX_RAILS);
    for (int rail = 0; rail < control + data && fault == WireFault.NONE; rail++) {
      FabricAddress address = address();
      if (address != null) {
        addresses.add(address);
      }
      if (rail >= control) {
        epochs.add(epoch());
      }
    }
    return fault == WireFault.NONE
        ? new Rails(
            features,
            maxMessageBytes,
            new RailAddresses(
                endpoint,
                addresses.subList(0, control),
                addresses.subList(control, control + data),
                epochs),
            new EagerGrant(credits, (int) eagerBytes))
        : null;
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
    int length = has(Short.BYTES) ? MessageHeader.word(memory, at) : 0;
    at += Short.BYTES;
    if (!FabricAddress.isLength(length)) {
      fail(WireFault.ADDRESS);
      return null;
    }
    byte[] bytes = bytes(length);
    return bytes == null ? null : FabricAddress.of(bytes);
  }

  private byte @Nullable [] bytes(int length) {
    if (!has(length)) {
      return null;
    }
    byte[] bytes = new byte[length];
    MemorySegment.copy(memory, WireLayouts.BYTE, at, bytes, 0, length);
    at += length;
    return bytes;
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
