package org.jofi.cli;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jofi.fabric.PciAddress;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceLimits;
import org.jofi.transport.DeviceProperties;

/** Reports the devices of a transport: how jofi groups the NICs, and why. */
final class DeviceReport {
  private DeviceReport() {}

  static void print(PrintWriter out, List<Device> devices) {
    for (Device device : devices) {
      DeviceProperties properties = device.properties();
      out.printf(
          "device %d: %s, %s%n", properties.index(), properties.name(), properties.provider());
      TextTable table = new TextTable("  RAIL", "NIC", "FABRIC", "PCI", "SPEED");
      for (int rail = 0; rail < properties.rails().size(); rail++) {
        DeviceProperties.Rail nic = properties.rails().get(rail);
        table.row(
            "  " + rail,
            nic.nic(),
            nic.fabric(),
            nic.pci().map(PciAddress::toString).orElse("-"),
            speed(nic.speedMegabitsPerSecond()));
      }
      table.print(out);
      facts(properties).forEach((name, value) -> out.printf("  %-14s %s%n", name, value));
      out.println("  grouped because");
      properties.groupingReasons().forEach(reason -> out.println("    " + reason));
      out.println();
    }
  }

  private static Map<String, String> facts(DeviceProperties properties) {
    DeviceLimits limits = properties.limits();
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("speed", speed(properties.speedMegabitsPerSecond()));
    facts.put("control rails", Integer.toString(properties.controlRails()));
    facts.put("MR scope", NicReport.word(properties.registrationScope()));
    facts.put(
        "memory",
        properties.memory().stream()
            .map(path -> "%s (%s)".formatted(NicReport.word(path.kind()), path.path()))
            .collect(Collectors.joining(", ")));
    facts.put("immediate data", properties.immediateDelivery());
    facts.put(
        "limits",
        ("messages of %s, eager ones of %s, inline writes of %s, %d communicators per"
                    + " endpoint; of each %d sends"
                    + " and %d receives in")
                .formatted(
                    ByteSizes.format(limits.maxMessageBytes()),
                    ByteSizes.format(limits.eagerBytes()),
                    ByteSizes.format(limits.inlineWriteBytes()),
                    limits.communicators(),
                    limits.sendsInFlight(),
                    limits.receivesInFlight())
            + " flight, %d receives in a group".formatted(limits.groupedReceives()));
    properties.pciPath().ifPresent(path -> facts.put("PCI path", path));
    return facts;
  }

  static String json(String library, List<Device> devices) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("library", library);
    document.put("devices", devices.stream().map(device -> fields(device.properties())).toList());
    return Json.pretty(document);
  }

  private static Map<String, Object> fields(DeviceProperties properties) {
    DeviceLimits limits = properties.limits();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("index", properties.index());
    fields.put("name", properties.name());
    fields.put("provider", properties.provider());
    fields.put("pciPath", properties.pciPath().orElse(null));
    fields.put("speedMegabitsPerSecond", properties.speedMegabitsPerSecond());
    fields.put("rails", properties.rails().stream().map(DeviceReport::fields).toList());
    fields.put("controlRails", properties.controlRails());
    fields.put("mrScope", NicReport.word(properties.registrationScope()));
    fields.put("memory", properties.memory().stream().map(DeviceReport::fields).toList());
    fields.put("immediateDelivery", properties.immediateDelivery());
    fields.put("maxMessageBytes", limits.maxMessageBytes());
    fields.put("inlineWriteBytes", limits.inlineWriteBytes());
    fields.put("eagerBytes", limits.eagerBytes());
    fields.put("communicators", limits.communicators());
    fields.put("sendsInFlight", limits.sendsInFlight());
    fields.put("receivesInFlight", limits.receivesInFlight());
    fields.put("groupedReceives", limits.groupedReceives());
    fields.put("groupingReasons", properties.groupingReasons());
    return fields;
  }

  private static Map<String, Object> fields(DeviceProperties.Rail rail) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("nic", rail.nic());
    fields.put("fabric", rail.fabric());
    fields.put("pciAddress", rail.pci().map(PciAddress::toString).orElse(null));
    fields.put("speedMegabitsPerSecond", rail.speedMegabitsPerSecond());
    return fields;
  }

  private static Map<String, Object> fields(DeviceProperties.MemoryPath memory) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("kind", NicReport.word(memory.kind()));
    fields.put("direct", memory.direct());
    fields.put("path", memory.path());
    return fields;
  }

  private static String speed(long megabitsPerSecond) {
    if (megabitsPerSecond == 0) {
      return "-";
    }
    return megabitsPerSecond % 1000 == 0
        ? megabitsPerSecond / 1000 + " Gbit/s"
        : megabitsPerSecond + " Mbit/s";
  }
}
