package org.jofi.mr.key;

/** Every key that a domain's key size allows belongs to an open region. */
public final class KeysExhaustedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  KeysExhaustedException(String domain, int widthBytes, int live) {
    super(
        ("%s has no key left: all %d keys of %d byte(s) belong to open regions. Those that"
                + " the cache held idle were given up; close registrations that are no longer needed.")
            .formatted(domain, live, widthBytes));
  }
}
