package org.jofi.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jofi.doctor.machine.MachineFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The copy of this machine is as well or ill as the machine. */
@Timeout(600)
class RecordScriptTest {
  /**
   * How often a machine is recorded that others change meanwhile: their interfaces, their files.
   */
  private static final int MOST_TIMES = 10;

  private static Diagnosis examine(Path root) throws IOException {
    return Doctor.examine(new MachineFiles(root), Optional.empty());
  }

  private static List<String> verdicts(Diagnosis diagnosis) {
    return diagnosis.findings().stream()
        // Which processes lived when it was recorded is not in the copy.
        .filter(finding -> !finding.check().equals("shm-left"))
        .map(finding -> finding.title() + " " + finding.verdict())
        .toList();
  }

  private static boolean isAlike(Diagnosis one, Diagnosis other) {
    return verdicts(one).equals(verdicts(other))
        && one.matrix().rows().equals(other.matrix().rows())
        && one.machine().pci().devices().size() == other.machine().pci().devices().size();
  }

  @Test
  void saysWhatItIsFor(@TempDir Path folder) throws Exception {
    for (String[] command :
        new String[][] {{"0", "--help"}, {"0", "-h"}, {"2"}, {"2", "--nosuch"}, {"2", ""}}) {
      List<String> arguments = new ArrayList<>(List.of("bash", "record"));
      arguments.addAll(List.of(command).subList(1, command.length));
      Path said = folder.resolve("said");
      Process record =
          new ProcessBuilder(arguments)
              .redirectErrorStream(true)
              .redirectOutput(said.toFile())
              .start();
      assertTrue(record.waitFor(120, TimeUnit.SECONDS), "record hangs");
      assertEquals(Integer.parseInt(command[0]), record.exitValue());
      assertTrue(Files.readString(said).startsWith("usage: record FOLDER\n"));
    }
  }

  @Test
  void aRecordedMachineIsDiagnosedAlike(@TempDir Path folder) throws Exception {
    Path copy;
    Diagnosis before;
    Diagnosis live = examine(Path.of("/"));
    int times = 0;
    do {
      assertTrue(times < MOST_TIMES, "this machine does not stay as it is");
      before = live;
      copy = folder.resolve("machine" + times++);
      Process record = new ProcessBuilder("bash", "record", copy.toString()).inheritIO().start();
      assertTrue(record.waitFor(120, TimeUnit.SECONDS), "record hangs");
      assertEquals(0, record.exitValue());
      live = examine(Path.of("/"));
    } while (!isAlike(before, live));
    Diagnosis recorded = examine(copy);
    assertEquals(verdicts(live), verdicts(recorded));
    assertEquals(live.matrix().rows(), recorded.matrix().rows());
    assertEquals(live.machine().kernel(), recorded.machine().kernel());
    assertEquals(live.machine().pci().devices().size(), recorded.machine().pci().devices().size());
  }
}
