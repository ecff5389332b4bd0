package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The page of environment variables is what the code knows, and the code knows all that it reads.
 */
class VariablesPageTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();
  private static final Path PAGE = ROOT.resolve("docs/VARIABLES.md");
  private static final Pattern NAME = Pattern.compile("JOFI_[A-Z][A-Z_]+");

  @Test
  void thePageHasWhatIsKnown() throws IOException {
    String table =
        Arrays.stream(Variable.values()).map(Variable::row).collect(Collectors.joining("\n"));
    String page = Files.readString(PAGE);
    assertTrue(page.contains(table), () -> PAGE + " is to have these lines:\n" + table);
    assertEquals(
        Variable.values().length, page.lines().filter(line -> line.startsWith("| `JOFI_")).count());
  }

  /** In code, and in the scripts that people type. */
  @Test
  void whatIsReadIsKnown() throws IOException {
    Set<String> read = new TreeSet<>();
    for (Path file : sources()) {
      NAME.matcher(Files.readString(file)).results().forEach(name -> read.add(name.group()));
    }
    assertTrue(read.contains("JOFI_NO_BUILD") && read.contains("JOFI_CUDA"), read::toString);
    read.removeAll(Variable.titles());
    assertEquals(Set.of(), read);
  }

  private static List<Path> sources() throws IOException {
    List<Path> found = new ArrayList<>(List.of(ROOT.resolve("jofi")));
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = folder.getFileName().toString();
            // Others write there meanwhile.
            return name.equals("target") || name.startsWith(".")
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().matches(".*/src/main/.*\\.(java|c|h)")) {
              found.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }
}
