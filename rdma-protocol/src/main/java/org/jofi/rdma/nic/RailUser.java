package org.jofi.rdma.nic;

import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** Who posts to a peer over rails, and is told what becomes of each. */
public interface RailUser {
  /** The rail's endpoint closes; another one will be opened in its place, unless it is for good. */
  void closes(int rail, boolean forGood, @Nullable Failure why);
}
