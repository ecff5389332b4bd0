package org.jofi.libfabric.peers;

/** What a provider cannot do, by name. Reported, and expected where it is known; never hidden. */
final class Lack extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Lack(String what) {
    super(what);
  }
}
