package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jofi.cli.ControlGroup.Room;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlGroupTest {
  private static final long MIB = 1 << 20;

  @TempDir private Path folder;

  private Path mounted(String name, String type, String root, String options) throws IOException {
    Path mount = Files.createDirectories(folder.resolve(name));
    append(
        "mountinfo",
        "31 23 0:28 / /proc rw - proc proc rw",
        "35 31 0:32 %s %s rw,relatime shared:7 - %s cgroup %s"
            .formatted(root, mount, type, options));
    return mount;
  }

  private void append(String file, String... lines) throws IOException {
    Path path = folder.resolve(file);
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
    assertEquals(Optional.empty(), ControlGroup.memory(folder));
    limit(mount.resolve("job"), Long.toString(512 * MIB), 300, 50);
    Path bound = mount.resolve("job/memory.max");
    assertEquals(Optional.of(new Room(262 * MIB, bound)), ControlGroup.memory(folder));
    limit(mount.resolve("job/step"), Long.toString(512 * MIB), 100, 0);
    assertEquals(Optional.of(new Room(262 * MIB, bound)), ControlGroup.memory(folder));
    limit(mount.resolve("job"), Long.toString(512 * MIB), 600, 0);
    assertEquals(Optional.of(new Room(0, bound)), ControlGroup.memory(folder));
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
        Optional.of(new Room(24 * MIB, mount.resolve("memory.limit_in_bytes"))),
        ControlGroup.memory(folder));
    Files.writeString(mount.resolve("memory.limit_in_bytes"), "9223372036854771712\n");
    assertEquals(Optional.empty(), ControlGroup.memory(folder));
  }

  @Test
  void whatIsNotThereLimitsNothing() throws Exception {
    assertEquals(Optional.empty(), ControlGroup.memory(folder));
    append("cgroup", "4:memory:/here", "nonsense");
    append("mountinfo", "nonsense", "1 2 3");
    assertEquals(Optional.empty(), ControlGroup.memory(folder));
    mounted("memory", "cgroup", "/elsewhere", "rw,memory");
    assertEquals(Optional.empty(), ControlGroup.memory(folder));
  }
}
