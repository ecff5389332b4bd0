package org.jofi.cli;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jofi.doctor.ByteSize;
import org.jofi.doctor.Diagnosis;
import org.jofi.doctor.Distance;
import org.jofi.doctor.Finding;
import org.jofi.doctor.TopologyMatrix;
import org.jofi.doctor.Verdict;
import org.jofi.doctor.machine.Gpu;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.NetInterface;
import org.jofi.doctor.machine.Nic;
import org.jofi.doctor.machine.PciDevice;
import org.jofi.doctor.machine.RdmaPort;

/** Prints a diagnosis as text or as JSON. */
final class DoctorReport {
  private final Diagnosis diagnosis;
  private final Machine machine;
  private final TopologyMatrix matrix;

  DoctorReport(Diagnosis diagnosis) {
    this.diagnosis = diagnosis;
    this.machine = diagnosis.machine();
    this.matrix = diagnosis.matrix();
  }

  void print(PrintWriter out) {
    if (!machine.nics().isEmpty()) {
      printNics(out);
    }
    if (!machine.gpus().isEmpty()) {
      printGpus(out);
    }
    if (!matrix.empty()) {
      printMatrix(out);
    }
    for (Finding finding : diagnosis.findings()) {
      out.println(line(finding));
    }
    out.printf(
        "%n%s: %s%n",
        machine.files().live() ? "this machine" : machine.files().root(),
        List.of(Verdict.values()).stream()
            .map(verdict -> diagnosis.count(verdict) + " " + verdict)
            .collect(Collectors.joining(", ")));
  }

  /** One finding as text: verdict, subject and summary, what was read, and the remedy. */
  static String line(Finding finding) {
    StringBuilder line = new StringBuilder();
    line.append(finding.verdict()).append("  ").append(finding.title());
    line.append(": ").append(finding.summary());
    if (!finding.read().isEmpty()) {
      line.append(" [").append(String.join(", ", finding.read())).append(']');
    }
    if (!finding.remedy().isEmpty()) {
      line.append(" => ").append(finding.remedy());
    }
    return line.toString();
  }

  private void printNics(PrintWriter out) {
    TextTable table =
        new TextTable(
            "NIC", "DRIVER", "FIRMWARE", "PCI", "NETDEV", "MAC", "LINK", "SPEED", "NUMA", "RDMA");
    for (Nic nic : machine.nics()) {
      table.row(
          nic.name(),
          dash(nic.driver()),
          dash(nic.firmware()),
          nic.pci().map(PciDevice::address).orElse("-"),
          dash(joined(nic, NetInterface::name)),
          dash(joined(nic, NetInterface::mac)),
          nic.up().map(up -> up ? "up" : "down").orElse("-"),
          dash(nic.speed()),
          nic.pci().map(DoctorReport::numa).orElse("-"),
          nic.rdma() ? "yes" : "no");
    }
    table.print(out);
    out.println();
  }

  private void printGpus(PrintWriter out) {
    TextTable table =
        new TextTable("GPU", "MODEL", "DRIVER", "PCI", "BAR1", "GPUDIRECT", "DMA-BUF", "NUMA");
    for (Gpu gpu : machine.gpus()) {
      table.row(
          gpu.name(),
          gpu.title(),
          dash(gpu.pci().driver()),
          gpu.pci().address(),
          ByteSize.text(gpu.bar1Bytes()),
          gpuDirect(gpu),
          dmaBuf(),
          numa(gpu.pci()));
    }
    table.print(out);
    out.println(
        "GPUDIRECT is what the model's name tells, DMA-BUF what driver and kernel allow; only CUDA"
            + " knows for sure: ./jofi verify-gpu");
    out.println();
  }

  private void printMatrix(PrintWriter out) {
    TextTable table = new TextTable(matrix.header().toArray(String[]::new));
    matrix.rows().forEach(row -> table.row(row.toArray(String[]::new)));
    table.print(out);
    out.println();
    for (Distance distance : matrix.occurring()) {
      out.printf(
          "  %-4s = %s%s%n",
          distance.symbol(),
          distance.meaning(),
          distance == Distance.SELF ? "" : "; for GPUDirect " + distance.quality());
    }
    matrix.nicNames().forEach((column, name) -> out.printf("  %s = %s%n", column, name));
    if (machine.gpus().size() > 1) {
      out.println("  Between GPUs this is PCIe: sysfs does not tell of NVLinks.");
    }
    out.println();
  }

