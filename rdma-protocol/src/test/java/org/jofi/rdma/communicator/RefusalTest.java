package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RefusalTest {
  @Test
  void saysWhetherItWasTheNicOrAnInterrupt() {
    FabricException nic = new FabricException("fi_mr_reg", FabricErrno.ENOMEM, "", "rail 0");
    assertEquals(FailureCause.FABRIC, Refusal.cause(nic, FailureCause.EXHAUSTED));
    assertEquals(FailureCause.FABRIC, cause(nic));
    assertEquals(FailureCause.INTERRUPTED, cause(new InterruptedException()));
    assertEquals(FailureCause.EXHAUSTED, cause(null));
  }

  private static FailureCause cause(@Nullable Throwable reason) {
    return Refusal.cause(new RegistrationException("refused", reason), FailureCause.EXHAUSTED);
  }
}
