package org.jofi.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jofi.fabric.ProviderRelease;
import org.jofi.transport.driven.RequestId;

/** Connect handles and remote memory, in bytes and back; and bytes that are neither. */
class HandleProperties {

  private static ConnectHandle handle(Random random, int rails, int addressBytes) {
    byte[] nonce = new byte[ConnectHandle.NONCE_BYTES];
    random.nextBytes(nonce);
    List<byte[]> addresses = new ArrayList<>();
    for (int rail = 0; rail < rails; rail++) {
      addresses.add(new byte[addressBytes]);
      random.nextBytes(addresses.getLast());
    }
    int room = ConnectHandle.MAX_ADDRESS_BYTES - rails * addressBytes;
    String name =
        random
            .ints(Math.min(room, 12), '!', '~' + 1)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    return ConnectHandle.of(
        random.nextLong(1L << 32),
        nonce,
        addresses,
        random.nextInt(256),
        new ProviderRelease(name, random.nextInt(256), random.nextInt(256)));
  }

  private static ConnectHandle handle(Random random) {
    int rails = random.nextInt(1, ConnectHandle.MAX_ADDRESSES + 1);
    return handle(random, rails, random.nextInt(1, ConnectHandle.MAX_ADDRESS_BYTES / rails + 1));
  }

  private static RemoteMemory memory(Random random, int rails) {
    return RemoteMemory.of(
        random.nextLong(1, Long.MAX_VALUE),
        random.longs(rails).toArray(),
        random.longs(rails).toArray());
  }

  @Property
  void handlesComeBackFromAPaddedBuffer(
      @ForAll Random random,
      @ForAll @IntRange(min = 1, max = 8) int rails,
      @ForAll @IntRange(min = 1, max = 96) int addressBytes) {
    ConnectHandle handle = handle(random, rails, Math.min(addressBytes, 96 / rails));
    byte[] bytes = handle.encode();
    assertTrue(bytes.length <= ConnectHandle.MAX_BYTES);
    ConnectHandle back = ConnectHandle.decode(Arrays.copyOf(bytes, ConnectHandle.MAX_BYTES));
    assertEquals(handle, back);
    assertEquals(handle.hashCode(), back.hashCode());
    assertArrayEquals(handle.nonce(), back.nonce());
    assertEquals(rails, back.rails());
    for (int rail = 0; rail < rails; rail++) {
      assertArrayEquals(handle.address(rail), back.address(rail));
    }
    assertThrows(IndexOutOfBoundsException.class, () -> back.address(rails));
    assertEquals(handle.listener(), back.listener());
    assertEquals(handle.protocol(), back.protocol());
    assertEquals(handle.release(), back.release());
  }

  @Property
  void memoryComesBack(@ForAll Random random, @ForAll @IntRange(min = 1, max = 8) int rails) {
    RemoteMemory memory = memory(random, rails);
    byte[] bytes = memory.encode();
    assertTrue(bytes.length <= RemoteMemory.MAX_BYTES);
    RemoteMemory back = RemoteMemory.decode(bytes);
    assertEquals(memory, back);
    assertEquals(memory.hashCode(), back.hashCode());
    assertEquals(memory.key(rails - 1), back.key(rails - 1));
    assertEquals(memory.address(rails - 1), back.address(rails - 1));
  }

