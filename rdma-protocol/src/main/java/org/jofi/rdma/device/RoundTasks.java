package org.jofi.rdma.device;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;

/** What a progress thread calls after each of its rounds. Any thread adds and removes. */
final class RoundTasks {
  private static final Logger LOG = System.getLogger(RoundTasks.class.getName());

  private volatile Runnable[] tasks = {};

  synchronized void add(Runnable task) {
    List<Runnable> all = new ArrayList<>(List.of(tasks));
    all.add(task);
    tasks = all.toArray(Runnable[]::new);
  }

  synchronized void remove(Runnable task) {
    List<Runnable> all = new ArrayList<>(List.of(tasks));
    all.remove(task);
    tasks = all.toArray(Runnable[]::new);
  }

  /** Calls each; one that throws is called no more. */
  void run() {
    for (Runnable task : tasks) {
      try {
        task.run();
      } catch (RuntimeException thrown) {
        LOG.log(Level.WARNING, "a task between rounds failed, and is called no more", thrown);
        remove(task);
      }
    }
  }
}
