package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.LibfabricConstants;
import org.jofi.libfabric.bindings.fi_ops_ep;
import org.jofi.libfabric.bindings.fid_ep;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What an endpoint says of its lengths counts more than what was negotiated. */
class EndpointLimitsTest {
  private static final EndpointLimits NEGOTIATED = new EndpointLimits(1L << 30, 1L << 30, 32, 32);

  /** The limits of an endpoint that has these options and no others. */
  private static EndpointLimits limits(Map<Integer, Long> options) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = arena.allocate(512, 8);
      fi_ops_ep.getopt(
          table,
          fi_ops_ep.getopt.allocate(
              (_, level, option, value, length) -> {
                Long known = options.get(option);
                if (level != LibfabricConstants.FI_OPT_ENDPOINT() || known == null) {
                  return -FabricErrno.ENOPROTOOPT;
                }
                assertEquals(Long.BYTES, InfoReader.struct(length).get(ValueLayout.JAVA_LONG, 0));
                InfoReader.struct(value).set(ValueLayout.JAVA_LONG, 0, known);
                return 0;
              },
              arena));
      MemorySegment endpoint = arena.allocate(512, 8);
      fid_ep.ops(endpoint, table);
      return new EndpointOptions(endpoint, "here").limits(NEGOTIATED);
    }
  }

  private static int number(EndpointOption option) {
    return Bits.ofOption(option);
  }

  @Test
  void eachOptionIsRead() {
    assertEquals(
        new EndpointLimits(8928, 1L << 20, 31, 0),
        limits(
            Map.of(
                number(EndpointOption.MAX_MSG_SIZE), 8928L,
                number(EndpointOption.MAX_RMA_SIZE), 1L << 20,
                number(EndpointOption.INJECT_MSG_SIZE), 31L,
                number(EndpointOption.INJECT_RMA_SIZE), 0L)));
  }

  @Test
  void withoutTheOptionsTheNegotiatedOnesHold() {
    assertEquals(NEGOTIATED, limits(Map.of()));
    assertEquals(
        new EndpointLimits(8928, 1L << 30, 32, 32),
        limits(Map.of(number(EndpointOption.MAX_MSG_SIZE), 8928L)));
  }

  /** The provider's SIZE_MAX. */
  @Test
  void whatFitsNoLongIsTheMost() {
    assertEquals(
        Long.MAX_VALUE, limits(Map.of(number(EndpointOption.MAX_RMA_SIZE), -1L)).rmaBytes());
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void theEndpointRefusesWhatIsLonger(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      EndpointLimits limits = loopback.endpoint.limits();
      long most = limits.injectedSendBytes();
      assertEquals(
          -FabricErrno.EMSGSIZE,
          loopback.endpoint.inject(loopback.memory.address(), most + 1, loopback.self));
      if (limits.sendBytes() != Long.MAX_VALUE) {
        assertEquals(
            -FabricErrno.EMSGSIZE,
            loopback.endpoint.send(
                loopback.memory.address(), limits.sendBytes() + 1, 0, loopback.self, 0));
      }
    }
  }
}
