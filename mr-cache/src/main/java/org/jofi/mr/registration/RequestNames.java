package org.jofi.mr.registration;

import java.util.List;

/** Names the requests that are in flight, for error messages. Never called on a hot path. */
@FunctionalInterface
public interface RequestNames {

  /** Names no requests; error messages then contain only their number. */
  RequestNames NONE = registration -> List.of();

  /**
   * The names of the requests that use this registration now; may be empty. It is called under the
   * cache's lock, so it must neither wait nor call the cache.
   */
  List<String> using(DataRegistration registration);
}
