package org.jofi.collectives;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jofi.collectives.schedule.Schedule;
import org.jofi.collectives.schedule.Step;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RailStatus;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a rank to others of its group, which are made when a schedule needs them. For
 * one thread.
 */
final class Peers {
  /** How long the store is asked for a handle before this rank looks what else may be wrong. */
  private static final Duration ANSWER = Duration.ofMillis(100);

  private static final Comm[] NONE = {};

  /** Polls that find nothing before both devices go on. */
  private static final int IDLE_POLLS = 32;

  private final Members members;
  private final Routes routes;
  private final Map<Integer, SendComm> to = new HashMap<>();
  private final Map<Integer, RecvComm> from = new HashMap<>();
  private Comm[] oneOfEach = NONE;
  private int idlePolls;

  Peers(Members members, Routes routes) {
    this.members = members;
    this.routes = routes;
  }

  SendComm to(int rank) {
    return Objects.requireNonNull(to.get(rank));
  }

  RecvComm from(int rank) {
    return Objects.requireNonNull(from.get(rank));
  }

  /** The rails of the connection to a rank; none if there is none. */
  List<RailStatus> railsTo(int rank) {
    SendComm comm = to.get(rank);
    return comm == null ? List.of() : comm.rails();
  }

  /** The rails of the connection from a rank; none if there is none. */
  List<RailStatus> railsFrom(int rank) {
    RecvComm comm = from.get(rank);
    return comm == null ? List.of() : comm.rails();
  }

  /**
   * Connects what a schedule needs and is not connected yet. The ranks that it needs do the same at
   * the same time, with their schedules of the same operation.
   */
  void connect(Schedule schedule, Waiting waiting) {
    Set<Integer> outgoing =
        schedule
            .peers(Step.Kind.SEND)
            .filter(rank -> !to.containsKey(rank))
            .boxed()
            .collect(Collectors.toSet());
    Set<Integer> incoming =
        schedule
            .peers(Step.Kind.RECEIVE)
            .filter(rank -> !from.containsKey(rank))
            .boxed()
            .collect(Collectors.toSet());
    if (outgoing.isEmpty() && incoming.isEmpty()) {
      return;
    }
    Map<Integer, ListenComm> listeners = new HashMap<>();
    Map<Integer, ConnectAttempt> attempts = new HashMap<>();
    try {
      // By distance, so that few handles wait in the store at a time: whoever is to connect to this
      // rank now takes its handle while this one takes another.
      for (int distance = 1; distance < members.size(); distance++) {
        int source = Math.floorMod(members.rank() - distance, members.size());
        int target = (members.rank() + distance) % members.size();
        if (incoming.contains(source)) {
          ListenComm listener = through(source, Device::listen);
          listeners.put(source, listener);
          members.publish(source, listener.handle().encode());
        }
        if (outgoing.contains(target)) {
          byte[] handle = members.handle(target, ANSWER);
          while (handle == null) {
            // Others wait for their connections to this rank meanwhile.
            poll(listeners, attempts);
            progressNow(waiting);
            waiting.idleLong();
            handle = members.handle(target, ANSWER);
          }
          waiting.progressed();
          ConnectHandle there = ConnectHandle.decode(handle);
          attempts.put(target, through(target, device -> device.connect(there)));
        }
        poll(listeners, attempts);
      }
      while (!poll(listeners, attempts)) {
        progress(waiting);
        waiting.idle();
      }
      oneOfEach = oneOfEach();
    } finally {
      close(listeners, attempts);
    }
  }

  /** Does something with the device that leads to a rank. */
  private <T extends @Nullable Object> T through(int rank, Function<Device, T> what) {
    try {
      return what.apply(routes.to(rank));
    } catch (TransportException failure) {
      throw routes.failed(failure, rank, members.name(rank));
    }
  }

  /**
   * Lets both devices go on, if there are two: what a rank waits for over the one may wait for what
   * this rank has to answer over the other. Once in some calls, since that of a network takes
   * longer than a poll of memory. Allocates nothing.
   */
  void progress(Waiting waiting) {
    if (++idlePolls % IDLE_POLLS == 0) {
      progressNow(waiting);
    }
  }

  private void progressNow(Waiting waiting) {
    for (Comm each : oneOfEach) {
      try {
        each.progress();
      } catch (TransportException failure) {
        throw waiting.reason(failure, "progress over " + each.device().properties().provider());
      }
    }
  }

  /** A connection over each device; none if there is one device, which goes on with any. */
  private Comm[] oneOfEach() {
    if (routes.levels() == null) {
      return NONE;
    }
    Map<Device, Comm> found = new LinkedHashMap<>();
    to.forEach((rank, comm) -> found.putIfAbsent(routes.to(rank), comm));
    from.forEach((rank, comm) -> found.putIfAbsent(routes.to(rank), comm));
    return found.values().toArray(NONE);
  }

  private boolean poll(Map<Integer, ListenComm> listeners, Map<Integer, ConnectAttempt> attempts) {
    attempts.forEach(
        (rank, attempt) -> {
          if (!to.containsKey(rank)) {
            @Nullable SendComm comm = through(rank, _ -> attempt.poll());
            if (comm != null) {
              to.put(rank, comm);
            }
          }
        });
    listeners.forEach(
        (rank, listener) -> {
          if (!from.containsKey(rank)) {
            @Nullable RecvComm comm = through(rank, _ -> listener.accept());
            if (comm != null) {
              from.put(rank, comm);
            }
          }
        });
    return to.keySet().containsAll(attempts.keySet())
        && from.keySet().containsAll(listeners.keySet());
  }

  private static void close(
      Map<Integer, ListenComm> listeners, Map<Integer, ConnectAttempt> attempts) {
    List<AutoCloseable> all = new ArrayList<>(attempts.values());
    all.addAll(listeners.values());
    closeAll(all);
  }

  void close() {
    List<AutoCloseable> all = new ArrayList<>(to.values());
    all.addAll(from.values());
    closeAll(all);
  }

  void abort() {
    List<AutoCloseable> all = new ArrayList<>();
    to.values().forEach(comm -> all.add(comm::abort));
    from.values().forEach(comm -> all.add(comm::abort));
    closeAll(all);
  }

  /** Closes each, also if one before it could not be. */
  private static void closeAll(List<AutoCloseable> all) {
    @Nullable RuntimeException failure = null;
    for (AutoCloseable each : all) {
      try {
        each.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      } catch (Exception e) {
        throw new AssertionError("these throw no checked exception", e);
      }
    }
    if (failure instanceof TransportException known) {
      throw known;
    }
    if (failure != null) {
      throw failure;
    }
  }
}
