package org.jofi.mr;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A bug planted in one source file: text that stands there once, and what stands there instead. It
 * is compiled in memory and loaded, with all of this module, by a loader of its own.
 *
 * @param bug what it does wrong
 * @param file the source file, of this module
 * @param original what is replaced
 * @param planted by what
 * @param suite the tests that must find it
 */
record Mutant(String bug, String file, String original, String planted, Class<?> suite) {
  private static final Path SOURCES = Path.of("src/main/java/org/jofi/mr");
  private static final String PACKAGE = "org.jofi.mr.";
  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  /** Opened once: what it knows of the JDK and of the class path is the same for each mutant. */
  private static final JavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);

  /** The suite, over the planted bug. */
  Class<?> load() throws ClassNotFoundException {
    return new Loader(compile()).loadClass(suite.getName());
  }

  /** The file as it is. */
  String sound() {
    try {
      return Files.readString(SOURCES.resolve(path()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The file with the bug. */
  String broken() {
    String text = sound();
    int at = text.indexOf(original);
    if (at < 0 || text.indexOf(original, at + 1) >= 0) {
      throw new AssertionError(
          "'%s' must stand in %s exactly once, to plant: %s".formatted(original, file, bug));
    }
    return text.replace(original, planted);
  }

  /** Where the file is, below the folder of the module's root package. */
  private String path() {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return SOURCES
          .relativize(files.filter(path -> path.endsWith(file)).findFirst().orElseThrow())
          .toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Map<String, byte[]> compile() {
    Outputs outputs = new Outputs(FILES);
    StringWriter messages = new StringWriter();
    boolean compiled =
        COMPILER
            .getTask(
                messages,
                outputs,
                null,
                List.of("-proc:none", "-Xlint:none", "-cp", System.getProperty("java.class.path")),
                null,
                List.of(new Source(path(), broken())))
            .call();
    if (!compiled) {
      throw new AssertionError("'%s' does not compile: %s".formatted(bug, messages));
    }
    return outputs.classes();
  }

  @Override
  public String toString() {
    return bug;
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String file, String text) {
      super(URI.create("string:///org/jofi/mr/" + file), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class Outputs extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> classes = new HashMap<>();

    Outputs(JavaFileManager files) {
      super(files);
    }

    Map<String, byte[]> classes() {
      Map<String, byte[]> bytes = new HashMap<>();
      classes.forEach((name, out) -> bytes.put(name, out.toByteArray()));
      return bytes;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String className, JavaFileObject.Kind kind, javax.tools.FileObject by) {
      return new SimpleJavaFileObject(URI.create("bytes:///" + className), kind) {
        @Override
        public OutputStream openOutputStream() {
          ByteArrayOutputStream out = new ByteArrayOutputStream();
          classes.put(className, out);
          return out;
        }
      };
    }
  }

  /** Loads this module itself, planted classes first, and leaves the rest to its parent. */
  private static final class Loader extends ClassLoader {
    private final Map<String, byte[]> planted;

    Loader(Map<String, byte[]> planted) {
      super(Mutant.class.getClassLoader());
      this.planted = planted;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(PACKAGE)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? define(name) : loaded;
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      byte[] bytes = planted.get(name);
      if (bytes == null) {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
          if (in == null) {
            throw new ClassNotFoundException(name);
          }
          bytes = in.readAllBytes();
        } catch (IOException e) {
          throw new ClassNotFoundException(name, e);
        }
      }
      return defineClass(name, bytes, 0, bytes.length);
    }
  }
}
