package org.jofi.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jofi.doctor.machine.MachineFiles;
import org.jofi.doctor.machine.Reading;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Trees that no kernel makes: the doctor neither throws, nor hangs, nor leaves the root. */
@Timeout(240)
class HostileTreeTest {
  private static final String SECRET = "do-not-read-this-secret";
  private static final Random RANDOM = new Random(20260101);

  @TempDir private Path folder;

  private MachineTree healthy() throws IOException {
    Files.writeString(folder.resolve(Damage.OUTSIDE), SECRET + "\n");
    return Machines.healthy(folder.resolve("machine"));
  }

  private static Set<String> checks(Diagnosis diagnosis) {
    String all = diagnosis.findings().toString() + diagnosis.machine() + diagnosis.matrix().rows();
    assertFalse(all.contains(SECRET), "left the root");
    assertTrue(
        all.codePoints().noneMatch(point -> Character.isISOControl(point) && point != '\n'),
        "prints control characters");
    return diagnosis.findings().stream().map(Finding::check).collect(Collectors.toSet());
  }

  /** Each kind of damage in every fourth file, and in every file some kinds. */
  @ParameterizedTest
  @EnumSource(Damage.class)
  void oneDamagedFileHarmsNobody(Damage damage) throws IOException {
    damageEach(damage, 4);
  }

  /** Every file of a machine, one after the other. */
  @ParameterizedTest
  @EnumSource(Damage.class)
  @Tag("long")
  void noDamagedFileHarmsAnybody(Damage damage) throws IOException {
    damageEach(damage, 1);
  }

  private void damageEach(Damage damage, int step) throws IOException {
    MachineTree tree = healthy();
    Set<String> expected = checks(tree.examine());
    List<String> paths = tree.files();
    for (int i = List.of(Damage.values()).indexOf(damage) % step; i < paths.size(); i += step) {
      String path = paths.get(i);
      Path file = tree.at(path);
      Path link = Files.isSymbolicLink(file) ? Files.readSymbolicLink(file) : null;
      byte[] content = link == null ? Files.readAllBytes(file) : new byte[0];
      damage.strike(tree, path, RANDOM);
      assertEquals(expected, checks(tree.examine()), path);
      tree.remove(path);
      if (link == null) {
        Files.write(file, content);
      } else {
        Files.createSymbolicLink(file, link);
      }
    }
    assertEquals(expected, checks(tree.examine()));
  }

  @Test
  void manyDamagedFilesHarmNobody() throws IOException {
    for (int round = 0; round < 10; round++) {
      MachineTree tree = healthy();
      Set<String> expected = checks(tree.examine());
      for (String path : tree.files()) {
        if (RANDOM.nextInt(3) == 0 && Files.exists(tree.at(path).getParent())) {
          Damage[] damages = Damage.values();
          damages[RANDOM.nextInt(damages.length)].strike(tree, path, RANDOM);
        }
      }
      assertEquals(expected, checks(tree.examine()));
      tree.remove("/");
    }
  }

  /** Nobody writes into it: who opens it waits for ever. */
  @Test
  void aPipeIsNotOpened() throws IOException, InterruptedException {
    MachineTree tree = healthy();
    Path pipe = folder.resolve("pipe");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/mkfifo")), "needs mkfifo of coreutils");
    Process mkfifo = new ProcessBuilder("/usr/bin/mkfifo", pipe.toString()).start();
    assertTrue(mkfifo.waitFor(60, TimeUnit.SECONDS));
    for (String path : tree.files()) {
      if (!Files.isSymbolicLink(tree.at(path))) {
        tree.remove(path);
        Files.move(pipe, tree.at(path));
        checks(tree.examine());
        Files.move(tree.at(path), pipe);
      }
    }
  }

  @Test
  void anEmptyRootGetsALinePerCheck() throws IOException {
    Set<String> expected = checks(healthy().examine());
    Diagnosis nothing = new MachineTree(Files.createDirectory(folder.resolve("empty"))).examine();
    assertEquals(expected, checks(nothing));
    assertFalse(nothing.failed(), nothing.findings()::toString);
  }

  @Test
  void aCrowdOfDevicesIsCutOff() throws IOException {
    MachineTree tree = healthy();
    Path devices = tree.at("/sys/bus/pci/devices");
    IntStream.range(0, 6000)
        .forEach(
            number ->
                tree.folder(
                    "/sys/bus/pci/devices/%04x:%02x:00.0".formatted(number / 256, number % 256)));
    assertTrue(Files.isDirectory(devices));
    checks(tree.examine());
    assertTrue(tree.examine().machine().pci().devices().size() <= 4096);
  }

  @Test
  void aRootThatIsNoFolderIsRefused() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    assertThrows(IOException.class, () -> new MachineFiles(file));
    assertThrows(IOException.class, () -> new MachineFiles(folder.resolve("absent")));
  }

  @Test
  void whatCannotBeReadSaysWhy() throws IOException {
    MachineTree tree = healthy();
    MachineFiles files = new MachineFiles(tree.root());
    Reading outside = new MachineFiles(tree.root()).read("/../secret");
    assertEquals(Reading.State.UNREADABLE, outside.state());
    assertTrue(outside.trouble().contains("leads out of"), outside::trouble);
    assertEquals(Reading.State.ABSENT, files.read("/proc/nothing").state());
    assertEquals("/proc/nothing is not there", files.read("/proc/nothing").trouble());
    assertTrue(files.read("/proc").trouble().contains("is no file"));
    Damage.HUGE.strike(tree, "/proc/modules", RANDOM);
    assertTrue(files.read("/proc/modules").trouble().contains("is larger than"));
  }
}
