package org.jofi.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jofi.doctor.Diagnosis;
import org.jofi.doctor.Doctor;
import org.jofi.doctor.LiveProcess;
import org.jofi.doctor.machine.MachineFiles;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Finds what keeps a machine from RDMA between NICs and GPUs. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Says what of this machine stands in the way of RDMA between NICs and GPUs, and what to do.",
      "It lists NICs and GPUs, draws how far they are from each other, and prints a line for each"
          + " check: pass, warn, fail, or skip where there is nothing to check; what was found; in"
          + " brackets what was read; and after => what to type.",
      "It reads /sys, /proc and what libfabric tells, and changes nothing. As root it sees more of"
          + " PCIe bridges."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:nothing failed",
      "1:a check failed",
      "2:wrong usage, such as a root that is no folder"
    })
final class DoctorCommand implements Callable<Integer> {
  @Option(names = "--json", description = "Prints JSON in place of text.")
  private boolean json;

  @Option(
      names = "--root",
      paramLabel = "DIR",
      defaultValue = "/",
      description =
          "A folder with another machine's /sys and /proc in it. What belongs to the process, such"
              + " as libfabric, is not read then (default: ${DEFAULT-VALUE}).")
  private Path root;

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Override
  public Integer call() {
    MachineFiles files = files();
    Diagnosis diagnosis =
        Doctor.examine(
            files, files.live() ? Optional.of(LiveProcess.current("libfabric")) : Optional.empty());
    DoctorReport report = new DoctorReport(diagnosis);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(report.json());
    } else {
      report.print(out);
    }
    out.flush();
    return diagnosis.failed() ? ExitCode.FAILED : ExitCode.OK;
  }

  private MachineFiles files() {
    if (root.toString().isEmpty()) {
      throw new CommandLine.ParameterException(spec.commandLine(), "--root takes a folder, not ''");
    }
    try {
      MachineFiles files = new MachineFiles(root);
      if (!files.exists("/sys") && !files.exists("/proc")) {
        throw new CommandLine.ParameterException(
            spec.commandLine(), "no sys and proc in %s; is this a recording?".formatted(root));
      }
      return files;
    } catch (IOException unusable) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), "--root " + root + " is no folder that can be read", unusable);
    }
  }
}
