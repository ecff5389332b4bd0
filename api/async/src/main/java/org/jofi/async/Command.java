package org.jofi.async;

import org.jofi.transport.TransportException;

/** What another thread wants of the driver's. */
abstract class Command {
  /** Wakes the driver's thread. */
  static final Command LOOK =
      new Command() {
        @Override
        void carryOut() {}

        @Override
        void refuse(TransportException why) {}
      };

  /** On the driver's thread, which an exception would end. */
  abstract void carryOut();

  /**
   * It is not carried out, since the driver ends. On any thread; perhaps twice, and perhaps while
   * it is carried out.
   */
  abstract void refuse(TransportException why);
}
