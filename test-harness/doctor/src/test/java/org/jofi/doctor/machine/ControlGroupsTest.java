package org.jofi.doctor.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jofi.doctor.machine.ControlGroups.Quota;
import org.jofi.doctor.machine.ControlGroups.Room;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlGroupsTest {
  private static final long MIB = 1 << 20;

  @TempDir private Path folder;

  private ControlGroups groups() throws IOException {
    return new ControlGroups(new MachineFiles(folder));
  }

  /** The folder that stands for {@code /sys/fs/cgroup/} and that name. */
  private Path mounted(String name, String type, String root, String options) throws IOException {
    append(
        "mountinfo",
        "31 23 0:28 / /proc rw - proc proc rw",
        "35 31 0:32 %s /sys/fs/cgroup/%s rw,relatime shared:7 - %s cgroup %s"
            .formatted(root, name, type, options));
    return Files.createDirectories(folder.resolve("sys/fs/cgroup").resolve(name));
  }

  private void append(String file, String... lines) throws IOException {
    Path path = Files.createDirectories(folder.resolve("proc/self")).resolve(file);
    String before = Files.exists(path) ? Files.readString(path) : "";
    Files.writeString(path, before + String.join("\n", lines) + "\n");
  }

  private static void limit(Path group, String limit, long usedMib, long freeableMib)
      throws IOException {
    Files.createDirectories(group);
    Files.writeString(group.resolve("memory.max"), limit + "\n");
    Files.writeString(group.resolve("memory.current"), usedMib * MIB + "\n");
    Files.writeString(
        group.resolve("memory.stat"), "anon 7\ninactive_file %d\n".formatted(freeableMib * MIB));
  }

  @Test
  void theLeastOfTheGroupsAroundCounts() throws Exception {
    append("cgroup", "0::/job/step");
    Path mount = mounted("unified", "cgroup2", "/", "rw");
    limit(mount.resolve("job/step"), "max", 100, 0);
    assertEquals(Optional.empty(), groups().memory());
    limit(mount.resolve("job"), Long.toString(512 * MIB), 300, 50);
    String bound = "/sys/fs/cgroup/unified/job/memory.max";
    assertEquals(Optional.of(new Room(262 * MIB, 512 * MIB, bound)), groups().memory());
    limit(mount.resolve("job/step"), Long.toString(512 * MIB), 100, 0);
    assertEquals(Optional.of(new Room(262 * MIB, 512 * MIB, bound)), groups().memory());
    limit(mount.resolve("job"), Long.toString(512 * MIB), 600, 0);
    assertEquals(Optional.of(new Room(0, 512 * MIB, bound)), groups().memory());
  }

  @Test
  void aContainerSeesItsOwnGroupAtTheRoot() throws Exception {
    append("cgroup", "5:cpu,cpuacct:/", "4:memory:/docker/abc", "0::/");
    Path mount = mounted("memory", "cgroup", "/docker/abc", "rw,memory");
    Files.writeString(mount.resolve("memory.limit_in_bytes"), "%d\n".formatted(64 * MIB));
    Files.writeString(mount.resolve("memory.usage_in_bytes"), "%d\n".formatted(60 * MIB));
    Files.writeString(
        mount.resolve("memory.stat"),
        "inactive_file 1\ntotal_inactive_file %d\n".formatted(20 * MIB));
    assertEquals(
        Optional.of(new Room(24 * MIB, 64 * MIB, "/sys/fs/cgroup/memory/memory.limit_in_bytes")),
        groups().memory());
    Files.writeString(mount.resolve("memory.limit_in_bytes"), "9223372036854771712\n");
    assertEquals(Optional.empty(), groups().memory());
  }

  @Test
  void processesAndProcessorsAreLimitedByEitherVersion() throws Exception {
    append("cgroup", "7:cpu,cpuacct:/", "6:pids:/job", "0::/");
    Path pids = mounted("pids", "cgroup", "/", "rw,pids");
    Path cpu = mounted("cpu,cpuacct", "cgroup", "/", "rw,cpu,cpuacct");
    Path second = mounted("unified", "cgroup2", "/", "rw");
    assertEquals(Optional.empty(), groups().processes());
    assertEquals(Optional.empty(), groups().processors());
    Path job = Files.createDirectories(pids.resolve("job"));
    Files.writeString(job.resolve("pids.max"), "max\n");
    Files.writeString(job.resolve("pids.current"), "12\n");
    Files.writeString(cpu.resolve("cpu.cfs_quota_us"), "-1\n");
    Files.writeString(cpu.resolve("cpu.cfs_period_us"), "100000\n");
    assertEquals(Optional.empty(), groups().processes());
    assertEquals(Optional.empty(), groups().processors());
    Files.writeString(job.resolve("pids.max"), "40\n");
    Files.writeString(cpu.resolve("cpu.cfs_quota_us"), "250000\n");
    assertEquals(
        Optional.of(new Room(28, 40, "/sys/fs/cgroup/pids/job/pids.max")), groups().processes());
    assertEquals(
        Optional.of(new Quota(2.5, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us")),
        groups().processors());
    Files.writeString(second.resolve("pids.max"), "30\n");
    Files.writeString(second.resolve("pids.current"), "29\n");
    Files.writeString(second.resolve("cpu.max"), "max 100000\n");
    assertEquals(
        Optional.of(new Room(1, 30, "/sys/fs/cgroup/unified/pids.max")), groups().processes());
    assertEquals(2.5, groups().processors().orElseThrow().processors());
    Files.writeString(second.resolve("cpu.max"), "50000 100000\n");
    assertEquals(
        Optional.of(new Quota(0.5, "/sys/fs/cgroup/unified/cpu.max")), groups().processors());
  }

  @Test
  void whatIsNotThereLimitsNothing() throws Exception {
    assertEquals(Optional.empty(), groups().memory());
    append("cgroup", "4:memory:/here", "nonsense");
    append("mountinfo", "nonsense", "1 2 3");
    assertEquals(Optional.empty(), groups().memory());
    mounted("memory", "cgroup", "/elsewhere", "rw,memory");
    assertEquals(Optional.empty(), groups().memory());
  }
}
