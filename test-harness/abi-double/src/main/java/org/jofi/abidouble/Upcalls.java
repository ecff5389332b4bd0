package org.jofi.abidouble;

import java.lang.foreign.MemorySegment;
import java.util.function.ToLongFunction;
import org.jofi.fabric.FabricErrno;

/**
 * What every function of the double runs in: finds the object, and lets nothing be thrown into C,
 * which would end the process.
 */
final class Upcalls {
  private final Ledger ledger;

  Upcalls(Ledger ledger) {
    this.ledger = ledger;
  }

  /** A call on an object, which answers 0, a count or a negative fi_errno. */
  <F extends Fid> long on(
      MemorySegment self, Class<F> kind, String call, ToLongFunction<F> answer) {
    try {
      ledger.count(call);
      return answer.applyAsLong(ledger.find(self, kind, call));
    } catch (Refusal refused) {
      return -refused.errno();
    } catch (Throwable failure) {
      ledger.failed(call, failure);
      return -FabricErrno.EINVAL;
    }
  }

  /** A call that the double has no answer to, or not now. */
  long refused(Rule rule, String call, MemorySegment self) {
    try {
      throw ledger.refusal(
          rule,
          call,
          rule == Rule.UNEXPECTED_CALL ? "not known to the double" : "not now",
          ledger.find(self, Fid.class, call),
          FabricErrno.ENOSYS);
    } catch (Refusal refused) {
      return -refused.errno();
    } catch (Throwable failure) {
      ledger.failed(call, failure);
      return -FabricErrno.EINVAL;
    }
  }
}
