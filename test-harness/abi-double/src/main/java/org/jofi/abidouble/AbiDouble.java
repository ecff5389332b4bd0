package org.jofi.abidouble;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricProvider;
import org.jofi.libfabric.EntryPoints;
import org.jofi.libfabric.LibfabricProvider;

/**
 * Stands between jofi's libfabric provider and libfabric, and looks to the former like a provider
 * with FI_MR_ENDPOINT. What it hands out are structs of its own, whose functions lead here; each
 * call is checked and handed on to a real provider that is reached through sockets. What breaks a
 * {@link Rule} is recorded and refused.
 *
 * <p>Any thread. It holds nothing that needs to be closed: functions and structs stay as long as
 * the process, because whoever has a pointer may use it.
 */
public final class AbiDouble {
  private final Premises premises;

  /**
   * @throws java.io.UncheckedIOException if the board's file cannot be shared
   * @throws org.jofi.fabric.FabricUnavailableException if there is no libfabric
   */
  public AbiDouble(DoubleSettings settings) {
    // Loads the library as the provider does, signal handlers and all, before anything else may.
    new LibfabricProvider().version();
    premises = Premises.of(settings);
  }

  /** jofi's provider over this double. */
  public FabricProvider provider() {
    return new LibfabricProvider(entryPoints());
  }

  /** What leads to everything else. */
  EntryPoints entryPoints() {
    return new EntryPoints() {
      @Override
      public int getinfo(
          int version,
          MemorySegment node,
          MemorySegment service,
          long flags,
          MemorySegment hints,
          MemorySegment infos) {
        return premises
            .negotiation()
            .answer(
                EntryPoints.LIBRARY.getinfo(version, node, service, flags, hints, infos),
                hints,
                infos);
      }

      @Override
      public int fabric(MemorySegment attributes, MemorySegment fabric, MemorySegment context) {
        return openFabric(attributes, fabric, context);
      }
    };
  }

  private int openFabric(MemorySegment attributes, MemorySegment result, MemorySegment context) {
    try {
      return Fid.open(
          result,
          fabric -> EntryPoints.LIBRARY.fabric(attributes, fabric, MemorySegment.NULL),
          fabric -> new FabricFid(premises, fabric, context));
    } catch (RuntimeException failure) {
      premises.ledger().failed("fi_fabric", failure);
      return -FabricErrno.EINVAL;
    }
  }

  /**
   * Lets one call be refused, as a NIC refuses that is out of something. No rule is broken by that.
   *
   * @param call {@code fi_mr_regattr}, {@code fi_mr_bind} or {@code fi_mr_enable}
   * @param before how many of them are answered before
   * @param errno of the refusal, positive
   */
  public void refuse(String call, int before, int errno) {
    premises.ledger().refuse(call, before, errno);
  }

  /** What was broken so far, in that order. */
  public List<Violation> violations() {
    return premises.ledger().violations();
  }

  /** How often each function was called. */
  public Map<String, Long> calls() {
    return premises.ledger().calls();
  }

  /**
   * How many operations of that function each endpoint posted, by the endpoint's name: those that
   * the real provider took, and endpoints with at least one.
   */
  public Map<String, Long> posted(String call) {
    return premises.ledger().posted(call);
  }

  /** Keeps what happens to its objects from now on, for {@link #trace}. */
  public void startTrace() {
    premises.ledger().startTrace();
  }

  /** What happened to its objects since then, in that order; data calls are not in it. */
  public List<TraceEntry> trace() {
    return premises.ledger().trace();
  }

  /** What was broken, and what was opened and never closed. */
  public List<Violation> verdict() {
    List<Violation> all = new ArrayList<>(violations());
    all.addAll(premises.ledger().leaks());
    return all;
  }

  /**
   * At the end, when everything is closed.
   *
   * @param excused rules that may have been broken: {@link Rule#REMOTE_KEY_CLOSED}, where the other
   *     process went without saying so
   * @throws AssertionError if anything else was broken, or is open still, with all of it
   */
  public void requireClean(Rule... excused) {
    Set<Rule> ignored = Set.of(excused);
    List<Violation> verdict =
        verdict().stream().filter(violation -> !ignored.contains(violation.rule())).toList();
    if (!verdict.isEmpty()) {
      throw new AssertionError(
          verdict.stream().map(Violation::toString).collect(Collectors.joining("\n", "\n", "")));
    }
  }
}
