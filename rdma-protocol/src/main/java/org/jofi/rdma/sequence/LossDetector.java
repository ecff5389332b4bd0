package org.jofi.rdma.sequence;

import org.jspecify.annotations.Nullable;

/**
 * Detects lost data that no operation reports, for example because a provider silently reconnected.
 * It records what is late and since when: messages that the sender has finished and the receiver
 * has not got, or entries that the receiver has written and the sender does not see. Both may still
 * be in flight, but not for long.
 */
public final class LossDetector {
  private boolean messages;
  private long entries;
  private boolean timed;
  private long since;
  private boolean overdue;
  private boolean confirmed;

  /** Something arrived, so nothing is late. */
  public void clear() {
    messages = false;
    entries = 0;
    timed = false;
    overdue = false;
    confirmed = false;
  }

  /**
   * Records what the sender reported.
   *
   * @param unarrived whether it finished messages that did not arrive
   * @param unseen the receive whose entry it does not see although they were written; 0 for none
   */
  public void set(boolean unarrived, long unseen) {
    if (!unarrived && (unseen == 0 || unseen != entries)) {
      clear();
    }
    messages = unarrived;
    entries = unseen;
    confirmed = overdue;
  }

  /** What has been late for longer than the bound, by the sender's last report; or null. */
  public @Nullable String overdue(long now, long boundNs) {
    if (!messages && entries == 0) {
      return null;
    }
    if (!timed) {
      timed = true;
      since = now;
    }
    overdue = now - since >= boundNs;
    if (!confirmed) {
      return null;
    }
    return messages
        ? "messages that the peer sent to the end did not arrive"
        : "entries of receive %d were written, and the peer does not see them".formatted(entries);
  }
}
