package org.jofi.conformance;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Tag("libfabric")
@Timeout(400)
@Execution(ExecutionMode.CONCURRENT)
class LibfabricTcpTest extends ChildConformanceSuite {
  @Override
  protected String subject() {
    return "tcp";
  }

  @Override
  protected Path java() {
    return Children.java();
  }

  @Override
  protected List<String> properties() {
    return Children.properties();
  }

  @Override
  protected int notClaimed() {
    return 18;
  }
}
