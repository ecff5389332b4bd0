package org.jofi.conformance;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jofi.conformance.subject.SimulatedSubject;
import org.jofi.conformance.subject.Subject;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;

/** A provider that ruins its process when a fabric is opened the second time. */
abstract class MisbehavingSubject implements Subject {
  private final SimulatedSubject well = new SimulatedSubject("efa", null);
  private int opened;

  /** What happens then. */
  abstract void ruin();

  @Override
  public String name() {
    return getClass().getSimpleName();
  }

  @Override
  public FabricHints hints() {
    return well.hints();
  }

  @Override
  public FabricProvider provider() {
    return new FabricProvider() {
      @Override
      public String name() {
        return well.provider().name();
      }

      @Override
      public String version() {
        return well.provider().version();
      }

      @Override
      public List<FabricInfo> discover(FabricHints hints) {
        return well.provider().discover(hints);
      }

      @Override
      public Fabric open(FabricInfo info) {
        if (++opened == 2) {
          ruin();
        }
        return well.provider().open(info);
      }
    };
  }

  /** Touches memory that is not there. */
  public static final class Crashing extends MisbehavingSubject {
    @Override
    @SuppressWarnings("restricted")
    void ruin() {
      MemorySegment.ofAddress(8).reinterpret(8).set(ValueLayout.JAVA_LONG, 0, 1);
    }
  }

  /** Ends the process without a word. */
  public static final class Ending extends MisbehavingSubject {
    @Override
    void ruin() {
      Runtime.getRuntime().halt(42);
    }
  }

  /** Never returns, whoever asks. */
  public static final class Hanging extends MisbehavingSubject {
    @Override
    void ruin() {
      while (true) {
        LockSupport.parkNanos(1_000_000_000);
      }
    }
  }
}
