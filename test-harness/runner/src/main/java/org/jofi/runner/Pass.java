package org.jofi.runner;

import java.nio.file.Path;
import java.util.List;

/**
 * The tests of a module on one libfabric, each class of which runs in some process of this pass.
 *
 * @param module the module's folder, from the project's
 * @param library what distinguishes this pass from the module's other one: {@code libfabric-2.1},
 *     or nothing
 * @param folder where its processes run
 * @param java the JVM's program
 * @param jvmOptions its options, without the class path
 * @param jars the class path's jars: the module's own, and those it needs
 * @param tests the folder of the module's tests, behind the jars
 * @param training what a start cache is made from for the JVMs that its tests start: a main class
 *     and its arguments; nothing: there is none
 * @param parameters JUnit's configuration parameters
 * @param included tags of which a test must have one; none: every test
 * @param excluded tags of which a test must have none
 * @param classes the classes with tests
 */
record Pass(
    String module,
    String library,
    Path folder,
    Path java,
    List<String> jvmOptions,
    List<Path> jars,
    Path tests,
    List<String> training,
    List<String> parameters,
    List<String> included,
    List<String> excluded,
    List<TestClass> classes) {

  /** The same with other options of its JVM. */
  Pass with(List<String> options) {
    return new Pass(
        module,
        library,
        folder,
        java,
        options,
        jars,
        tests,
        training,
        parameters,
        included,
        excluded,
        classes);
  }

  /** Under which it is reported, and has its budget and its log. */
  String name() {
    return library.isEmpty() ? module : module + " (" + library + ")";
  }

  /** Its name in files: {@code MODULE} or {@code MODULE:LIBRARY}. */
  String key() {
    return library.isEmpty() ? module : module + ":" + library;
  }

  /** Its log's file name. */
  String log() {
    return module.replace('/', '-') + (library.isEmpty() ? "" : "-" + library) + ".log";
  }
}
