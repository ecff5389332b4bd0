package org.jofi.fabric;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FabricExceptionTest {
  private static String words(String operation, int errno) {
    return String.valueOf(new FabricException(operation, errno, "", "domain 1").getMessage());
  }

  /** With a limit of 0 the kernel says EPERM, and otherwise ENOMEM. */
  @ParameterizedTest
  @ValueSource(ints = {FabricErrno.ENOMEM, FabricErrno.EPERM})
  void theLimitOnLockedMemoryIsNamedWhereRegistrationsMeetIt(int errno) {
    String registration = words("fi_mr_regattr", errno);
    assertTrue(registration.contains("ulimit -l unlimited"), registration);
    assertFalse(words("fi_cq_open", errno).contains("ulimit"), words("fi_cq_open", errno));
  }

  @Test
  void theLimitOnOpenFilesIsNamed() {
    String socket = words("fi_endpoint", FabricErrno.EMFILE);
    assertTrue(socket.contains("ulimit -n"), socket);
  }
}
