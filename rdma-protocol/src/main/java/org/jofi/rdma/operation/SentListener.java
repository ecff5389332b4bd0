package org.jofi.rdma.operation;

import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** Is told when a message left. Called while a queue delivers, or by the post: must not post. */
public interface SentListener {

  SentListener NOBODY = (cookie, failure) -> {};

  /** The message left; or why it could not. */
  void sent(long cookie, @Nullable Failure failure);

  /** A provider took the message; again if it is sent again. */
  default void posted(long cookie) {}

  /** Whether {@link #sent} may come much later than the message left: nobody waits for it. */
  default boolean mayBeToldLate() {
    return false;
  }

  /** Whether a message that could not be posted yet is still to be sent; it is dropped if not. */
  default boolean isWanted(long cookie) {
    return true;
  }
}
