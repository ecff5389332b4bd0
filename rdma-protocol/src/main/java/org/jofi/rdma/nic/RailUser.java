package org.jofi.rdma.nic;

import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** Who posts to a peer over rails, and is told what becomes of each. */
public interface RailUser {
  /** The rail's endpoint closes, and another one will be opened in its place. */
  void retired(int rail, @Nullable Failure why);

  /** The rail is used no more. */
  void ended(int rail, Failure why);
}
