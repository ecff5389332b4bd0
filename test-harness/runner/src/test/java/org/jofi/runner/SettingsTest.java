package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
  private static final String ROOT =
      """
      <project>
        <artifactId>all</artifactId>
        <version>1</version>
        <properties>
          <seeds>200</seeds>
          <skip>${short.skip}</skip>
          <short.skip>true</short.skip>
        </properties>
        <build><plugins>
          <plugin><artifactId>other</artifactId><argLine>no</argLine></plugin>
          <plugin>
            <artifactId>maven-surefire-plugin</artifactId>
            <configuration>
              <argLine>@{argLine} -ea</argLine>
              <configurationParameters>
                a = ${seeds}
                b=c
              </configurationParameters>
              <systemPropertyVariables><x>${seeds}</x><y>2</y></systemPropertyVariables>
            </configuration>
          </plugin>
        </plugins></build>
        <profiles>
          <profile><id>other</id><properties><seeds>1</seeds></properties></profile>
          <profile><id>all</id><properties><seeds>2000</seeds></properties></profile>
        </profiles>
      </project>
      """;

  @TempDir private Path folder;

  private Pom pom(String text) throws IOException {
    Path file = folder.resolve("pom.xml");
    Files.writeString(file, text);
    return Pom.read(file);
  }

  private Settings settings(String module, boolean full, Map<String, String> given)
      throws IOException {
    Pom root = pom(ROOT);
    return Settings.of(
        root, pom("<project><properties>" + module + "</properties></project>"), full, given);
  }

  @Test
  void theCommandLineComesBeforeTheModuleItBeforeTheProfileAndThisBeforeTheRoot() throws Exception {
    assertEquals("200", settings("", false, Map.of()).get("seeds"));
    assertEquals("2000", settings("", true, Map.of()).get("seeds"));
    assertEquals("7", settings("<seeds>7</seeds>", true, Map.of()).get("seeds"));
    assertEquals("9", settings("<seeds>7</seeds>", true, Map.of("seeds", "9")).get("seeds"));
  }

  @Test
  void whatAPropertyRefersToIsFilledInByTheModulesOwn() throws Exception {
    assertEquals("true", settings("", false, Map.of()).get("skip"));
    assertEquals("false", settings("<short.skip>false</short.skip>", false, Map.of()).get("skip"));
    assertEquals("", settings("", false, Map.of()).get("absent"));
  }

  @Test
  void surefiresConfigurationIsRead() throws Exception {
    Pom root = pom(ROOT);
    Settings settings = settings("<argLine>-Xmx1g</argLine>", false, Map.of());
    assertEquals("-Xmx1g -ea", settings.fill(root.surefire("argLine")));
    assertEquals(
        Map.of("a", "200", "b", "c"), settings.lines(root.surefire("configurationParameters")));
    assertEquals(
        List.of("x", "y"), List.copyOf(root.surefireTexts("systemPropertyVariables").keySet()));
  }
}
