package org.jofi.mr;

import java.util.List;

/** Knows the requests that are in flight, for errors to name them. Never called on a hot path. */
@FunctionalInterface
public interface RequestNames {

  /** Knows none; errors then tell only how many there are. */
  RequestNames NONE = registration -> List.of();

  /**
   * What to call the requests that use this registration now; may be empty. Called under the
   * cache's lock: it must neither wait nor call the cache.
   */
  List<String> using(DataRegistration registration);
}
