package org.jofi.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jofi.cli.soak.MachineCommand;

/**
 * Slurm's own daemons, started by the test, with two nodes that are both this machine: their names
 * are addresses of it, so that ranks reach them. Nothing of the machine's own Slurm is used.
 */
final class SlurmCluster {
  private static final long BOUND_SECONDS = 60;
  private static final int NODES = 2;

  private final Path folder;
  private final List<Process> daemons = new ArrayList<>();

  /**
   * Starts it, and waits until jobs can run.
   *
   * @param folder an empty one, for all that it writes
   */
  SlurmCluster(Path folder) throws IOException, InterruptedException {
    this.folder = folder;
    // Its daemons talk through files here, and refuse what others may write.
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    boolean started = false;
    try {
      configure();
      startMunge();
      start("slurmctld", "slurmctld", "-D", "-i", "-f", configuration());
      for (int node = 1; node <= NODES; node++) {
        start("slurmd" + node, "slurmd", "-D", "-N", name(node), "-f", configuration());
      }
      await("nodes that take jobs", () -> ask("sinfo -h -o %T:%D").equals("idle:" + NODES));
      started = true;
    } finally {
      if (!started) {
        stopDaemons();
      }
    }
  }

  /** Why there can be none here, or nothing. */
  static String obstacle() {
    if (!"root".equals(System.getProperty("user.name"))) {
      return "only root may run Slurm's daemons";
    }
    for (String program : List.of("munged", "slurmctld", "slurmd", "srun", "salloc")) {
      if (!isHere(program)) {
        return program + " is not here: it comes with Debian's packages slurm-wlm and munge";
      }
    }
    return "";
  }

  /** Whether the machine has a program. */
  static boolean isHere(String program) {
    for (String path : System.getenv("PATH").split(":", -1)) {
      if (Files.isExecutable(Path.of(path, program))) {
        return true;
      }
    }
    return false;
  }

  /** What {@code SLURM_CONF} is for those that use it. */
  String configuration() {
    return folder.resolve("slurm.conf").toString();
  }

  private static String name(int node) {
    return "127.0.0." + node;
  }

  private void configure() throws IOException {
    String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip().split("\\.", 2)[0];
    StringBuilder nodes = new StringBuilder();
    for (int node = 1; node <= NODES; node++) {
      nodes.append(
          "NodeName=%s NodeHostname=%s NodeAddr=%s Port=%d CPUs=4 State=UNKNOWN%n"
              .formatted(name(node), host, name(node), Ports.free()));
    }
    Files.createDirectory(folder.resolve("state"));
    Files.writeString(
        folder.resolve("slurm.conf"),
        """
        ClusterName=jofi
        SlurmctldHost=%s(127.0.0.1)
        SlurmctldPort=%d
        SlurmUser=root
        AuthType=auth/munge
        CredType=cred/munge
        AuthInfo=socket=%s/munge.socket
        StateSaveLocation=%3$s/state
        SlurmdSpoolDir=%3$s/spool.%%n
        SlurmctldPidFile=%3$s/slurmctld.pid
        SlurmdPidFile=%3$s/slurmd.%%n.pid
        ProctrackType=proctrack/linuxproc
        TaskPlugin=task/none
        SelectType=select/cons_tres
        SelectTypeParameters=CR_Core
        MpiDefault=none
        ReturnToService=2
        # As many processors as are asked for, however many there are.
        SlurmdParameters=config_overrides
        # A shell by salloc is a step, which reads commands from a file as well as from a terminal.
        LaunchParameters=use_interactive_step
        InteractiveStepOptions="--interactive --preserve-env $SHELL"
        # Ranks meet at a port by the job's number: others on this machine have other numbers.
        FirstJobId=%d
        %sPartitionName=all Nodes=ALL Default=YES State=UP
        """
            .formatted(
                host, Ports.free(), folder, ProcessHandle.current().pid() % 60_000_000, nodes));
  }

  private void startMunge() throws IOException, InterruptedException {
    byte[] key = new byte[128];
    new SecureRandom().nextBytes(key);
    Path file = folder.resolve("munge.key");
    Files.write(file, key);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    start(
        "munged",
        "munged",
        "--foreground",
        "--force",
        "--key-file=" + file,
        "--socket=" + folder.resolve("munge.socket"),
        "--pid-file=" + folder.resolve("munged.pid"),
        "--seed-file=" + folder.resolve("munged.seed"));
    await("munged", () -> Files.exists(folder.resolve("munge.socket")));
  }

  private void start(String name, String... command) throws IOException {
    daemons.add(
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve(name + ".log").toFile())
            .start());
  }

  private String ask(String command) {
    try {
      return MachineCommand.run("env SLURM_CONF=%s %s".formatted(configuration(), command)).strip();
    } catch (IllegalStateException notYet) {
      return "";
    }
  }

  private void await(String what, BooleanSupplier there) throws IOException, InterruptedException {
    long began = System.nanoTime();
    while (!there.getAsBoolean()) {
      if (daemons.stream().anyMatch(daemon -> !daemon.isAlive())
          || System.nanoTime() - began > TimeUnit.SECONDS.toNanos(BOUND_SECONDS)) {
        throw new AssertionError("no %s: %s".formatted(what, logs()));
      }
      Thread.sleep(50);
    }
  }

  private String logs() throws IOException {
    StringBuilder all = new StringBuilder();
    for (String name : List.of("munged", "slurmctld", "slurmd1", "slurmd2")) {
      Path log = folder.resolve(name + ".log");
      if (Files.exists(log)) {
        all.append("%n%s:%n%s".formatted(name, Files.readString(log)));
      }
    }
    return all.toString();
  }

  private void stopDaemons() throws InterruptedException {
    // A node's daemon before the one that it tells what happened, and that before what both ask.
    for (Process daemon : daemons.reversed()) {
      daemon.destroy();
      if (!daemon.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
        daemon.destroyForcibly();
      }
    }
  }

  /** Ends what still runs in it, and then its daemons. */
  void stop() throws IOException, InterruptedException {
    try {
      ask("scancel --signal=KILL --full --user=root");
      ask("scancel --user=root");
      await("end of jobs", () -> ask("squeue -h").isEmpty());
    } finally {
      stopDaemons();
    }
  }
}
