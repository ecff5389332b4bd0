package org.jofi.doctor;

import java.util.List;
import java.util.Locale;
import org.jofi.doctor.machine.ControlGroups;

/** Checks what containers and batch systems leave of memory and of the processors. */
final class ControlGroupCheck implements Check {
  private static final String NAME = "cgroup";

  /** A rank with its JVM, and short messages, takes a part of this. */
  private static final long ENOUGH_BYTES = 1L << 30;

  /** A rank and the thread that helps it. */
  private static final double ENOUGH_PROCESSORS = 2;

  private static final List<String> READ = List.of(ControlGroups.FILE);

  @Override
  public List<Finding> examine(Patient patient) {
    ControlGroups groups = new ControlGroups(patient.machine().files());
    return List.of(
        groups
            .memory()
            .map(ControlGroupCheck::memory)
            .orElseGet(() -> Finding.pass(NAME, "memory", "no limit", READ)),
        groups
            .processors()
            .map(ControlGroupCheck::processors)
            .orElseGet(() -> Finding.pass(NAME, "cpu", "no limit", READ)));
  }

  private static Finding memory(ControlGroups.Room room) {
    String left =
        "%s of %s are left".formatted(ByteSize.text(room.left()), ByteSize.text(room.limit()));
    List<String> read = List.of(room.file());
    return room.left() >= ENOUGH_BYTES
        ? Finding.pass(NAME, "memory", left, read)
        : Finding.warn(
            NAME,
            "memory",
            left + ": a rank that takes more is killed",
            read,
            "docker run --memory=8g; Slurm: --mem=8g");
  }

  private static Finding processors(ControlGroups.Quota quota) {
    String share = String.format(Locale.ROOT, "%.1f processors", quota.processors());
    List<String> read = List.of(quota.file());
    return quota.processors() >= ENOUGH_PROCESSORS
        ? Finding.pass(NAME, "cpu", share + ": more ranks than that take turns", read)
        : Finding.warn(
            NAME,
            "cpu",
            share + ": ranks stand still for the rest of each period",
            read,
            "docker run --cpus=4; Kubernetes: limits.cpu");
  }
}
