package org.jofi.cli.stat;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jofi.counters.CountedError;
import org.jofi.counters.Counter;
import org.jofi.counters.Counters;
import org.jspecify.annotations.Nullable;

/** What counters say, for people and programs. Counters of a device's endpoints are added up. */
public final class StatReport {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT)
          .withZone(ZoneId.systemDefault());
  private static final double NANOS = 1e9;

  private StatReport() {}

  /** Which process it is, and how it is doing. */
  public static String heading(ProcessCounters of, Instant now) {
    double age = Duration.between(of.heartbeat(), now).toMillis() / 1e3;
    String life =
        switch (of.state()) {
          case RUNNING -> String.format(Locale.ROOT, "running, heartbeat %.1f s ago", age);
          case DEAD -> "DEAD since " + time(of.heartbeat());
          case UNKNOWN -> "perhaps dead, heartbeat of " + time(of.heartbeat());
        };
    return "process %d: %s; started %s; jofi %s over %s"
        .formatted(
            of.pid(), life, time(of.started()), printable(of.jofi()), printable(of.fabric()));
  }

  /** A time as people of this place write it. */
  public static String time(Instant when) {
    return TIME.format(when);
  }

  /** A text of another process without what a terminal would obey. */
  public static String printable(String text) {
    return text.replaceAll("\\p{Cntrl}", "?");
  }

  /** Counters of a place, by name. */
  private record Place(Map<String, Long> now, Map<String, Long> before, double seconds) {
    Place(double seconds) {
      this(new LinkedHashMap<>(), new LinkedHashMap<>(), seconds);
    }

    long value(String name) {
      return now.getOrDefault(name, 0L);
    }

    /** A total; each second, if it was read before. */
    String total(String name) {
      return seconds <= 0
          ? Long.toString(value(name))
          : String.format(
              Locale.ROOT, "%.0f/s", (value(name) - before.getOrDefault(name, 0L)) / seconds);
    }

    String bytes(String name) {
      return seconds <= 0
          ? size(value(name))
          : size(Math.round((value(name) - before.getOrDefault(name, 0L)) / seconds)) + "/s";
    }

    String gauge(String name) {
      return Long.toString(value(name));
    }
  }

  private static Map<List<String>, Place> places(
      ProcessCounters now, @Nullable ProcessCounters before, boolean ofRails) {
    double seconds = before == null ? 0 : (now.readNanos() - before.readNanos()) / NANOS;
    Map<List<String>, Place> places = new LinkedHashMap<>();
    for (Counter each : now.counters()) {
      List<String> key = key(each, ofRails);
      if (!key.isEmpty()) {
        places
            .computeIfAbsent(key, _ -> new Place(seconds))
            .now
            .merge(
                each.name(),
                each.value(),
                each.name().equals("rail.state") ? Long::max : Long::sum);
      }
    }
    if (before != null) {
      for (Counter each : before.counters()) {
        Place place = places.get(key(each, ofRails));
        if (place != null) {
          place.before.merge(each.name(), each.value(), Long::sum);
        }
      }
    }
    return places;
  }

  private static List<String> key(Counter of, boolean ofRails) {
    if (of.deviceNumber() < 0 || (of.rail() >= 0) != ofRails) {
      return List.of();
    }
    return ofRails
        ? List.of(printable(of.device()), Integer.toString(of.rail()), printable(of.nic()))
        : List.of(printable(of.device()));
  }

  /** A table per subject, each with its header as the first row. */
  public static List<List<String[]>> tables(ProcessCounters now, @Nullable ProcessCounters before) {
    List<String[]> devices = new ArrayList<>();
    devices.add(
        new String[] {
          "DEVICE",
          "SENT",
          "BYTES",
          "RECEIVED",
          "BYTES",
          "IN FLIGHT",
          "WAITING",
          "FULL",
          "FAILED",
          "CONNECTIONS",
          "BROKEN",
          "REGISTERED",
          "HITS",
          "MISSES"
        });
    places(now, before, false)
        .forEach(
            (key, place) ->
                devices.add(
                    new String[] {
                      key.getFirst(),
                      place.total("messages.sent"),
                      place.bytes("bytes.sent"),
                      place.total("messages.received"),
                      place.bytes("bytes.received"),
                      place.gauge("requests.inflight"),
                      place.gauge("sends.waiting"),
                      place.total("queue.full"),
                      Long.toString(failed(place)),
                      place.gauge("connections.open"),
                      place.gauge("connections.broken"),
                      size(place.value("registrations.pinned")),
                      place.total("registrations.hits"),
                      place.total("registrations.misses")
                    }));
    List<String[]> rails = new ArrayList<>();
    rails.add(
        new String[] {
          "DEVICE",
          "RAIL",
          "NIC",
          "STATE",
          "WRITTEN",
          "BYTES",
          "READ",
          "BYTES",
          "ARRIVED",
          "CONTROL",
          "AGAIN",
          "REPEATED",
          "OUT"
        });
    places(now, before, true)
        .forEach(
            (key, place) ->
                rails.add(
                    new String[] {
                      key.getFirst(),
                      key.get(1),
                      key.get(2),
                      railState(place.value("rail.state"), place.value("rail.peers.without")),
                      place.total("stripes.written"),
                      place.bytes("bytes.written"),
                      place.total("stripes.read"),
                      place.bytes("bytes.read"),
                      place.total("immediates.arrived"),
                      place.total("control.operations"),
                      place.total("provider.again"),
                      place.total("stripes.repeated"),
                      place.gauge("rail.operations.out")
                    }));
    List<List<String[]>> tables = new ArrayList<>();
    if (devices.size() > 1) {
      tables.add(devices);
      tables.add(rails);
    }
    return tables;
  }

  private static long failed(Place place) {
    return place.now.entrySet().stream()
        .filter(each -> each.getKey().startsWith("failed."))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static String railState(long state, long peersWithout) {
    String text = state == 0 ? "up" : state == 1 ? "reopening" : "closed";
    return peersWithout == 0 ? text : text + ", not to " + peersWithout;
  }

  private static String size(long bytes) {
    if (Math.abs(bytes) < 10_240) {
      return bytes + " B";
    }
    double number = bytes / 1024.0;
    int unit = 0;
    while (Math.abs(number) >= 1024 && unit < 4) {
      number /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %ciB", number, "KMGTP".charAt(unit));
  }

  /** What the tables do not say: why requests failed, and that something did. */
  public static List<String> notices(ProcessCounters of) {
    List<String> lines = new ArrayList<>();
    if (of.counters().stream().noneMatch(each -> each.deviceNumber() >= 0)) {
      lines.add("it has not used a device yet");
    }
    Map<String, Long> failures = new TreeMap<>();
    of.counters().stream()
        .filter(each -> each.name().startsWith("failed.") && each.value() > 0)
        .forEach(each -> failures.merge(printable(each.name()), each.value(), Long::sum));
    if (!failures.isEmpty()) {
      lines.add("requests that failed: " + failures);
    }
    if (!of.errors().isEmpty()) {
      lines.add(
          "%d distinct error(s): jofi stat %d --errors".formatted(of.errors().size(), of.pid()));
    }
    return lines;
  }

  /** All counters but those that are 0, by place, for a report of a defect. */
  public static void census(ProcessCounters of, PrintWriter out) {
    out.println("file " + of.file());
    Map<String, List<Counter>> byPlace = new LinkedHashMap<>();
    for (Counter each : of.counters()) {
      String place =
          each.deviceNumber() < 0
              ? "transport"
              : each.rail() < 0
                  ? "%s, endpoint %d".formatted(each.device(), each.endpoint())
                  : "%s, endpoint %d, rail %d, %s"
                      .formatted(each.device(), each.endpoint(), each.rail(), each.nic());
      byPlace.computeIfAbsent(printable(place), _ -> new ArrayList<>()).add(each);
    }
    byPlace.forEach(
        (place, counters) -> {
          out.println(place);
          counters.stream()
              .filter(each -> each.value() != 0 || !each.isTotal())
              .forEach(
                  each ->
                      out.println(
                          String.format(
                                  Locale.ROOT,
                                  "  %-24s %d %s",
                                  printable(each.name()),
                                  each.value(),
                                  each.unit())
                              .stripTrailing()));
        });
  }

  /** A document: the processes, each with all of its counters. */
  public static List<Map<String, Object>> json(List<ProcessCounters> all) {
    return all.stream().map(StatReport::json).toList();
  }

  private static Map<String, Object> json(ProcessCounters of) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("pid", of.pid());
    fields.put("state", of.state().name().toLowerCase(Locale.ROOT));
    fields.put("file", of.file().toString());
    fields.put("started", of.started().truncatedTo(ChronoUnit.MILLIS).toString());
    fields.put("heartbeat", of.heartbeat().truncatedTo(ChronoUnit.MILLIS).toString());
    fields.put("jofi", of.jofi());
    fields.put("fabric", of.fabric());
    fields.put("counters", of.counters().stream().map(StatReport::json).toList());
    fields.put("errors", of.errors().stream().map(StatReport::json).toList());
    return fields;
  }

  private static Map<String, Object> json(Counter of) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", of.name());
    fields.put("typeId", of.typeId());
    fields.put("device", of.deviceNumber() < 0 ? null : of.device());
    fields.put("endpoint", of.endpoint() < 0 ? null : of.endpoint());
    fields.put("rail", of.rail() < 0 ? null : of.rail());
    fields.put("nic", of.rail() < 0 ? null : of.nic());
    fields.put("unit", of.unit());
    fields.put("total", of.isTotal());
    fields.put("value", of.value());
    return fields;
  }

  private static Map<String, Object> json(CountedError of) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("text", of.text());
    fields.put("count", of.count());
    fields.put("first", of.first().toString());
    fields.put("last", of.last().toString());
    return fields;
  }

  /** Text for node_exporter's textfile collector; of dead processes only that they are dead. */
  public static void prometheus(List<ProcessCounters> all, PrintWriter out) {
    Map<String, List<String>> samples = new LinkedHashMap<>();
    Map<String, Counter> kinds = new LinkedHashMap<>();
    for (ProcessCounters process : all) {
      if (process.state() == Counters.ProcessState.DEAD) {
        continue;
      }
      for (Counter each : process.counters()) {
        // Of a type of a later version it is not known whether it is a total.
        if (!each.unit().isEmpty()) {
          String name =
              "jofi_"
                  + each.name().replaceAll("[^a-zA-Z0-9]", "_")
                  + (each.isTotal() ? "_total" : "");
          kinds.putIfAbsent(name, each);
          samples
              .computeIfAbsent(name, _ -> new ArrayList<>())
              .add(name + labels(process, each) + " " + each.value());
        }
      }
    }
    out.print("# HELP jofi_up whether the process of a file of counters lives\n");
    out.print("# TYPE jofi_up gauge\n");
    for (ProcessCounters process : all) {
      boolean up = process.state() == Counters.ProcessState.RUNNING;
      out.print("jofi_up{" + of(process) + "} " + (up ? 1 : 0) + "\n");
    }
    out.print("# HELP jofi_heartbeat_seconds when the process was heard last, since 1970\n");
    out.print("# TYPE jofi_heartbeat_seconds gauge\n");
    for (ProcessCounters process : all) {
      out.print(
          String.format(
              Locale.ROOT,
              "jofi_heartbeat_seconds{%s} %.3f\n",
              of(process),
              process.heartbeat().toEpochMilli() / 1e3));
    }
    samples.forEach(
        (name, lines) -> {
          Counter kind = kinds.get(name);
          if (kind != null) {
            out.print("# HELP " + name + " " + kind.meaning() + "\n");
            out.print("# TYPE " + name + (kind.isTotal() ? " counter\n" : " gauge\n"));
          }
          lines.forEach(line -> out.print(line + "\n"));
        });
  }

  private static String of(ProcessCounters process) {
    return "pid=\"%d\",file=\"%s\"".formatted(process.pid(), quoted(process.file().getFileName()));
  }

  private static String labels(ProcessCounters process, Counter of) {
    StringBuilder labels = new StringBuilder("{").append(of(process));
    if (of.deviceNumber() >= 0) {
      labels.append(",device=\"").append(quoted(of.device())).append('"');
      labels.append(",endpoint=\"").append(of.endpoint()).append('"');
    }
    if (of.rail() >= 0) {
      labels.append(",rail=\"").append(of.rail()).append('"');
      labels.append(",nic=\"").append(quoted(of.nic())).append('"');
    }
    return labels.append('}').toString();
  }

  private static String quoted(@Nullable Object text) {
    return printable(String.valueOf(text)).replace("\\", "\\\\").replace("\"", "\\\"");
  }
}
