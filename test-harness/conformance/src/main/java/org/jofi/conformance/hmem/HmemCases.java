package org.jofi.conformance.hmem;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;

/** Device memory. */
public final class HmemCases {
  private static final int BYTES = 65_536;

  private static final Need NO_HMEM =
      new Need(
          hints -> hints.withHmem(false),
          info ->
              info.has(Capability.HMEM)
                  ? Optional.of("has FI_HMEM without being asked for it")
                  : Optional.empty(),
          "");

  private HmemCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.HMEM,
                "registers",
                "fi_getinfo(3), FI_HMEM; fi_mr(3), iface: device memory can be registered",
                HmemCases::registers)
            .needing(Need.HMEM),
        Case.of(
                Area.HMEM,
                "write",
                "fi_getinfo(3), FI_HMEM; fi_rma(3): a peer's write lands in device memory",
                HmemCases::write)
            .needing(Need.HMEM),
        Case.of(
                Area.HMEM,
                "refused-without-claim",
                "fi_mr(3), iface: without FI_HMEM device memory is refused, and not taken for host"
                    + " memory",
                HmemCases::refusedWithoutClaim)
            .needing(NO_HMEM));
  }

  /** Device memory of this machine. */
  private record Device(MemoryKind kind, MemorySegment memory) {
    static Device of(Bench bench) {
      for (MemoryKind kind : MemoryKind.values()) {
        Optional<MemorySegment> memory =
            kind == MemoryKind.HOST ? Optional.empty() : bench.subject().deviceMemory(kind, BYTES);
        if (memory.isPresent()) {
          return new Device(kind, memory.get());
        }
      }
      throw new NotClaimedException(
          "claims FI_HMEM, and there is no device memory on this machine to try it with");
    }

    Buffer register(Peer side, long access) {
      return new Buffer(
          side,
          memory,
          side.register(RegionRequest.device(kind, 0, memory.address(), BYTES, access)));
    }
  }

  private static void registers(Bench bench) {
    Device device = Device.of(bench);
    Peer side = bench.open("side");
    device.register(side, Access.ALL);
  }

  private static void write(Bench bench) {
    Device device = Device.of(bench);
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 110);
    Buffer target;
    try {
      target = device.register(pair.right(), Access.REMOTE_WRITE);
    } catch (org.jofi.fabric.FabricException refused) {
      throw new NotClaimedException("device memory cannot be registered; see registers");
    }
    int slot =
        pair.left()
            .write(source, BYTES, pair.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
    pair.left().success(slot, "a write to device memory");
    bench.awaitBytes(pair.right(), "a write to device memory", target.memory(), 110);
  }

  private static void refusedWithoutClaim(Bench bench) {
    Peer side = bench.open("side");
    MemorySegment memory = bench.allocate(4096);
    Expect.refusedWith(
        "registering memory as CUDA's",
        () ->
            side.register(
                    RegionRequest.device(MemoryKind.CUDA, 0, memory.address(), 4096, Access.ALL))
                .close(),
        FabricErrno.ENOSYS,
        FabricErrno.EOPNOTSUPP,
        FabricErrno.EINVAL);
  }
}
