package org.jofi.counters.written;

import static org.jofi.counters.written.CounterScope.ENDPOINT;
import static org.jofi.counters.written.CounterScope.RAIL;
import static org.jofi.counters.written.CounterScope.REGISTRATIONS;
import static org.jofi.counters.written.CounterScope.TRANSPORT;
import static org.jofi.counters.written.CounterType.Kind.GAUGE;
import static org.jofi.counters.written.CounterType.Kind.TOTAL;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.transport.FailureCause;

/**
 * What is counted. Ids and names never change their meaning: programs and dashboards know them. A
 * page is made of this, docs/COUNTERS.md.
 */
public enum CounterType {
  /** {@code housekeeping.rounds}. */
  HOUSEKEEPING_ROUNDS(0x4a46_0001, TRANSPORT, TOTAL, "housekeeping.rounds", "rounds"),
  /** {@code housekeeping.longest}. */
  HOUSEKEEPING_LONGEST(0x4a46_0002, TRANSPORT, GAUGE, "housekeeping.longest", "ns"),
  /** {@code errors.unrecorded}. */
  ERRORS_UNRECORDED(0x4a46_0003, TRANSPORT, TOTAL, "errors.unrecorded", "failures"),
  /** {@code messages.sent}. */
  MESSAGES_SENT(0x4a46_0101, ENDPOINT, TOTAL, "messages.sent", "messages"),
  /** {@code messages.received}. */
  MESSAGES_RECEIVED(0x4a46_0102, ENDPOINT, TOTAL, "messages.received", "messages"),
  /** {@code bytes.sent}. */
  BYTES_SENT(0x4a46_0103, ENDPOINT, TOTAL, "bytes.sent", "bytes"),
  /** {@code bytes.received}. */
  BYTES_RECEIVED(0x4a46_0104, ENDPOINT, TOTAL, "bytes.received", "bytes"),
  /** {@code bytes.staged}. */
  BYTES_STAGED(0x4a46_0105, ENDPOINT, TOTAL, "bytes.staged", "bytes"),
  /** {@code inline.writes}. */
  INLINE_WRITES(0x4a46_0106, ENDPOINT, TOTAL, "inline.writes", "requests"),
  /** {@code flushes}. */
  FLUSHES(0x4a46_0107, ENDPOINT, TOTAL, "flushes", "requests"),
  /** {@code queue.full}. */
  QUEUE_FULL(0x4a46_0108, ENDPOINT, TOTAL, "queue.full", "answers"),
  /** {@code arrivals.dropped}. */
  ARRIVALS_DROPPED(0x4a46_0109, ENDPOINT, TOTAL, "arrivals.dropped", "messages"),
  /** {@code receives.failed}. */
  RECEIVES_FAILED(0x4a46_010a, ENDPOINT, TOTAL, "receives.failed", "receives"),
  /** {@code looks}. */
  LOOKS(0x4a46_010b, ENDPOINT, TOTAL, "looks", "looks"),
  /** {@code connections.made}. */
  CONNECTIONS_MADE(0x4a46_0110, ENDPOINT, TOTAL, "connections.made", "connections"),
  /** {@code connections.refused}. */
  CONNECTIONS_REFUSED(0x4a46_0111, ENDPOINT, TOTAL, "connections.refused", "connections"),
  /** {@code connections.failed}. */
  CONNECTIONS_FAILED(0x4a46_0112, ENDPOINT, TOTAL, "connections.failed", "connections"),
  /** {@code connections.lost}. */
  CONNECTIONS_LOST(0x4a46_0113, ENDPOINT, TOTAL, "connections.lost", "connections"),
  /** {@code connections.connecting}. */
  CONNECTIONS_CONNECTING(0x4a46_0114, ENDPOINT, GAUGE, "connections.connecting", "connections"),
  /** {@code connections.open}. */
  CONNECTIONS_OPEN(0x4a46_0115, ENDPOINT, GAUGE, "connections.open", "connections"),
  /** {@code connections.broken}. */
  CONNECTIONS_BROKEN(0x4a46_0116, ENDPOINT, GAUGE, "connections.broken", "connections"),
  /** {@code connections.closing}. */
  CONNECTIONS_CLOSING(0x4a46_0117, ENDPOINT, GAUGE, "connections.closing", "connections"),
  /** {@code peers}. */
  PEERS(0x4a46_0118, ENDPOINT, GAUGE, "peers", "peers"),
  /** {@code requests.inflight}. */
  REQUESTS_IN_FLIGHT(0x4a46_0120, ENDPOINT, GAUGE, "requests.inflight", "requests"),
  /** {@code sends.waiting}. */
  SENDS_WAITING(0x4a46_0121, ENDPOINT, GAUGE, "sends.waiting", "requests"),
  /** {@code thread}. */
  THREAD(0x4a46_0122, ENDPOINT, GAUGE, "thread", "0 or 1"),
  /** Requests that failed with {@link FailureCause#PEER_LOST}. */
  FAILED_PEER_LOST(0x4a46_0201, FailureCause.PEER_LOST),
  /** Requests that failed with {@link FailureCause#TIMED_OUT}. */
  FAILED_TIMED_OUT(0x4a46_0202, FailureCause.TIMED_OUT),
  /** Requests that failed with {@link FailureCause#ABORTED}. */
  FAILED_ABORTED(0x4a46_0203, FailureCause.ABORTED),
  /** Requests that failed with {@link FailureCause#PEER_ABORTED}. */
  FAILED_PEER_ABORTED(0x4a46_0204, FailureCause.PEER_ABORTED),
  /** Requests that failed with {@link FailureCause#CLOSED}. */
  FAILED_CLOSED(0x4a46_0205, FailureCause.CLOSED),
  /** Requests that failed with {@link FailureCause#PEER_CLOSED}. */
  FAILED_PEER_CLOSED(0x4a46_0206, FailureCause.PEER_CLOSED),
  /** Requests that failed with {@link FailureCause#PROTOCOL_VIOLATION}. */
  FAILED_PROTOCOL_VIOLATION(0x4a46_0207, FailureCause.PROTOCOL_VIOLATION),
  /** Requests that failed with {@link FailureCause#FABRIC}. */
  FAILED_FABRIC(0x4a46_0208, FailureCause.FABRIC),
  /** Requests that failed with {@link FailureCause#INCOMPATIBLE}. */
  FAILED_INCOMPATIBLE(0x4a46_020a, FailureCause.INCOMPATIBLE),
  /** Requests that failed with {@link FailureCause#EXHAUSTED}. */
  FAILED_EXHAUSTED(0x4a46_020b, FailureCause.EXHAUSTED),
  /** Requests that failed with {@link FailureCause#TRUNCATED}. */
  FAILED_TRUNCATED(0x4a46_020d, FailureCause.TRUNCATED),
  /** {@code failed.otherwise}. */
  FAILED_OTHERWISE(0x4a46_0200, ENDPOINT, TOTAL, "failed.otherwise", "requests"),
  /** {@code stripes.written}. */
  STRIPES_WRITTEN(0x4a46_0301, RAIL, TOTAL, "stripes.written", "operations"),
  /** {@code bytes.written}. */
  BYTES_WRITTEN(0x4a46_0302, RAIL, TOTAL, "bytes.written", "bytes"),
  /** {@code stripes.read}. */
  STRIPES_READ(0x4a46_0303, RAIL, TOTAL, "stripes.read", "operations"),
  /** {@code bytes.read}. */
  BYTES_READ(0x4a46_0304, RAIL, TOTAL, "bytes.read", "bytes"),
  /** {@code immediates.arrived}. */
  IMMEDIATES_ARRIVED(0x4a46_0305, RAIL, TOTAL, "immediates.arrived", "arrivals"),
  /** {@code control.operations}. */
  CONTROL_OPERATIONS(0x4a46_0306, RAIL, TOTAL, "control.operations", "operations"),
  /** {@code control.bytes}. */
  CONTROL_BYTES(0x4a46_0307, RAIL, TOTAL, "control.bytes", "bytes"),
  /** {@code provider.again}. */
  PROVIDER_AGAIN(0x4a46_0308, RAIL, TOTAL, "provider.again", "answers"),
  /** {@code stripes.repeated}. */
  STRIPES_REPEATED(0x4a46_0309, RAIL, TOTAL, "stripes.repeated", "operations"),
  /** {@code completions.orphaned}. */
  COMPLETIONS_ORPHANED(0x4a46_030a, RAIL, TOTAL, "completions.orphaned", "completions"),
  /** {@code rail.state}. */
  RAIL_STATE(0x4a46_0310, RAIL, GAUGE, "rail.state", "0, 1 or 2"),
  /** {@code rail.peers.without}. */
  RAIL_PEERS_WITHOUT(0x4a46_0311, RAIL, GAUGE, "rail.peers.without", "peers"),
  /** {@code rail.operations.out}. */
  RAIL_OPERATIONS_OUT(0x4a46_0312, RAIL, GAUGE, "rail.operations.out", "operations"),
  /** {@code registrations.hits}. */
  CACHE_HITS(0x4d52_0001, REGISTRATIONS, TOTAL, "registrations.hits", "uses"),
  /** {@code registrations.misses}. */
  CACHE_MISSES(0x4d52_0002, REGISTRATIONS, TOTAL, "registrations.misses", "uses"),
  /** {@code registrations.evicted}. */
  CACHE_EVICTIONS(0x4d52_0003, REGISTRATIONS, TOTAL, "registrations.evicted", "registrations"),
  /** {@code registrations.closed}. */
  CACHE_CLOSES(0x4d52_0004, REGISTRATIONS, TOTAL, "registrations.closed", "registrations"),
  /** {@code registrations.stuck}. */
  CACHE_CLOSE_FAILURES(0x4d52_0005, REGISTRATIONS, TOTAL, "registrations.stuck", "answers"),
  /** {@code registrations.open}. */
  CACHE_OPEN(0x4d52_0006, REGISTRATIONS, GAUGE, "registrations.open", "registrations"),
  /** {@code registrations.pinned}. */
  CACHE_PINNED(0x4d52_0007, REGISTRATIONS, GAUGE, "registrations.pinned", "bytes"),
  /** {@code registrations.time}. */
  CACHE_REGISTERING(0x4d52_0008, REGISTRATIONS, TOTAL, "registrations.time", "ns");

