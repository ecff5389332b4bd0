package org.jofi.collectives;

import java.util.LinkedHashMap;
import org.jofi.collectives.schedule.Algorithm;
import org.jofi.collectives.schedule.Algorithms;
import org.jofi.collectives.schedule.Hosts;
import org.jofi.collectives.schedule.Operation;
import org.jofi.collectives.schedule.Schedule;
import org.jofi.collectives.schedule.Steps;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Makes the programs of a group, with their connections, and keeps those that are likely to run
 * again. For one thread.
 */
final class Programs {
  /** Programs that are kept for the next operation of the same kind and lengths. */
  private static final int KEPT = 64;

  private static final Algorithm ALONE = new Alone();

  private final Members members;
  private final Hosts hosts;
  private final Peers peers;
  private final Waiting waiting;
  private final GroupOptions options;
  private final LinkedHashMap<Key, Program> kept = new LinkedHashMap<>(KEPT, 0.75f, true);

  /**
   * What operations have in common that run the same program.
   *
   * @param algorithm its name; empty for the one that is fastest
   * @param gpu whose memory it works on; null for host memory
   * @param inputInOutput where the input begins in the output; null if they share nothing
   */
  record Key(
      Collective collective, String algorithm, @Nullable Gpu gpu, @Nullable Long inputInOutput) {}

  Programs(Members members, Hosts hosts, Peers peers, Waiting waiting, GroupOptions options) {
    this.members = members;
    this.hosts = hosts;
    this.peers = peers;
    this.waiting = waiting;
    this.options = options;
  }

  /** One that is kept, or a new one, which is kept from then on. */
  Program get(Key key) {
    Program program = kept.get(key);
    // A rank may find a program that another one has to make: both count the same.
    if (program != null) {
      waiting.begin(program.words(), key.collective().operation());
      return program;
    }
    program = make(key, choice(key), "");
    kept.put(key, program);
    if (kept.size() > KEPT) {
      kept.pollFirstEntry().getValue().close();
    }
    return program;
  }

  /**
   * A new one, whose connections are made.
   *
   * @param choice of its algorithm
   * @param before what comes before the operation's words while it is made
   */
  Program make(Key key, Algorithms.Choice choice, String before) {
    Collective collective = key.collective();
    String words = collective + " by " + choice.algorithm().name();
    waiting.begin(before + words, collective.operation());
    Long inputInOutput = key.inputInOutput();
    Steps steps =
        inputInOutput == null
            ? new Steps(members.rank(), members.size())
            : Steps.sharing(members.rank(), members.size(), inputInOutput);
    long chunk = Math.max(1, options.chunkBytes() / collective.type().bytes());
    Reduction reduction = collective.reduction();
    boolean finishes = reduction != null && reduction.rule() == Reduction.Rule.AVERAGE;
    choice.algorithm().write(finishes ? steps : steps.unfinished(), collective.operation(), chunk);
    Schedule schedule = steps.schedule();
    try {
      peers.connect(schedule, waiting);
    } catch (TransportException broken) {
      throw waiting.reason(broken, "connecting");
    }
    return new Program(
        collective, choice, words, schedule, members, peers, options.window(), key.gpu());
  }

  /**
   * The algorithm that suits.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  Algorithms.Choice choice(Key key) {
    Operation operation = key.collective().operation();
    String name = key.algorithm();
    int elementBytes = key.collective().type().bytes();
    if (hosts.size() == 1) {
      return new Algorithms.Choice(ALONE, "there is one rank");
    }
    if (!name.isEmpty()) {
      return new Algorithms.Choice(
          Algorithms.named(operation, hosts, elementBytes, name), "the caller asked for it");
    }
    return Algorithms.choose(operation, hosts, elementBytes);
  }

  void clear() {
    kept.clear();
  }
}