  String json() {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("root", machine.files().root().toString());
    document.put("live", machine.files().live());
    document.put("kernel", machine.kernel().map(Object::toString).orElse(null));
    document.put("nvidiaDriver", machine.nvidia().map(Object::toString).orElse(null));
    document.put("nics", machine.nics().stream().map(DoctorReport::fields).toList());
    document.put("gpus", machine.gpus().stream().map(this::fields).toList());
    document.put("topology", topology());
    document.put("checks", diagnosis.findings().stream().map(DoctorReport::fields).toList());
    document.put("failed", diagnosis.count(Verdict.FAIL));
    document.put("warned", diagnosis.count(Verdict.WARN));
    return Json.pretty(document);
  }

  private Map<String, Object> topology() {
    Map<String, Object> topology = new LinkedHashMap<>();
    topology.put("nics", matrix.nicNames());
    topology.put("header", matrix.header());
    topology.put("rows", matrix.rows());
    return topology;
  }

  private static Map<String, Object> fields(Nic nic) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", nic.name());
    fields.put("rdma", nic.rdma());
    fields.put("driver", nic.driver());
    fields.put("firmware", nic.firmware());
    fields.put("pciAddress", nic.pci().map(PciDevice::address).orElse(null));
    fields.put("numaNode", nic.pci().map(PciDevice::numaNode).orElse(-1));
    fields.put("linkUp", nic.up().orElse(null));
    fields.put("speed", nic.speed());
    fields.put("interfaces", nic.interfaces().stream().map(DoctorReport::fields).toList());
    fields.put("ports", nic.ports().stream().map(DoctorReport::fields).toList());
    return fields;
  }

  private static Map<String, Object> fields(NetInterface net) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", net.name());
    fields.put("mac", net.mac());
    fields.put("state", net.state());
    fields.put("megabitsPerSecond", net.megabitsPerSecond());
    return fields;
  }

  private static Map<String, Object> fields(RdmaPort port) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("number", port.number());
    fields.put("state", port.state());
    fields.put("rate", port.rate());
    fields.put("layer", port.layer());
    return fields;
  }

  private Map<String, Object> fields(Gpu gpu) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", gpu.name());
    fields.put("model", gpu.title());
    fields.put("driver", gpu.pci().driver());
    fields.put("pciAddress", gpu.pci().address());
    fields.put("bar1Bytes", gpu.bar1Bytes());
    fields.put("gpuDirect", gpuDirect(gpu));
    fields.put("dmaBuf", dmaBuf());
    fields.put("numaNode", gpu.pci().numaNode());
    return fields;
  }

  private static Map<String, Object> fields(Finding finding) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("check", finding.check());
    fields.put("subject", finding.subject());
    fields.put("verdict", finding.verdict().toString());
    fields.put("summary", finding.summary());
    fields.put("read", finding.read());
    fields.put("remedy", finding.remedy());
    return fields;
  }

  private static String gpuDirect(Gpu gpu) {
    return gpu.model().isEmpty() ? "unknown" : gpu.withoutGpuDirect() ? "no" : "yes";
  }

  private String dmaBuf() {
    return machine.nvidia().isEmpty() || machine.kernel().isEmpty()
        ? "unknown"
        : machine.dmaBufPossible() ? "yes" : "no";
  }

  private static String joined(Nic nic, Function<NetInterface, String> part) {
    return nic.interfaces().stream()
        .map(part)
        .filter(text -> !text.isEmpty())
        .collect(Collectors.joining(" "));
  }

  private static String numa(PciDevice device) {
    return device.numaNode() < 0 ? "-" : String.valueOf(device.numaNode());
  }

  private static String dash(String text) {
    return text.isEmpty() ? "-" : text;
  }
}
