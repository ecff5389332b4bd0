package org.jofi.abidouble;

/**
 * What an RMA operation reaches.
 *
 * @param peer whom, as the address vector has it
 * @param address an offset into the region
 * @param lengthBytes how much of it
 * @param key the region's
 */
record Target(long peer, long address, long lengthBytes, long key) {
  @Override
  public String toString() {
    return "%d bytes at offset %d, key 0x%x, of peer %d".formatted(lengthBytes, address, key, peer);
  }
}
