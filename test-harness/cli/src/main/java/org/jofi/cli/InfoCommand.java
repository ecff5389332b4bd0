package org.jofi.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Lists the NICs, what was negotiated with each, and whether jofi's protocol can run on it. */
@Command(
    name = "info",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the NICs of every provider of reliable datagram endpoints (FI_EP_RDM).",
      "One row for each NIC and provider: how it was negotiated, and whether jofi's RDMA protocol"
          + " can run on it."
    })
final class InfoCommand implements Callable<Integer> {
  @Option(
      names = {"-p", "--provider"},
      paramLabel = "NAME",
      description =
          "Only that provider of libfabric, by any name it lists: tcp, 'tcp;ofi_rxm', cxi, or an"
              + " external one from FI_PROVIDER_PATH. On libfabric 1, tcp is 'tcp;ofi_rxm'; what"
              + " jofi conform calls tcp is net there.")
  private @Nullable String provider;

  @Option(
      names = "--fabric-provider",
      paramLabel = "NAME",
      defaultValue = "libfabric",
      description = "The source of NICs (default: ${DEFAULT-VALUE}).")
  private String source;

  @Option(
      names = "--devices",
      description = {
        "Lists jofi's devices instead: their rails, how memory and immediate data reach them,"
            + " their limits, and why their NICs are one device.",
        "With --provider sim:efa, sim:cxi, sim:cxi-client-key or sim:tcp, of the simulated fabric."
      })
  private boolean devices;

  @Option(names = "--json", description = "Prints JSON, all fields of it, in place of the table.")
  private boolean json;

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Override
  public Integer call() {
    return devices ? listDevices() : listNics();
  }

  private int listDevices() {
    FabricChoice fabric;
    try {
      fabric = FabricChoice.of(provider);
    } catch (IllegalArgumentException unknown) {
      throw new CommandLine.ParameterException(spec.commandLine(), unknown.getMessage(), unknown);
    }
    PrintWriter out = spec.commandLine().getOut();
    try (Transport transport = fabric.open(TransportOptions.builder())) {
      if (json) {
        out.println(DeviceReport.json(fabric.notice(), transport.devices()));
      } else {
        out.println(fabric.notice());
        out.println();
        DeviceReport.print(out, transport.devices());
      }
    }
    out.flush();
    return ExitCode.OK;
  }

  private int listNics() {
    if (provider != null && provider.startsWith(FabricChoice.SIMULATED)) {
      throw new CommandLine.ParameterException(
          spec.commandLine(),
          "%s is a profile of the simulated fabric, which only --devices shows: jofi info --devices -p %s"
              .formatted(provider, provider));
    }
    FabricProvider fabrics = fabricProvider();
    FabricHints hints = FabricHints.any();
    List<NicReport> nics =
        NicReport.survey(fabrics, provider == null ? hints : hints.withProvider(provider));
    if (nics.isEmpty()) {
      return nothingFound(fabrics);
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(NicReport.json(fabrics, nics));
    } else {
      out.println(fabrics.version());
      out.println();
      NicReport.table(nics).print(out);
      nics.stream()
          .filter(nic -> !nic.lacks().isEmpty())
          .forEach(
              nic ->
                  out.printf(
                      "%n%s: jofi's RDMA protocol cannot run: %s",
                      nic.info(), String.join("; ", nic.lacks())));
      if (nics.stream().anyMatch(nic -> !nic.lacks().isEmpty())) {
        out.println();
      }
    }
    out.flush();
    return ExitCode.OK;
  }

  private FabricProvider fabricProvider() {
    try {
      return FabricProvider.named(source);
    } catch (IllegalArgumentException unknown) {
      throw new CommandLine.ParameterException(spec.commandLine(), unknown.getMessage(), unknown);
    }
  }

  private int nothingFound(FabricProvider fabrics) {
    PrintWriter err = spec.commandLine().getErr();
    List<String> known =
        NicReport.survey(fabrics, FabricHints.any()).stream()
            .map(nic -> nic.info().provider())
            .distinct()
            .sorted()
            .toList();
    err.printf(
        "%s offers no reliable datagram endpoint%s.%n",
        fabrics.version(),
        Optional.ofNullable(provider).map(name -> " of provider '" + name + "'").orElse(""));
    if (!known.isEmpty()) {
      err.println("It offers: " + String.join(", ", known));
    }
    String why = fabrics.whyMissing(provider == null ? "" : provider);
    if (!why.isEmpty()) {
      err.println(why);
    }
    err.flush();
    return ExitCode.ENVIRONMENT;
  }
}
