package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_OPT_ENDPOINT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricException;
import org.jofi.libfabric.bindings.fi_ops_ep;
import org.jofi.libfabric.bindings.fid_ep;
import org.jspecify.annotations.Nullable;

/** The options of an open endpoint: fi_getopt, fi_setopt. */
final class EndpointOptions {
  private final MemorySegment endpoint;
  private final String place;

  EndpointOptions(MemorySegment endpoint, String place) {
    this.endpoint = endpoint;
    this.place = place;
  }

  /** Reads one; throws if there is none. */
  long get(EndpointOption option) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(Long.BYTES, Long.BYTES);
      FabricException refusal = refused("fi_getopt(" + option + ")", read(arena, option, value));
      if (refusal != null) {
        throw refusal;
      }
      return value.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  /** Sets one; throws if there is none, or if the value is refused. */
  void set(EndpointOption option, long value) {
    FabricException refusal = refusal(option, value);
    if (refusal != null) {
      throw refusal;
    }
  }

  /** Sets one; returns how it was refused, or null if it was not. */
  @Nullable FabricException refusal(EndpointOption option, long value) {
    try (Arena arena = Arena.ofConfined()) {
      // Little-endian, so the low bytes of the long are the value of an int or bool option, too.
      MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_LONG, value);
      int code =
          fi_ops_ep.setopt.invoke(
              fi_ops_ep.setopt(fid_ep.ops(endpoint)),
              endpoint,
              FI_OPT_ENDPOINT(),
              Bits.ofOption(option),
              bytes,
              Bits.optionBytes(option));
      return refused("fi_setopt(%s, %d)".formatted(option, value), code);
    }
  }

  /**
   * How long operations may be.
   *
   * @param negotiated what holds where the provider has no such option; libfabric has them since
   *     2.0, and most providers have none of them
   */
  EndpointLimits limits(EndpointLimits negotiated) {
    return new EndpointLimits(
        size(EndpointOption.MAX_MSG_SIZE, negotiated.sendBytes()),
        size(EndpointOption.MAX_RMA_SIZE, negotiated.rmaBytes()),
        size(EndpointOption.INJECT_MSG_SIZE, negotiated.injectedSendBytes()),
        size(EndpointOption.INJECT_RMA_SIZE, negotiated.injectedRmaBytes()));
  }

  private long size(EndpointOption option, long otherwise) {
    try (Arena arena = Arena.ofConfined()) {
      // A provider that knows the option overwrites this.
      MemorySegment value = arena.allocateFrom(ValueLayout.JAVA_LONG, otherwise);
      if (read(arena, option, value) != 0) {
        return otherwise;
      }
      long size = value.get(ValueLayout.JAVA_LONG, 0);
      return size < 0 ? Long.MAX_VALUE : size;
    }
  }

  private int read(Arena arena, EndpointOption option, MemorySegment value) {
    MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, Bits.optionBytes(option));
    return fi_ops_ep.getopt.invoke(
        fi_ops_ep.getopt(fid_ep.ops(endpoint)),
        endpoint,
        FI_OPT_ENDPOINT(),
        Bits.ofOption(option),
        value,
        length);
  }

  private @Nullable FabricException refused(String operation, int code) {
    return code == 0 ? null : new FabricException(operation, Math.abs(code), "", place);
  }
}
