package org.jofi.abidouble;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jofi.fabric.FabricErrno;
import org.jspecify.annotations.Nullable;

/**
 * Every object that was opened, by the address that its caller knows, and every rule that was
 * broken. Its monitor guards the state of all objects; no real call is made with it held.
 */
final class Ledger {
  private final Map<Long, Fid> objects = new HashMap<>();
  private final Map<String, Long> calls = new TreeMap<>();
  private final Map<String, Map<String, Long>> posted = new TreeMap<>();
  private final List<Violation> violations = new ArrayList<>();
  private final Map<String, Shortage> shortages = new HashMap<>();
  private final List<TraceEntry> trace = new ArrayList<>();
  private boolean tracing;
  private int opened;

  /** A call that is to be refused: how many are answered before, and with what error. */
  private record Shortage(int before, int errno) {}

  /** Keeps what happens to objects from now on. */
  synchronized void startTrace() {
    trace.clear();
    tracing = true;
  }

  /** What happened to objects since then, in that order. */
  synchronized List<TraceEntry> trace() {
    return List.copyOf(trace);
  }

  synchronized void trace(String object, String event) {
    if (tracing) {
      trace.add(new TraceEntry(object, event));
    }
  }

  /** A number for the name of an object to come. */
  synchronized int next() {
    return ++opened;
  }

  synchronized void add(Fid object) {
    objects.put(object.address(), object);
  }

  synchronized void count(String call) {
    calls.merge(call, 1L, Long::sum);
  }

  /** How often each function was called. */
  synchronized Map<String, Long> calls() {
    return new TreeMap<>(calls);
  }

  /** The provider took an operation of that endpoint. */
  synchronized void posted(String call, Fid endpoint) {
    posted
        .computeIfAbsent(call, unknown -> new TreeMap<>())
        .merge(endpoint.toString(), 1L, Long::sum);
  }

  /** How many operations of that function the provider took, by endpoint. */
  synchronized Map<String, Long> posted(String call) {
    return new TreeMap<>(posted.getOrDefault(call, Map.of()));
  }

  /** The open object behind a pointer. */
  synchronized <F extends Fid> F find(MemorySegment pointer, Class<F> kind, String call) {
    Fid object = objects.get(pointer.address());
    if (!kind.isInstance(object)) {
      throw refusal(
          Rule.POINTER,
          call,
          "0x%x is %s".formatted(pointer.address(), object == null ? "unknown" : object),
          object);
    }
    if (object.isClosed()) {
      throw refusal(Rule.USE_AFTER_CLOSE, call, object + " is closed", object);
    }
    return kind.cast(object);
  }

  /** Records that a rule was broken. The same again at once, as by trying again, counts once. */
  synchronized void violated(Rule rule, String call, String detail, @Nullable Fid about) {
    Violation last = violations.isEmpty() ? null : violations.getLast();
    if (last == null
        || last.rule() != rule
        || !last.call().equals(call)
        || !last.detail().equals(detail)) {
      violations.add(
          new Violation(rule, call, detail, about == null ? List.of() : about.history()));
    }
  }

  /** Records that a rule was broken, and gives what to throw: -FI_EINVAL for the caller. */
  Refusal refusal(Rule rule, String call, String detail, @Nullable Fid about) {
    return refusal(rule, call, detail, about, FabricErrno.EINVAL);
  }

  /** Records that a rule was broken, and gives what to throw: that error for the caller. */
  Refusal refusal(Rule rule, String call, String detail, @Nullable Fid about, int errno) {
    violated(rule, call, detail, about);
    return new Refusal(errno);
  }

  /** One such call will be refused, after so many that are not. */
  synchronized void refuse(String call, int before, int errno) {
    shortages.put(call, new Shortage(before, errno));
  }

  /** Refuses if it was asked to: no rule is broken by that. */
  synchronized void answer(String call) {
    Shortage shortage = shortages.remove(call);
    if (shortage != null) {
      if (shortage.before == 0) {
        throw new Refusal(shortage.errno);
      }
      shortages.put(call, new Shortage(shortage.before - 1, shortage.errno));
    }
  }

  /** Records what went wrong in the double itself. */
  void failed(String call, Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    violated(Rule.DOUBLE_FAILED, call, text.toString(), null);
  }

  synchronized List<Violation> violations() {
    return List.copyOf(violations);
  }

  /** What is open, as violations: everything shall be closed by now. */
  synchronized List<Violation> leaks() {
    return objects.values().stream()
        .filter(object -> !object.isClosed())
        .map(object -> new Violation(Rule.NOT_CLOSED, "exit", object.toString(), object.history()))
        .toList();
  }
}
