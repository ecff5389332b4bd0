package org.jofi.cli.allreduce;

import java.util.ArrayList;
import java.util.List;
import org.jofi.cli.ranks.RingLinks;

/**
 * Runs a {@link DoublingSchedule} over communicators: it sums an array of float32 over all ranks,
 * in place. For one thread; allocates nothing while it runs.
 *
 * <p>It is for arrays of one message. A longer one is summed part by part, each in all steps. The
 * receive of a step is posted while the step before runs, so that no partner waits for it.
 */
final class DoublingAllReduce implements AllReduce {
  /** Two steps receive at the same time at most. */
  private static final int LANDINGS = 2;

  private final List<DoublingStep> steps = new ArrayList<>();
  private final long elements;
  private final int chunkElements;

  /**
   * Registers an array.
   *
   * @param links connections to the partners, among others
   * @param memory the array, and a landing area of {@link #landingBytes}; it must stay open longer
   *     than this
   * @param schedule this rank's
   * @param elements length of the array
   * @param chunkElements the longest message
   */
  DoublingAllReduce(
      RingLinks links,
      RingMemory memory,
      DoublingSchedule schedule,
      long elements,
      int chunkElements) {
    this.elements = elements;
    this.chunkElements = chunkElements;
    for (DoublingSchedule.Step step : schedule.steps()) {
      long landing = steps.size() % LANDINGS * RingMemory.slotBytes(chunkElements);
      steps.add(new DoublingStep(links, memory, step, landing));
    }
  }

  /** The length of the landing area that it needs, in bytes. */
  static long landingBytes(int chunkElements) {
    return LANDINGS * RingMemory.slotBytes(chunkElements);
  }

  @Override
  public void run() {
    for (long offset = 0; offset < elements; offset += chunkElements) {
      run(offset, (int) Math.min(chunkElements, elements - offset));
    }
  }

  private void run(long offset, int count) {
    for (int i = 0; i < steps.size(); i++) {
      DoublingStep step = steps.get(i);
      if (i == 0) {
        step.prepare(count);
      }
      step.begin(offset, count);
      if (i + 1 < steps.size()) {
        steps.get(i + 1).prepare(count);
      }
      step.finish(offset, count);
    }
  }

  @Override
  public List<String> paths() {
    return steps.stream().flatMap(step -> step.paths().stream()).toList();
  }

  @Override
  public void close() {
    steps.forEach(DoublingStep::close);
  }
}
