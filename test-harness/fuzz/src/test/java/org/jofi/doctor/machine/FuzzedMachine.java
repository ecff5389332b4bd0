package org.jofi.doctor.machine;

/** Opens what the doctor reads of a machine to the package of the tests. */
public final class FuzzedMachine {
  private FuzzedMachine() {}

  /** A PCI function's configuration space. */
  public static void configSpace(byte[] bytes) {
    ConfigSpace space = new ConfigSpace(Reading.of("/config", bytes));
    if (space.accessControl().isPresent() && space.extent() != ConfigSpace.Extent.EXTENDED) {
      throw new AssertionError("something that lies beyond what was read");
    }
  }

  /** What is read of files that hold a line or a number. */
  public static void text(byte[] bytes) {
    Reading reading = Reading.of("/file", bytes);
    reading.text();
    KernelVersion.of(reading.text());
    Reading.number(reading.text());
    Reading.printable(reading.text());
  }
}