  /** Whether a counter only grows. */
  enum Kind {
    TOTAL,
    GAUGE
  }

  private static final Map<CounterScope, List<CounterType>> BY_SCOPE = new HashMap<>();
  private static final Map<Integer, CounterType> BY_ID = new HashMap<>();

  static {
    for (CounterScope scope : CounterScope.values()) {
      BY_SCOPE.put(scope, Arrays.stream(values()).filter(type -> type.scope == scope).toList());
    }
    for (CounterType type : values()) {
      BY_ID.put(type.id, type);
    }
  }

  private final int id;
  private final CounterScope scope;
  private final Kind kind;
  private final String words;
  private final String unit;

  /** Where it is among those of its scope, in bytes. */
  final long at;

  /** How many of each scope there are so far. */
  private static final class Places {
    private static final Map<CounterScope, Integer> TAKEN = new HashMap<>();

    static long take(CounterScope scope) {
      return (TAKEN.merge(scope, 1, Integer::sum) - 1L) * CounterLayout.VALUE_BYTES;
    }
  }

  CounterType(int id, CounterScope scope, Kind kind, String words, String unit) {
    this.id = id;
    this.scope = scope;
    this.kind = kind;
    this.words = words;
    this.unit = unit;
    at = Places.take(scope);
  }

  CounterType(int id, FailureCause cause) {
    this(id, ENDPOINT, TOTAL, CounterMeaning.name(cause), "requests");
  }

