package org.jofi.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.verify.BytePattern;
import org.jofi.cli.verify.DeliveryCheck;
import org.jofi.cli.verify.DeliveryFault;
import org.jofi.cli.verify.DeliveryFinding;
import org.jofi.cli.verify.TransportLoopback;
import org.jofi.fabric.DeviceMemory;
import org.jofi.transport.Device;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Checks that bytes arrive in GPU memory, and if they do not, names the fault. */
@Command(
    name = "verify-gpu",
    mixinStandardHelpOptions = true,
    description = {
      "Sends known bytes out of one endpoint and into another's GPU buffer, flushes, reads the"
          + " buffer back, and compares every byte with what was sent and with what was there"
          + " before.",
      "Names the fault: nothing arrived, wrong place, a part, stale until a flush, or success"
          + " reported too early. Uses host memory where there is no GPU, and says so, unless --gpu or --memory"
          + " cuda asks for one."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every byte arrived",
      "1:it did not; the fault is named",
      "2:wrong usage",
      "3:something is missing on this machine"
    })
final class VerifyGpuCommand implements Callable<Integer> {
  private static final long MOST_BYTES = 1L << 30;
  private static final String HOST = "host";

  /** The kind of memory that the target is in. */
  enum Target {
    AUTO,
    CUDA,
    HOST
  }

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = {"-p", "--provider"},
      paramLabel = "NAME",
      defaultValue = "",
      description =
          "libfabric's provider, such as efa, cxi or tcp; without it, the best there is. On"
              + " libfabric 1, tcp is 'tcp;ofi_rxm'; what jofi conform calls tcp is net there.")
  private String provider;

  @Option(
      names = "--bytes",
      paramLabel = "SIZE",
      defaultValue = "1M",
      description = "Length of a message, 1 to 1G. Default: ${DEFAULT-VALUE}.")
  private String size;

  @Option(
      names = "--rails",
      paramLabel = "R",
      defaultValue = "8",
      description = "Most NICs to use at once, 1 to 8. Default: ${DEFAULT-VALUE}.")
  private int rails;

  @Option(
      names = "--memory",
      paramLabel = "KIND",
      defaultValue = "AUTO",
      description = "The memory to send into: auto, cuda or host. Default: ${DEFAULT-VALUE}.")
  private Target memory;

  @Option(
      names = "--gpu",
      paramLabel = "G",
      description =
          "Which GPU, from 0; it is then an error if it cannot be used. Default: 0, or host memory.")
  private @Nullable Integer gpu;

  @Option(
      names = "--rounds",
      paramLabel = "K",
      defaultValue = "3",
      description = "Messages, each with bytes of its own. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--reallocate",
      description =
          "Frees the target after each message and allocates it anew, mostly where it was, without"
              + " telling the transport: what it registered before must not be used again.")
  private boolean reallocate;

  @Option(
      names = "--require-gpu-direct",
      description =
          "Fails where the NICs do not take GPU memory, rather than go through host memory. Asks"
              + " providers that work in software for it, too.")
  private boolean requireGpuDirect;

  @Option(names = "--json", description = "Prints one JSON object in place of text.")
  private boolean json;

  private long bytes;

  /** The result of one run. */
  private record Outcome(
      String path,
      String target,
      String note,
      List<DeliveryFinding> findings,
      int sameAddress,
      CacheLoad cache) {
    boolean arrived() {
      return findings.stream().allMatch(DeliveryFinding::arrived);
    }
  }

  @Override
  public Integer call() {
    TransportOptions options = options();
    try (Transport transport = Transport.open(options)) {
      Outcome outcome = verify(transport.devices().getFirst());
      PrintWriter out = spec.commandLine().getOut();
      if (json) {
        out.println(Json.line(fields(outcome)));
      } else {
        print(out, outcome);
      }
      out.flush();
      return outcome.arrived() ? ExitCode.OK : ExitCode.FAILED;
    } catch (TransportException e) {
      PrintWriter err = spec.commandLine().getErr();
      err.println("jofi: " + e.getMessage());
      err.flush();
      return switch (e.failure().cause()) {
        case UNAVAILABLE -> ExitCode.ENVIRONMENT;
        default -> ExitCode.FAILED;
      };
    }
  }

  private TransportOptions options() {
    try {
      if (provider.startsWith(FabricChoice.SIMULATED)) {
        throw new IllegalArgumentException(
            "%s is a profile of the simulated fabric, which this command does not use; allreduce, perf and conform do, and jofi info --devices -p %s"
                .formatted(provider, provider));
      }
      bytes = ByteSizes.parse(size);
      if (bytes < 1 || bytes > MOST_BYTES) {
        throw new IllegalArgumentException("--bytes must be 1 to 1G, is " + size);
      }
      if (rounds < 1 || rounds > 1000) {
        throw new IllegalArgumentException("--rounds must be 1 to 1000, is " + rounds);
      }
      if (rails < 1 || rails > TransportOptions.MAX_RAILS) {
        throw new IllegalArgumentException("--rails must be 1 to 8, is " + rails);
      }
      if (gpu != null && gpu < 0) {
        throw new IllegalArgumentException("--gpu must be 0 or more, is " + gpu);
      }
      if (gpu != null && memory == Target.HOST) {
        throw new IllegalArgumentException("--gpu chooses a GPU, and --memory host uses none");
      }
      if (requireGpuDirect && memory == Target.HOST) {
        throw new IllegalArgumentException(
            "--require-gpu-direct is about GPU memory, and --memory host uses none");
      }
      return TransportOptions.builder()
          .provider(provider)
          .maxRails(rails)
          .requireGpuDirect(requireGpuDirect)
          .build();
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private Outcome verify(Device device) {
    if (memory == Target.HOST) {
      return verify(device, null, "host memory, as asked for");
    }
    Gpus gpus = Gpus.ofThisMachine();
    int chosen = gpu == null ? 0 : gpu;
    String note = gpus.obstacle(chosen, device);
    if (!note.isEmpty()) {
      if (memory == Target.CUDA || gpu != null || requireGpuDirect) {
        Gpus.require(note);
      }
      return verify(device, null, "host memory, since " + note);
    }
    try (DeviceMemory opened = gpus.open(chosen)) {
      return verify(device, opened, "");
    }
  }

  private Outcome verify(Device device, @Nullable DeviceMemory opened, String note) {
    List<DeliveryFinding> findings = new ArrayList<>();
    int sameAddress = 0;
    try (TransportLoopback loopback = TransportLoopback.open(device, opened, bytes)) {
      DeliveryCheck check = new DeliveryCheck(loopback);
      for (int round = 0; round < rounds; round++) {
        if (reallocate && round > 0 && loopback.reallocateTarget()) {
          sameAddress++;
        }
        DeliveryFinding finding = check.run(new BytePattern(round + 1L));
        findings.add(finding);
        if (finding.fault() == DeliveryFault.REPORTED) {
          // The communicator cannot be used after a failure.
          break;
        }
      }
      return new Outcome(
          loopback.describe(),
          opened == null ? HOST : opened.toString(),
          note.isEmpty() ? loopback.targetPath() : note,
          findings,
          sameAddress,
          new CacheLoad(device.cacheStatistics()));
    }
  }

  /** How often the target was: before each message but the first. */
  private int reallocated(Outcome outcome) {
    return reallocate ? outcome.findings().size() - 1 : 0;
  }

  private void print(PrintWriter out, Outcome outcome) {
    out.println(outcome.path());
    out.println("  " + outcome.note());
    for (int round = 0; round < outcome.findings().size(); round++) {
      DeliveryFinding finding = outcome.findings().get(round);
      out.printf(
          "message %d, %d bytes: %s: %s%n",
          round + 1, bytes, finding.fault().words(), finding.detail());
    }
    if (reallocate) {
      out.printf(
          "the target was freed and allocated anew %d times, %d of them at the same address; %s%n",
          reallocated(outcome), outcome.sameAddress(), outcome.cache());
    }
    outcome.findings().stream()
        .map(DeliveryFinding::fault)
        .filter(fault -> !fault.advice().isEmpty())
        .distinct()
        .forEach(fault -> out.println("what to do: " + fault.advice()));
    if (!outcome.arrived()) {
      out.println("FAILED: the bytes did not arrive");
    } else if (outcome.target().equals(HOST)) {
      out.println("every byte arrived in host memory; no GPU was tried");
    } else {
      out.println("every byte arrived");
    }
  }

  private Map<String, Object> fields(Outcome outcome) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("arrived", outcome.arrived());
    fields.put("path", outcome.path());
    fields.put("target", outcome.target());
    fields.put("note", outcome.note());
    fields.put("bytes", bytes);
    fields.put("reallocated", reallocated(outcome));
    fields.put("sameAddress", outcome.sameAddress());
    fields.put("registrationCache", outcome.cache().fields());
    List<Map<String, Object>> messages = new ArrayList<>();
    for (DeliveryFinding finding : outcome.findings()) {
      Map<String, Object> message = new LinkedHashMap<>();
      message.put("fault", finding.fault().option().toLowerCase(Locale.ROOT));
      message.put("words", finding.fault().words());
      message.put("arrived", finding.arrived());
      message.put("detail", finding.detail());
      message.put("advice", finding.fault().advice());
      messages.add(message);
    }
    fields.put("messages", messages);
    return fields;
  }
}
