package org.jofi.doctor.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jofi.doctor.machine.ConfigSpace.Extent;

/** Configuration spaces, sound and not. */
class ConfigSpaceProperties {
  private static final int SIZE = 4096;
  private static final int ACS = 0x000d;

  private static ConfigSpace space(byte[] bytes) {
    return new ConfigSpace(Reading.of("/config", bytes));
  }

  @Property(tries = 500)
  void anyBytesComeToAnEnd(@ForAll @Size(max = 5000) byte[] bytes) {
    ConfigSpace config = space(bytes);
    assertTrue(config.accessControl().isEmpty() || config.extent() == Extent.EXTENDED);
    assertEquals(bytes.length < 4, config.extent() == Extent.UNREADABLE);
  }

  /** Places of capabilities after the first, in the order in which each names the next. */
  @Provide
  Arbitrary<List<Integer>> places() {
    return Arbitraries.integers()
        .between(0x108 / 8, SIZE / 8 - 1)
        .map(eighth -> eighth * 8)
        .list()
        .uniqueElements()
        .ofMinSize(1)
        .ofMaxSize(60);
  }

  private static byte[] chain(List<Integer> places, int last, int value) {
    byte[] bytes = new byte[SIZE];
    ByteBuffer config = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    config.putInt(0, 0x2030_8086);
    int at = 0x100;
    for (int place : places) {
      config.putInt(at, 0x0001 | 1 << 16 | place << 20);
      at = place;
    }
    config.putInt(at, last);
    config.putShort(at + 4, (short) 0x7f);
    config.putShort(at + 6, (short) value);
    return bytes;
  }

  @Property(tries = 300)
  void theServicesAreFoundWhereverTheyAre(
      @ForAll("places") List<Integer> places, @ForAll @IntRange(max = 0x7f) int control) {
    ConfigSpace config = space(chain(places, ACS | 1 << 16, control));
    assertEquals(Extent.EXTENDED, config.extent());
    assertEquals(Optional.of(new AccessControl(0x7f, control)), config.accessControl());
    assertEquals(Integer.bitCount(control), config.accessControl().get().enabled().size());
    assertEquals((control & 0x3c) != 0, config.accessControl().get().turnsPeersAway());
  }

  @Property(tries = 300)
  void aListThatBitesItsTailIsMalformed(@ForAll("places") List<Integer> places) {
    ConfigSpace config = space(chain(places, 0x0002 | 1 << 16 | 0x100 << 20, 0));
    assertEquals(Extent.MALFORMED, config.extent());
    assertEquals(Optional.empty(), config.accessControl());
  }
}
