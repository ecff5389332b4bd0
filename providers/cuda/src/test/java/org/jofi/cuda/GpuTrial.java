package org.jofi.cuda;

import org.jofi.fabric.DeviceProbe;

/** All checks on this machine's own driver and GPU, a line each. */
final class GpuTrial {
  private GpuTrial() {}

  public static void main(String[] arguments) {
    DeviceProbe probe = CudaDevices.probe();
    System.out.println(probe.driver());
    if (!probe.isUsable()) {
      System.out.println("no GPU: " + probe.obstacle() + "; " + probe.remedy());
      System.exit(3);
    }
    probe.devices().forEach(System.out::println);
    check("attributes tell the allocation", DriverChecks::attributesTellTheAllocation);
    check(
        "freed memory loses its id, and no id is given twice",
        () ->
            System.out.printf(
                "%d addresses came back%n", DriverChecks.freedMemoryLosesItsId(2000)));
    check("pinned memory is host memory", DriverChecks::pinnedMemoryIsHostMemory);
    check(
        "copies keep every byte, 1 B to 64 MiB",
        () -> DriverChecks.copiesKeepEveryByte(1, 2, 63, 4096, 1_000_003, 64 << 20));
    check(
        "64 chunks of 1 MiB keep their order",
        () -> DriverChecks.chunksKeepTheirOrder(64, 1 << 20));
    check("a full stream says so", DriverChecks::aFullStreamSaysSo);
    check("works during capture", DriverChecks::worksDuringCapture);
    check(
        "sums are exact, 1 to 16 Mi elements, lengths that are no multiple of a block",
        () ->
            AdderChecks.sumsAreExact(
                1, 2, 31, 255, 256, 257, 4099, 524_287, 524_289, 1_000_003, 16_777_213, 16 << 20));
    check("wrong sums are refused", AdderChecks::wrongSumsAreRefused);
    check("copies are exact", () -> AdderChecks.copiesAreExact(1, 3, 4096, 100_001));
    check("sums work during capture", AdderChecks::sumsDuringCapture);
    check("closing in the wrong order is refused", DriverChecks::closingInTheWrongOrderIsRefused);
    System.out.println("dma-buf: " + DriverChecks.dmaBufOrWhyNot());
    System.out.println("flush: " + DriverChecks.flushOrWhyNot());
    System.out.println("all passed");
  }

  private static void check(String what, Runnable check) {
    long start = System.nanoTime();
    check.run();
    System.out.printf("passed: %s (%d ms)%n", what, (System.nanoTime() - start) / 1_000_000);
  }
}
