package org.jofi.simulated.completion;

import org.jofi.fabric.CompletionError;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;

/** A completion that was taken from its ring. The object is reused for the next one. */
public final class SimulatedCompletion implements CompletionError {
  private final String where;
  int context;
  long flags;
  long length;
  long data;
  int errno;
  int providerErrno;
  long overflow;

  public SimulatedCompletion(String where) {
    this.where = where;
  }

  @Override
  public int context() {
    return context;
  }

  @Override
  public long flags() {
    return flags;
  }

  @Override
  public long lengthBytes() {
    return length;
  }

  @Override
  public long overflowBytes() {
    return overflow;
  }

  @Override
  public long data() {
    return data;
  }

  @Override
  public int errno() {
    return errno;
  }

  @Override
  public int providerErrno() {
    return providerErrno;
  }

  @Override
  public String providerText() {
    return "simulated " + FabricErrno.meaning(errno);
  }

  @Override
  public FabricException toException() {
    return new FabricException(
        "fi_cq_readerr", errno, providerText() + " (" + providerErrno + ")", where);
  }
}
