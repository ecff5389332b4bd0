package org.jofi.conformance;

import org.jofi.efadouble.Option;
import org.junit.jupiter.api.Tag;

/** Requests are held back by chance, so that they end in another order than they began. */
@Tag("long")
class EfaDelayTest extends EfaSuite {
  EfaDelayTest() {
    super("efa", "write");
    with(Option.SEED, 11);
    with(Option.DELAY_US, 400);
  }
}
