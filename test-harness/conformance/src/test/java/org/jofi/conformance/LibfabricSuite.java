package org.jofi.conformance;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A provider of the libfabric under test, whose cases run in children on that libfabric. */
@Tag("libfabric")
@Timeout(400)
@Execution(ExecutionMode.CONCURRENT)
abstract class LibfabricSuite extends ChildConformanceSuite {

  @Override
  protected Path java() {
    return Children.java();
  }

  @Override
  protected List<String> properties() {
    return Children.properties();
  }
}
