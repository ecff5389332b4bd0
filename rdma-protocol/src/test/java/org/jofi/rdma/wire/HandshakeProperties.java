package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The handshake: what is written is what is read, and nothing else is. */
class HandshakeProperties {
  private final Handshake decoder = new Handshake();

  static byte[] encoded(ConnectRequest request) {
    MemorySegment memory = MemorySegment.ofArray(new byte[Handshake.MAX_BYTES]);
    int length = Handshake.put(memory, request);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  static byte[] encoded(ConnectAccept accept) {
    MemorySegment memory = MemorySegment.ofArray(new byte[Handshake.MAX_BYTES]);
    int length = Handshake.put(memory, accept);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  static byte[] encoded(ConnectRedirect redirect) {
    MemorySegment memory = MemorySegment.ofArray(new byte[Handshake.MAX_BYTES]);
    memory.fill((byte) 0xff);
    int length = Handshake.put(memory, redirect);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  @Property
  void requestsComeBack(@ForAll Random random, @ForAll @IntRange(min = 0, max = 7) int offset) {
    ConnectRequest request = Messages.request(random);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(offset + Handshake.MAX_BYTES);
      memory.fill((byte) 0xff);
      int length = Handshake.put(memory.asSlice(offset), request);
      assertEquals(
          request, decoder.request(memory.asSlice(offset), length), () -> "" + decoder.fault());
      assertEquals(request.replyAddress(), decoder.replyAddress(memory.asSlice(offset), length));
    }
  }

  @Property
  void acceptancesComeBack(@ForAll Random random) {
    ConnectAccept accept = Messages.accept(random);
    byte[] bytes = encoded(accept);
    assertEquals(
        accept,
        decoder.accept(MemorySegment.ofArray(bytes), bytes.length),
        () -> "" + decoder.fault());
  }

  @Property
  void redirectsComeBack(@ForAll Random random) {
    ConnectRedirect redirect = Messages.redirect(random);
    byte[] bytes = encoded(redirect);
    assertEquals(
        redirect,
        decoder.redirect(MemorySegment.ofArray(bytes), bytes.length),
        () -> "" + decoder.fault());
  }

  /** Each byte that says which rails, as every value. */
  @Example
  void railsToUseAreSomeEachOnce() {
    byte[] sound = encoded(Messages.redirect(new Random(3)));
    for (int at = 40; at < 48; at++) {
      for (int value = 0; value < 256; value++) {
        byte[] bytes = sound.clone();
        bytes[at] = (byte) value;
        ConnectRedirect read = decoder.redirect(MemorySegment.ofArray(bytes), bytes.length);
        assertEquals(read == null, decoder.fault() != WireFault.NONE);
        if (read != null) {
          assertArrayEquals(bytes, encoded(read));
          assertEquals(read.rails().size(), new HashSet<>(read.rails()).size());
          assertTrue(Collections.max(read.rails()) < ProtocolLimits.MAX_RAILS);
          assertTrue(Collections.min(read.rails()) >= 0);
        }
      }
    }
  }

  @Example
  void hostileMessagesAreNamedAndNeverThrow() {
    Random random = new Random(7);
    Map<WireFault, Integer> found = new EnumMap<>(WireFault.class);
    for (int i = 0; i < 100_000; i++) {
      int kind = random.nextInt(3);
      byte[] bytes =
          HostileBytes.from(
              random,
              switch (kind) {
                case 0 -> encoded(Messages.request(random));
                case 1 -> encoded(Messages.accept(random));
                default -> encoded(Messages.redirect(random));
              });
      MemorySegment memory = MemorySegment.ofArray(bytes);
      Object read =
          switch (kind) {
            case 0 -> decoder.request(memory, bytes.length);
            case 1 -> decoder.accept(memory, bytes.length);
            default -> decoder.redirect(memory, bytes.length);
          };
      WireFault fault = decoder.fault();
      found.merge(fault, 1, Integer::sum);
      assertEquals(read == null, fault != WireFault.NONE, () -> "" + fault);
      if (read instanceof ConnectRequest request) {
        assertArrayEquals(bytes, encoded(request));
      } else if (read instanceof ConnectAccept accept) {
        assertArrayEquals(bytes, encoded(accept));
      } else if (read instanceof ConnectRedirect redirect) {
        assertArrayEquals(bytes, encoded(redirect));
      }
      decoder.replyAddress(memory, bytes.length);
    }
    for (WireFault fault :
        new WireFault[] {
          WireFault.NONE,
          WireFault.TRUNCATED,
          WireFault.MAGIC,
          WireFault.VERSION,
          WireFault.TYPE,
          WireFault.LENGTH,
          WireFault.RESERVED,
          WireFault.ADDRESS,
          WireFault.RANGE,
          WireFault.RAILS,
          WireFault.COMMUNICATOR,
          WireFault.FEATURE
        }) {
      assertTrue(found.containsKey(fault), () -> "never found " + fault + " in " + found);
    }
  }

  @Example
  void anotherVersionIsRefusedButCanBeAnswered() {
    ConnectRequest request = Messages.request(new Random(1));
    byte[] bytes = encoded(request);
    bytes[4] = 1;
    bytes[140] ^= 1;
    MemorySegment memory = MemorySegment.ofArray(bytes);
    assertNull(decoder.request(memory, bytes.length));
    assertEquals(WireFault.VERSION, decoder.fault());
    assertEquals(request.replyAddress(), decoder.replyAddress(memory, bytes.length));
  }

  @Example
  void aRequestIsNoGrant() {
    byte[] bytes = encoded(Messages.request(new Random(1)));
    assertNull(decoder.accept(MemorySegment.ofArray(bytes), bytes.length));
    assertEquals(WireFault.TYPE, decoder.fault());
    assertNotNull(decoder.request(MemorySegment.ofArray(bytes), bytes.length));
    assertEquals(WireFault.NONE, decoder.fault());
  }

  /** A peer's answer with another grant in it, as docs/PROTOCOL.md says where. */
  private WireFault granted(long features, int credits, int bytes) {
    ConnectAccept plain =
        new ConnectAccept(
            new ConnectionId(1, 2, 3, 4, 5),
            features,
            6,
            Messages.rails(new Random(1)),
            EagerGrant.NONE);
    byte[] encoded = encoded(plain);
    MemorySegment memory = MemorySegment.ofArray(encoded);
    memory.set(WireLayouts.SHORT, 32 + 18, (short) credits);
    memory.set(WireLayouts.INT, 32 + 20, bytes);
    ConnectAccept accept = decoder.accept(memory, encoded.length);
    assertEquals(accept == null, decoder.fault() != WireFault.NONE);
    if (accept != null) {
      EagerGrant eager = accept.eager();
      assertEquals(new EagerGrant(credits, bytes), eager);
      assertEquals(new ConnectAccept(plain.id(), features, 6, plain.rails(), eager), accept);
      assertArrayEquals(encoded, encoded(accept));
    }
    return decoder.fault();
  }

  @Example
  void grantsAreWithinBoundsAndNeedTheirFeature() {
    long eager = Features.WRITE_DATA | Features.EAGER;
    int most = EagerGrant.MOST_BYTES;
    assertEquals(WireFault.NONE, granted(eager, 0, 0));
    assertEquals(WireFault.NONE, granted(eager, 1, 1));
    assertEquals(WireFault.NONE, granted(eager, 128, most));
    assertEquals(WireFault.NONE, granted(Features.WRITE_DATA, 0, 0));
    assertEquals(WireFault.RANGE, granted(Features.WRITE_DATA, 1, 1));
    assertEquals(WireFault.RANGE, granted(eager, 129, 1));
    assertEquals(WireFault.RANGE, granted(eager, 0xffff, 1));
    assertEquals(WireFault.RANGE, granted(eager, 1, most + 1));
    assertEquals(WireFault.RANGE, granted(eager, 1, -1));
    assertEquals(WireFault.RANGE, granted(eager, 1, 0));
    assertEquals(WireFault.RANGE, granted(eager, 0, 1));
    byte[] request = encoded(Messages.request(new Random(1)));
    for (int at = 160 + 18; at < 160 + 24; at++) {
      request[at] = 1;
      assertNull(decoder.request(MemorySegment.ofArray(request), request.length));
      assertEquals(WireFault.RESERVED, decoder.fault());
      request[at] = 0;
    }
  }

  @Example
  void grantsThatNobodyCanUseAreNotMade() {
    assertEquals(EagerGrant.NONE, new EagerGrant(0, 0));
    assertTrue(EagerGrant.NONE.isNone());
    assertTrue(!new EagerGrant(128, 65_472).isNone());
    for (int[] bad : new int[][] {{-1, 1}, {129, 1}, {1, -1}, {1, 65_473}, {1, 0}, {0, 1}}) {
      assertThrows(IllegalArgumentException.class, () -> new EagerGrant(bad[0], bad[1]));
    }
    ConnectionId id = new ConnectionId(1, 2, 3, 4, 5);
    RailAddresses rails = Messages.rails(new Random(1));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConnectAccept(id, Features.WRITE_DATA, 6, rails, new EagerGrant(1, 1)));
  }

  @Example
  void lengthsPastTheMemoryAreTruncation() {
    byte[] bytes = encoded(Messages.request(new Random(1)));
    MemorySegment memory = MemorySegment.ofArray(bytes);
    for (long length : new long[] {-1, 0, bytes.length + 1L, Long.MAX_VALUE}) {
      assertNull(decoder.request(memory, length));
      assertEquals(WireFault.TRUNCATED, decoder.fault());
    }
    assertNull(decoder.request(memory.asSlice(8), bytes.length));
    assertEquals(WireFault.TRUNCATED, decoder.fault());
  }

  @Example
  void noncesAndAddressesAreTheirBytes() {
    byte[] bytes = Messages.bytes(new Random(3), 16);
    assertArrayEquals(bytes, Nonce.of(bytes).bytes());
    assertEquals("nonce", Nonce.of(bytes).toString());
    assertThrows(IllegalArgumentException.class, () -> Nonce.of(new byte[15]));
    assertEquals(FabricAddress.of(bytes), FabricAddress.of(bytes.clone()));
    assertArrayEquals(bytes, FabricAddress.of(bytes).bytes());
    bytes[15]++;
    assertNotEquals(FabricAddress.of(bytes), FabricAddress.of(new byte[16]));
    assertThrows(IllegalArgumentException.class, () -> FabricAddress.of(new byte[0]));
    assertThrows(IllegalArgumentException.class, () -> FabricAddress.of(new byte[97]));
  }

  @Example
  void featuresInCommonAreWhatBothKnow() {
    long unknown = 1L << 40;
    assertEquals(
        Features.WRITE_DATA,
        Features.common(
            Features.WRITE_DATA | unknown | Features.COMPLETION_LENGTHS,
            Features.WRITE_DATA | Features.WRITE_THEN_SEND | unknown));
    assertTrue(!Features.suffice(Features.COMPLETION_LENGTHS));
    assertEquals(Features.EAGER, Features.common(Features.EAGER, Features.ALL));
    assertTrue(!Features.suffice(Features.EAGER));
  }
}
