package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostListTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {
        "alone alone",
        "one,two one",
        "gpu[012-014,17],cpu1 gpu012",
        "n[3,5-7] n3",
        "rack[0-1]_blade[0-1] rack0_blade0",
        "cn[1-2]-ib cn1-ib",
        "a.b-c_1.example.org a.b-c_1.example.org",
        "[7-8] 7",
      })
  void namesTheFirst(String hosts, String first) {
    assertEquals(first, HostList.parse(hosts));
  }

  /** Every other node of a job may be another job's. */
  @Test
  void thousandsOfNodesInOneListAreNoneTooMany() {
    StringBuilder hosts = new StringBuilder("n[0001");
    for (int node = 3; node < 20_000; node += 2) {
      hosts.append(",%04d".formatted(node));
    }
    assertEquals("n0001", HostList.parse(hosts.append(']').toString()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",a",
        "n[1-2",
        "n1-2]",
        "n[]",
        "n[a-b]",
        "n[1-]",
        "n[1--2]",
        "n[1:2]",
        "n[1[2]]",
        "a b",
        "n[1-2]*",
        "n;reboot",
        "$(n)",
        "n\n"
      })
  void refusesWhatItDoesNotUnderstand(String hosts) {
    String words =
        assertThrows(IllegalArgumentException.class, () -> HostList.parse(hosts)).getMessage();
    assertTrue(words.contains("'" + hosts + "'") && words.contains("set MASTER_ADDR"), words);
  }

  @Test
  void asksSlurmWhereItCan() throws Exception {
    assertEquals(
        "b",
        HostList.first(
            "a[1-2]", program("test \"$*\" = 'show hostnames a[1-2]' && printf 'b\\nc\\n'")));
    assertEquals("a1", HostList.first("a[1-2]", program("echo b; exit 1")));
    assertEquals("a1", HostList.first("a[1-2]", program("exit 0")));
    assertEquals("a1", HostList.first("a[1-2]", folder.resolve("missing").toString()));
    assertEquals("-a1", HostList.first("-a[1-2]", program("echo b")));
  }

  private String program(String lines) throws Exception {
    Path file = folder.resolve("scontrol");
    Files.writeString(file, "#!/bin/sh\n" + lines + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    return file.toString();
  }
}
