package org.jofi.mr;

import org.jofi.fabric.Domain;
import org.jofi.fabric.KeyOwner;

/** Where the requested keys of one domain's regions come from. Any thread. */
sealed interface KeySource permits KeyPool, KeySource.ProviderKeys {

  /**
   * Takes a key that no open region of the domain has.
   *
   * @throws KeysExhaustedException if there is none
   */
  long take();

  /** Gives a key back. Only after its region was closed. */
  void giveBack(long key);

  /** The provider chooses; requests carry a 0 that it ignores. */
  final class ProviderKeys implements KeySource {
    @Override
    public long take() {
      return 0;
    }

    @Override
    public void giveBack(long key) {
      // Nothing was taken.
    }
  }

  /** The source for a domain, as negotiated. */
  static KeySource of(Domain domain) {
    return domain.info().keyOwner() == KeyOwner.PROVIDER
        ? new ProviderKeys()
        : new KeyPool(domain.info().toString(), domain.info().limits().mrKeyBytes());
  }
}
