package org.jofi.rdma.message;

import org.jspecify.annotations.Nullable;

/**
 * What a receiver lacks although the sender is past it, and since when: messages that were sent to
 * the end, or entries that were written and are not seen. Either may still be on its way, but not
 * for long. This is how losses show that no operation reports, such as those of a connection that a
 * provider silently made again.
 */
final class Behind {
  private boolean messages;
  private long entries;
  private boolean timed;
  private long since;
  private boolean overdue;
  private boolean confirmed;

  /** Something came: all is well so far. */
  void clear() {
    messages = false;
    entries = 0;
    timed = false;
    overdue = false;
    confirmed = false;
  }

  /**
   * What the sender told.
   *
   * @param unarrived whether it finished messages that did not arrive
   * @param unseen the message whose entries it does not see although they were written; 0 for none
   */
  void set(boolean unarrived, long unseen) {
    if (!unarrived && (unseen == 0 || unseen != entries)) {
      clear();
    }
    messages = unarrived;
    entries = unseen;
    confirmed = overdue;
  }

  /** What is late for longer than the bound, and was so when the sender told last; or null. */
  @Nullable String overdue(long now, long boundNs) {
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
        : "entries of message %d were written, and the peer does not see them".formatted(entries);
  }
}
