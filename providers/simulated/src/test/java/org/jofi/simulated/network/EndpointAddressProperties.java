package org.jofi.simulated.network;

import static org.junit.jupiter.api.Assertions.assertEquals;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** An address says where an endpoint is, in each provider's format. */
class EndpointAddressProperties {
  @Property(tries = 200)
  void addressesAreReadAsTheyWereWritten(
      @ForAll @IntRange(max = 65535) int nic, @ForAll @IntRange(min = 1, max = 511) int port) {
    long key = EndpointAddress.key(nic, port);
    for (int bytes : new int[] {8, 16, 32}) {
      byte[] address = EndpointAddress.encode(bytes, key);
      assertEquals(bytes, address.length);
      assertEquals(key, EndpointAddress.decode(address));
      assertEquals(-1, EndpointAddress.decode(new byte[bytes]));
    }
  }
}
