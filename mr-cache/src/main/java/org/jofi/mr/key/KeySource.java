package org.jofi.mr.key;

import java.util.function.LongSupplier;
import org.jofi.fabric.Domain;
import org.jofi.fabric.KeyOwner;

/** Supplies the requested keys of one domain's regions. Any thread. */
public sealed interface KeySource permits KeyPool, KeySource.ProviderKeys {

  /**
   * Takes a key that no open region of the domain has.
   *
   * @throws KeysExhaustedException if there is none
   */
  long take();

  /** Gives a key back. Only after its region was closed. */
  void giveBack(long key);

  /** For domains whose provider chooses keys: requests carry a 0, which it ignores. */
  final class ProviderKeys implements KeySource {
    @Override
    public long take() {
      return 0;
    }

    @Override
    public void giveBack(long key) {
      // take() allots nothing.
    }
  }

  /** The source for a domain, depending on who chooses its keys. */
  static KeySource of(Domain domain, LongSupplier random) {
    return domain.info().keyOwner() == KeyOwner.PROVIDER
        ? new ProviderKeys()
        : new KeyPool(domain.info().toString(), domain.info().limits().mrKeyBytes(), random);
  }
}
