package org.jofi.transport.driven;

import org.jofi.transport.Comm;

/**
 * A communicator whose endpoint may have a progress thread ({@link
 * org.jofi.transport.ProgressThreads}), for those who leave work to that thread. Those of this
 * project's transports are such.
 */
public interface DrivenComm extends Comm {
  /**
   * {@return whether a progress thread drives its endpoint now} Then a call that posts may have to
   * wait for the end of that thread's round. Not once it is closed: nobody calls its tasks then.
   * Any thread; takes no lock.
   */
  boolean isDriven();

  /**
   * Has a task called by the progress thread of its endpoint after each of its rounds, without the
   * lock, until the communicator is closed, or once more if the round had begun. So whoever serves
   * many communicators can leave to that thread what would wait for it. The task may post, must not
   * close anything, and is to be short: nothing moves meanwhile. If it throws, that is logged, and
   * it is called no more.
   *
   * @param task called by the progress thread, again and again
   * @return false if the endpoint has no progress thread; the task is never called then
   */
  boolean betweenRounds(Runnable task);
}
