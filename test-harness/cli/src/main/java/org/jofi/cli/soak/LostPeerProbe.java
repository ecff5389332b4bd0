package org.jofi.cli.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.Comm;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;

/**
 * Looks how the transport itself notices that a rank was killed, since the bootstrap connection
 * tells of it sooner: requests to a dead neighbour have to fail, each with a cause, within a bound.
 * For one thread.
 */
final class LostPeerProbe {
  /**
   * Twice the time after which a silent peer counts as lost, and some for a machine that is busy.
   */
  private static final long BOUND_NANOS = 30_000_000_000L;

  /** Too long to be over before its receive is posted. */
  private static final long BYTES = 1 << 20;

  private record Probe(Comm comm, long request, String what) {}

  private final RingLinks links;
  private final GenerationMemory memory;

  LostPeerProbe(RingLinks links, GenerationMemory memory) {
    this.links = links;
    this.memory = memory;
  }

  /**
   * Posts to and from the dead, and waits.
   *
   * @return how it failed, each with its cause
   * @throws WrongDataException if something succeeds, or nothing happens within the bound
   */
  List<String> run(List<Integer> dead) {
    int rank = links.ranks().rank();
    int ranks = links.ranks().size();
    // What is posted here may be in flight until the abort, so its memory is the generation's.
    Arena arena = memory.open();
    MemorySegment segment = arena.allocate(2 * BYTES);
    List<Probe> probes = new ArrayList<>();
    int next = (rank + 1) % ranks;
    int previous = Math.floorMod(rank - 1, ranks);
    if (dead.contains(next)) {
      SendComm comm = links.toNext();
      probes.add(
          new Probe(comm, comm.isend(segment, 0, BYTES, 0), "send to rank %d".formatted(next)));
    }
    if (dead.contains(previous)) {
      RecvComm comm = links.fromPrevious();
      probes.add(
          new Probe(
              comm,
              comm.irecv(segment, BYTES, BYTES, 0),
              "receive from rank %d".formatted(previous)));
    }
    long begin = System.nanoTime();
    return probes.stream().map(probe -> failure(probe, begin)).toList();
  }

  private static String failure(Probe probe, long begin) {
    Comm comm = probe.comm;
    long request = probe.request;
    String what = probe.what;
    if (request == Result.TRY_AGAIN) {
      return what + ": no room for another request";
    }
    IdleStrategy idle = IdleStrategy.yielding();
    long result = comm.test(request);
    while (result == Result.IN_PROGRESS) {
      if (System.nanoTime() - begin > BOUND_NANOS) {
        throw new WrongDataException(
            "a %s, which was killed, has not failed within %d s"
                .formatted(what, BOUND_NANOS / 1_000_000_000));
      }
      idle.idle();
      result = comm.test(request);
    }
    if (!FailureCause.isFailure(result)) {
      throw new WrongDataException(
          "a %s, which was killed, ended with: %s".formatted(what, Result.describe(result)));
    }
    Optional<Failure> failure = comm.failure(request);
    if (failure.isEmpty()) {
      throw new WrongDataException(
          "a %s failed with %s and without a reason".formatted(what, FailureCause.of(result)));
    }
    return String.format(
        Locale.ROOT,
        "%s: %s after %.1f s",
        what,
        failure.get().cause(),
        (System.nanoTime() - begin) / 1e9);
  }
}
