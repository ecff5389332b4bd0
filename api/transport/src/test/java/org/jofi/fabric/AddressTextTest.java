package org.jofi.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class AddressTextTest {
  private static byte[] socket(int family, int bytes, int at, int... host) {
    ByteBuffer address = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    address.putShort(0, (short) family);
    address.order(ByteOrder.BIG_ENDIAN).putShort(2, (short) 4711);
    for (int i = 0; i < host.length; i++) {
      address.put(at + i, (byte) host[i]);
    }
    return address.array();
  }

  @Test
  void addressesAreAsPeopleWriteThem() {
    assertEquals("10.77.0.1:4711", AddressText.of(socket(2, 16, 4, 10, 77, 0, 1)));
    assertEquals("[fe80:0:0:0:0:0:0:0]:4711", AddressText.of(socket(10, 28, 8, 0xfe, 0x80)));
    assertEquals(
        "fi_shm://71:0:0-f0a",
        AddressText.of("fi_shm://71:0:0-f0a\0".getBytes(StandardCharsets.US_ASCII)));
    assertEquals("", AddressText.of(new byte[0]));
  }

  @Test
  void whatIsInNoKnownFormatIsInDigits() {
    assertEquals("0102030405", AddressText.of(new byte[] {1, 2, 3, 4, 5}));
    assertEquals("02000102", AddressText.of(new byte[] {2, 0, 1, 2}));
    assertEquals("6162", AddressText.of(new byte[] {'a', 'b'}));
    assertFalse(AddressText.isText(new byte[] {0, 0, 0, 0}));
  }
}
