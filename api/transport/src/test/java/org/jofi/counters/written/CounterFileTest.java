package org.jofi.counters.written;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jofi.counters.CountedError;
import org.jofi.counters.Counter;
import org.jofi.counters.Counters;
import org.jofi.counters.CountersFormatException;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CounterFileTest {
  private static final long NOW = 1_700_000_000_000L;

  @TempDir private Path temporary;
  private Path folder;

  @BeforeEach
  void choose() {
    folder = temporary.resolve("counters");
    System.setProperty(CounterFolder.PROPERTY, folder.toString());
  }

  @AfterEach
  void forget() {
    System.clearProperty(CounterFolder.PROPERTY);
  }

  private static long value(List<Counter> counters, CounterType type, int rail) {
    return counters.stream()
        .filter(each -> each.typeId() == type.id() && each.rail() == rail)
        .mapToLong(Counter::value)
        .sum();
  }

  @Test
  @SuppressWarnings("try") // Closed twice.
  void whatIsWrittenIsRead() throws IOException {
    Path path;
    try (CounterFile file = CounterFile.open("some fabric 1.2", NOW)) {
      path = file.path().orElseThrow();
      EndpointCounters endpoint = file.endpoint("device ä", 3, 1, List.of("nic0", "nic1"));
      CounterBlock cache = file.registrations("device ä", 3, 1);
      endpoint.add(CounterType.MESSAGES_SENT, 5);
      endpoint.add(CounterType.MESSAGES_SENT, 2);
      endpoint.rails().get(1).took(true, false, 4096);
      endpoint.rails().get(1).took(true, true, 512);
      endpoint.rails().get(0).took(false, false, 64);
      cache.addAtomic(CounterType.CACHE_PINNED, 1L << 40);
      endpoint.failed(new Failure(FailureCause.PEER_LOST, 0, "here", "after 17 ms"));
      file.beat(NOW + 250, 9_000);
      endpoint.failed(new Failure(FailureCause.PEER_LOST, 0, "here", "after 18 ms"));
      endpoint.failed(new Failure(FailureCause.CLOSED, 0, "here", ""));
      assertEquals(
          "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
      assertEquals(List.of(path), Counters.running());
      try (Counters counters = Counters.attach(path)) {
        assertEquals(ProcessHandle.current().pid(), counters.pid());
        assertEquals(NOW + 250, counters.heartbeat().toEpochMilli());
        assertEquals("some fabric 1.2", counters.fabric());
        assertEquals(Counters.ProcessState.RUNNING, counters.state());
        List<Counter> all = counters.list();
        assertEquals(7, value(all, CounterType.MESSAGES_SENT, -1));
        assertEquals(4096, value(all, CounterType.BYTES_WRITTEN, 1));
        assertEquals(0, value(all, CounterType.BYTES_WRITTEN, 0));
        assertEquals(512, value(all, CounterType.BYTES_READ, 1));
        assertEquals(64, value(all, CounterType.CONTROL_BYTES, 0));
        assertEquals(1L << 40, value(all, CounterType.CACHE_PINNED, -1));
        assertEquals(9_000, value(all, CounterType.HOUSEKEEPING_LONGEST, -1));
        assertEquals(2, value(all, CounterType.FAILED_PEER_LOST, -1));
        assertEquals(1, value(all, CounterType.FAILED_CLOSED, -1));
        int index =
            all.indexOf(all.stream().filter(each -> each.rail() == 1).findFirst().orElseThrow());
        assertEquals("nic1", all.get(index).nic());
        assertEquals("device ä", all.get(index).device());
        endpoint.rails().get(1).took(true, false, 1);
        assertEquals(2, counters.value(index).orElseThrow());
        assertTrue(counters.value(all.size()).isEmpty() && counters.value(-1).isEmpty());
        CountedError error = counters.errors().getFirst();
        assertEquals(1, counters.errors().size());
        assertEquals(2, error.count());
        assertTrue(error.text().contains("after 17 ms"), error.text());
        assertEquals(NOW, error.first().toEpochMilli());
        assertEquals(NOW + 250, error.last().toEpochMilli());
      }
      // Looking and attaching did not end the lock, which other processes see.
      assertEquals(Counters.ProcessState.RUNNING, Counters.state(path));
      assertFalse(Counters.remove(path));
      file.close();
      endpoint.add(CounterType.MESSAGES_SENT, 1);
    }
    assertFalse(Files.exists(path));
    assertEquals(List.of(), List.of(folder.toFile().list()));
  }

  @Test
  void leftoversAreDeadAndCleaned() throws IOException {
    Path dead = left("4194000-1");
    assertEquals(Counters.ProcessState.DEAD, Counters.state(dead));
    assertEquals(List.of(), Counters.running());
    assertEquals(List.of(dead), Counters.files());
    Path unknown = left("4194000-2");
    Files.delete(DeadCounters.lockOf(unknown));
    assertEquals(Counters.ProcessState.UNKNOWN, Counters.state(unknown));
    assertFalse(Counters.remove(unknown));
    assertTrue(Counters.remove(dead));
    assertEquals(List.of(unknown), Counters.files());
  }

  /** Those that processes leave when they are killed do not fill the memory. */
  @Test
  void oldLeftoversGo() throws IOException {
    for (int i = 0; i < 70; i++) {
      left("4194000-" + (100 + i));
    }
    try (CounterFile file = CounterFile.open("", NOW)) {
      assertTrue(file.path().isPresent());
      assertEquals(65, Counters.files().size());
    }
  }

  /** Files of processes that live change while somebody else looks for the oldest. */
  @Test
  void filesThatChangeMeanwhileDoNotKeepAProcessFromItsOwn() throws Exception {
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < 65; i++) {
      Path unknown = left("4194000-" + (100 + i));
      Files.delete(DeadCounters.lockOf(unknown));
      files.add(unknown);
    }
    AtomicBoolean over = new AtomicBoolean();
    Thread changing =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; !over.get(); i++) {
                    files.get(i * 7 % files.size()).toFile().setLastModified(i * 7919L % 1000_000);
                  }
                });
    try {
      for (int i = 0; i < 200; i++) {
        DeadCounters.keep(folder, 64);
      }
    } finally {
      over.set(true);
      changing.join();
    }
    assertEquals(65, Counters.files().size());
  }

  /** As a process leaves it that is killed: its id is another one's in this copy. */
  private Path left(String name) throws IOException {
    Path copy = folder.resolve(name + CounterLayout.SUFFIX);
    try (CounterFile file = CounterFile.open("gone", NOW)) {
      Files.copy(file.path().orElseThrow(), copy);
    }
    put(copy, CounterLayout.PID_AT, 4_194_000);
    Files.createFile(DeadCounters.lockOf(copy));
    return copy;
  }

  private static void put(Path file, long at, int value) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(0, value), at);
    }
  }

  @Test
  void filesThatAreNoneAreRefused() throws IOException {
    Path file = left("4194000-1");
    put(file, CounterLayout.VERSION_AT, CounterLayout.VERSION + 1);
    String words =
        assertThrows(CountersFormatException.class, () -> Counters.attach(file)).getMessage();
    assertTrue(words.contains("version 2") && words.contains("newer"), words);
    put(file, CounterLayout.VERSION_AT, 0);
    assertThrows(CountersFormatException.class, () -> Counters.attach(file));
    put(file, CounterLayout.VERSION_AT, 1);
    put(file, CounterLayout.VALUES_AT + 4, Integer.MAX_VALUE);
    assertThrows(CountersFormatException.class, () -> Counters.attach(file));
    put(file, CounterLayout.MAGIC_AT, 7);
    assertThrows(CountersFormatException.class, () -> Counters.attach(file));
    assertThrows(IOException.class, () -> Counters.attach(folder));
    assertThrows(IOException.class, () -> Counters.attach(folder.resolve("none")));
    Path link = Files.createSymbolicLink(folder.resolve("9-9.counters"), file);
    assertThrows(IOException.class, () -> Counters.attach(link));
    assertEquals(List.of(file), Counters.files());
  }

  /** A type that this version does not know goes by its label. */
  @Test
  void laterTypesAreListed() throws IOException {
    Path file = left("4194000-1");
    put(file, CounterLayout.METADATA_BEGIN + CounterLayout.TYPE_AT, 0x4a46_ffff);
    try (Counters counters = Counters.attach(file)) {
      Counter first = counters.list().getFirst();
      assertEquals("housekeeping.rounds", first.name());
      assertEquals("", first.unit() + first.meaning());
    }
  }

  /** Whatever is missing, or wrong: an exception that is declared, or fewer counters. */
  @Test
  void shortAndDamagedFilesCrashNothing() throws IOException {
    Path whole = folder.resolve("4194000-1" + CounterLayout.SUFFIX);
    try (CounterFile file = CounterFile.open("fabric", NOW)) {
      file.endpoint("device", 0, 0, List.of("a", "b"))
          .failed(new Failure(FailureCause.FABRIC, 5, "x", "y"));
      Files.copy(file.path().orElseThrow(), whole);
    }
    byte[] bytes = Files.readAllBytes(whole);
    TreeSet<Integer> lengths = new TreeSet<>();
    for (int length = 0; length < 120; length++) {
      lengths.add(length);
      lengths.add(8 * length);
      lengths.add(CounterLayout.METADATA_BEGIN + 13 * length);
      lengths.add(CounterLayout.VALUES_BEGIN + 67 * length);
      lengths.add(CounterLayout.ERRORS_BEGIN + length);
    }
    SplittableRandom random = new SplittableRandom(42);
    random.ints(80, 0, bytes.length).forEach(lengths::add);
    Path damaged = folder.resolve("4194000-2" + CounterLayout.SUFFIX);
    // From the longest on, by cutting.
    Files.write(damaged, bytes);
    int understood = 0;
    try (FileChannel channel = FileChannel.open(damaged, StandardOpenOption.WRITE)) {
      for (int length : lengths.descendingSet()) {
        channel.truncate(length);
        understood += read(damaged);
      }
    }
    assertTrue(understood > 50 && understood < lengths.size(), "" + understood);
    for (int round = 0; round < 150; round++) {
      try (FileChannel channel = FileChannel.open(damaged, StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.wrap(bytes, 0, CounterLayout.METADATA_BEGIN + 40_960), 0);
        channel.truncate(CounterLayout.METADATA_BEGIN + 40_960);
        for (int i = 0; i < 8; i++) {
          int most = i % 2 == 0 ? 160 : CounterLayout.METADATA_BEGIN + 40_000;
          // All of it but the magic number and the version.
          long at = random.nextInt(8, most);
          channel.write(ByteBuffer.allocate(8).putLong(0, random.nextLong()), at);
        }
      }
      understood += read(damaged);
    }
    assertTrue(understood > 60, "" + understood);
  }

  private static int read(Path file) {
    try (Counters counters = Counters.attach(file)) {
      List<Counter> all = counters.list();
      for (int i = 0; i < all.size(); i += 7) {
        counters.value(i);
      }
      counters.errors().forEach(error -> assertTrue(error.count() > 0));
      counters.state();
      assertTrue(counters.heartbeat() != null && counters.started() != null);
      return 1;
    } catch (IOException declared) {
      return 0;
    }
  }

  @Test
  void foldersOfOthersAreRefused() throws IOException {
    Path real = Files.createDirectory(temporary.resolve("real"));
    Files.createSymbolicLink(folder, real);
    assertNoFile();
    assertEquals(List.of(), List.of(real.toFile().list()));
    Files.delete(folder);
    Files.createDirectory(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertNoFile();
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    if (CounterFolder.uid() == 0) {
      Files.setAttribute(folder, "unix:uid", 65_534);
      assertNoFile();
      Files.setAttribute(folder, "unix:uid", 0);
    }
    try (CounterFile file = CounterFile.open("", NOW)) {
      assertTrue(file.path().isPresent());
    }
  }

  private static void assertNoFile() {
    try (CounterFile file = CounterFile.open("", NOW)) {
      assertTrue(file.path().isEmpty());
      EndpointCounters counters = file.endpoint("d", 0, 0, List.of("n"));
      counters.add(CounterType.FLUSHES, 3);
      counters.failed(new Failure(FailureCause.FABRIC, 0, "", ""));
      assertEquals(3, counters.all().get(CounterType.FLUSHES));
    }
  }

  @Test
  void offAndWordsThatAreNoFolder() throws IOException {
    System.setProperty(CounterFolder.PROPERTY, CounterFolder.OFF);
    assertTrue(Counters.folder().isEmpty());
    assertEquals(List.of(), Counters.files());
    assertNoFile();
    System.setProperty(CounterFolder.PROPERTY, "some/folder");
    assertThrows(IOException.class, Counters::folder);
    assertNoFile();
  }

  @Test
  void moreThanThereIsRoomForIsUnshared() throws IOException {
    try (CounterFile file = CounterFile.open("", NOW)) {
      for (int endpoint = 0; endpoint < 120; endpoint++) {
        EndpointCounters counters = file.endpoint("d", 0, endpoint, List.of("n"));
        counters.add(CounterType.FLUSHES, 1);
        counters.rails().getFirst().took(true, true, 1);
        assertEquals(1, counters.all().get(CounterType.FLUSHES));
      }
      try (Counters counters = Counters.attach(file.path().orElseThrow())) {
        int count = counters.list().size();
        assertTrue(count > 4000 && count <= CounterLayout.MOST_COUNTERS, "" + count);
      }
      for (int i = 0; i < 26 * 26 * 2; i++) {
        String where = "" + (char) ('a' + i % 26) + (char) ('a' + i / 26 % 26);
        file.errors().add(new Failure(FailureCause.FABRIC, 0, where, where.repeat(100)));
      }
      try (Counters counters = Counters.attach(file.path().orElseThrow())) {
        assertTrue(counters.errors().size() > 300, "" + counters.errors().size());
        assertTrue(counters.errors().stream().anyMatch(error -> error.count() == 2));
        assertTrue(value(counters.list(), CounterType.ERRORS_UNRECORDED, -1) > 0);
      }
    }
  }

  /** Shared memory that is full costs the counters, and not the process. */
  @Test
  void aFullFileSystemCostsNothingElse() throws IOException, InterruptedException {
    Files.createDirectory(folder);
    assumeTrue(
        CounterFolder.uid() == 0
            && new ProcessBuilder(
                        "mount",
                        "-t",
                        "tmpfs",
                        "-o",
                        "size=16k,mode=700",
                        "tmpfs",
                        folder.toString())
                    .redirectErrorStream(true)
                    .start()
                    .waitFor()
                == 0,
        "mounting a small file system needs root");
    try (CounterFile file = CounterFile.open("", NOW)) {
      for (int endpoint = 0; endpoint < 8; endpoint++) {
        EndpointCounters counters = file.endpoint("d", 0, endpoint, List.of("n"));
        counters.failed(new Failure(FailureCause.FABRIC, 0, "", "x"));
        assertEquals(1, counters.all().get(CounterType.FAILED_FABRIC));
      }
    } finally {
      new ProcessBuilder("umount", "-l", folder.toString()).start().waitFor();
    }
  }
}