  /** {@return its id, which no other type has} */
  public int id() {
    return id;
  }

  /** {@return of what there is one} */
  public CounterScope scope() {
    return scope;
  }

  /** {@return whether it only grows; else it tells what is now} */
  public boolean isTotal() {
    return kind == Kind.TOTAL;
  }

  /** {@return its name, words in lower case with dots between} */
  public String words() {
    return words;
  }

  /** {@return what is counted} */
  public String unit() {
    return unit;
  }

  /** {@return what it means} */
  public String meaning() {
    return CounterMeaning.of(this);
  }

  /**
   * {@return the types of a scope, in the order in which a block has them}
   *
   * @param scope of which
   */
  public static List<CounterType> of(CounterScope scope) {
    return BY_SCOPE.getOrDefault(scope, List.of());
  }

  /**
   * {@return the type of an id; empty if it is of a later version}
   *
   * @param id any number
   */
  public static Optional<CounterType> of(int id) {
    return Optional.ofNullable(BY_ID.get(id));
  }

  /**
   * {@return by which requests are counted that failed so}
   *
   * @param cause why they failed
   */
  public static CounterType of(FailureCause cause) {
    return switch (cause) {
      case PEER_LOST -> FAILED_PEER_LOST;
      case TIMED_OUT -> FAILED_TIMED_OUT;
      case ABORTED -> FAILED_ABORTED;
      case PEER_ABORTED -> FAILED_PEER_ABORTED;
      case CLOSED -> FAILED_CLOSED;
      case PEER_CLOSED -> FAILED_PEER_CLOSED;
      case PROTOCOL_VIOLATION -> FAILED_PROTOCOL_VIOLATION;
      case FABRIC -> FAILED_FABRIC;
      case INCOMPATIBLE -> FAILED_INCOMPATIBLE;
      case EXHAUSTED -> FAILED_EXHAUSTED;
      case TRUNCATED -> FAILED_TRUNCATED;
      // Of calls, which throw: no request ends so.
      case REFUSED, UNAVAILABLE, INTERRUPTED -> FAILED_OTHERWISE;
    };
  }
}