  @Property
  void aSliceIsWithinItsMemory(
      @ForAll Random random, @ForAll @IntRange(min = 1, max = 8) int rails) {
    RemoteMemory memory = memory(random, rails);
    long length = memory.lengthBytes();
    long offset = random.nextLong(length);
    long bytes = random.nextLong(1, length - offset + 1);
    RemoteMemory slice = memory.slice(offset, bytes);
    assertEquals(bytes, slice.lengthBytes());
    for (int rail = 0; rail < rails; rail++) {
      assertEquals(memory.address(rail) + offset, slice.address(rail));
      assertEquals(memory.key(rail), slice.key(rail));
    }
    assertEquals(memory, memory.slice(0, length));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.slice(-1, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.slice(offset, 0));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.slice(offset, length - offset + 1));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.slice(Long.MAX_VALUE, 1));
  }

  @Example
  void damagedBytesAreRefusedOrReadAsTheyStand() {
    Random random = new Random(42);
    int refused = 0;
    for (int i = 0; i < 50_000; i++) {
      byte[] handle = damaged(random, handle(random).encode());
      byte[] memory = damaged(random, memory(random, random.nextInt(1, 9)).encode());
      refused += reads(handle, b -> ConnectHandle.decode(b).encode()) ? 0 : 1;
      refused += reads(memory, b -> RemoteMemory.decode(b).encode()) ? 0 : 1;
    }
    assertTrue(refused > 30_000, "refused only " + refused);
  }

  private static byte[] damaged(Random random, byte[] bytes) {
    return switch (random.nextInt(3)) {
      case 0 -> Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
      case 1 -> {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        yield bytes;
      }
      default -> {
        byte[] noise = new byte[random.nextInt(200)];
        random.nextBytes(noise);
        yield noise;
      }
    };
  }

  private static boolean reads(byte[] bytes, Function<byte[], byte[]> roundTrip) {
    try {
      byte[] again = roundTrip.apply(bytes);
      assertArrayEquals(bytes, Arrays.copyOf(again, bytes.length));
      return true;
    } catch (IllegalArgumentException refusal) {
      assertTrue(refusal.getMessage().length() > 10, refusal.getMessage());
      return false;
    }
  }

  @Example
  void aHandleDoesNotTellItsNonce() {
    byte[] nonce = new byte[16];
    Arrays.fill(nonce, (byte) 0xab);
    List<byte[]> addresses = List.of(new byte[] {1, 2}, new byte[] {3, 4});
    assertEquals(
        "listener 3 at 0102",
        ConnectHandle.of(3, nonce, addresses, 3, ProviderRelease.UNTOLD).toString());
    assertEquals(
        "listener 3 at 0102 (net of libfabric 1.17)",
        ConnectHandle.of(3, nonce, addresses, 3, new ProviderRelease("net", 1, 17)).toString());
  }

  @Example
  void partsOfWrongSizeAreRefused() {
    assertWrong(0, 15, List.of(new byte[4]), 3, ProviderRelease.UNTOLD);
    assertWrong(-1, 16, List.of(new byte[4]), 3, ProviderRelease.UNTOLD);
    assertWrong(1L << 32, 16, List.of(new byte[4]), 3, ProviderRelease.UNTOLD);
    assertWrong(0, 16, List.of(new byte[4]), 256, ProviderRelease.UNTOLD);
    assertWrong(0, 16, List.of(new byte[94]), 3, new ProviderRelease("net", 1, 17));
    for (String name : List.of("two words", "\n", "é")) {
      assertThrows(IllegalArgumentException.class, () -> new ProviderRelease(name, 1, 17));
    }
    assertThrows(IllegalArgumentException.class, () -> new ProviderRelease("net", 256, 0));
    for (List<byte[]> addresses :
        List.of(
            List.<byte[]>of(),
            List.of(new byte[0]),
            List.of(new byte[97]),
            List.of(new byte[16], new byte[28]),
            Collections.nCopies(4, new byte[25]),
            Collections.nCopies(9, new byte[1]))) {
      assertWrong(0, 16, addresses, 3, ProviderRelease.UNTOLD);
    }
    assertThrows(
        IllegalArgumentException.class, () -> RemoteMemory.of(0, new long[1], new long[1]));
    assertThrows(
        IllegalArgumentException.class, () -> RemoteMemory.of(1, new long[2], new long[1]));
  }

  private static void assertWrong(
      long listener, int nonceBytes, List<byte[]> addresses, int protocol, ProviderRelease of) {
    assertThrows(
        IllegalArgumentException.class,
        () -> ConnectHandle.of(listener, new byte[nonceBytes], addresses, protocol, of));
  }

  @Property
  void requestIdsHoldSlotAndGeneration(
      @ForAll @IntRange(min = 0, max = RequestId.MAX_SLOTS - 1) int slot, @ForAll long bits) {
    long generation = Math.max(1, bits & RequestId.MAX_GENERATION);
    long id = RequestId.of(slot, generation);
    assertTrue(id > 0);
    assertEquals(slot, RequestId.slot(id));
    assertEquals(generation, RequestId.generation(id));
  }

  @Example
  void resultsAndCausesAreTold() {
    for (FailureCause cause : FailureCause.values()) {
      assertTrue(FailureCause.isFailure(cause.code()));
      assertEquals(cause, FailureCause.of(cause.code()));
      assertEquals(cause.words(), Result.describe(cause.code()));
    }
    for (long code : new long[] {1, 0, -1, -2, -3, -15, -30}) {
      assertTrue(!FailureCause.isFailure(code), "" + code);
      assertThrows(IllegalArgumentException.class, () -> FailureCause.of(code));
    }
    assertEquals("unknown result -30", Result.describe(-30));
    assertTrue(Result.isOver(0) && !Result.isOver(Result.IN_PROGRESS));
  }
}
