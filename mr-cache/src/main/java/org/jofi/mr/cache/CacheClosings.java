package org.jofi.mr.cache;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.teardown.Failures;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.Log;
import org.jofi.transport.diagnostics.RegistrationClosedEvent;
import org.jspecify.annotations.Nullable;

/**
 * Closes cached registrations. {@link #start} takes a registration out of the cache under the lock,
 * and {@link #finish} closes it without the lock. Between the two, the ledger lists the
 * registration as a {@link Transition}, so that other threads can wait until memory or an endpoint
 * has no open regions.
 */
final class CacheClosings {
  private static final Log LOG = new Log(Log.Name.REGISTRATION);

  /** Whoever looks for freed memory has other things to do, and will look again. */
  private static final int FREED_AT_ONCE = 64;

  private final CacheLedger ledger;
  private final CacheCounters counters;
  private final RequestNames names;

  CacheClosings(CacheLedger ledger, CacheCounters counters, RequestNames names) {
    this.ledger = ledger;
    this.counters = counters;
    this.names = names;
  }

  /** Takes a registration that is marked as closed out of the cache. Under the lock. */
  void start(CachedRegistration registration, List<Closing> victims) {
    registration.space().remove(registration);
    ledger.idle.remove(registration);
    Closing closing = new Closing(registration);
    ledger.begin(closing.transition());
    victims.add(closing);
  }

  /**
   * Closes a superseded registration: at once if it is idle, else as soon as it becomes idle. Under
   * the lock.
   */
  void supersede(CachedRegistration old, List<Closing> victims) {
    ledger.idle.remove(old);
    while (!old.askToBeTold()) {
      if (old.closeIfIdle()) {
        start(old, victims);
        return;
      }
    }
  }

  /** Evicts until idle registrations are within the budgets. Under the lock. */
  void trim(List<Closing> victims) {
    while (ledger.idle.isOverBudget()) {
      evictFirst(victims);
    }
  }

  private long evictFirst(List<Closing> victims) {
    CachedRegistration victim = ledger.idle.closeFirst();
    if (victim == null) {
      return 0;
    }
    start(victim, victims);
    counters.evicted();
    return victim.range().lengthBytes();
  }

  /**
   * Evicts idle registrations. If nothing is idle but other threads are closing registrations,
   * waits for them.
   *
   * @param least how many at least, if so many are idle
   * @param bytes how much memory at least, if so much is idle
   * @return whether resources were freed
   * @throws RegistrationException if the other threads do not finish in time
   */
  boolean makeRoom(int least, long bytes, String what) {
    List<Closing> victims = new ArrayList<>();
    ledger.lock();
    try {
      long freed = 0;
      while ((freed < bytes || victims.size() < least) && !ledger.idle.isEmpty()) {
        freed += evictFirst(victims);
      }
      if (victims.isEmpty()) {
        return ledger.awaitThose(Transition::isClosing, what);
      }
    } finally {
      ledger.unlock();
    }
    finish(victims, CloseReason.EVICTED);
    return true;
  }

  /**
   * Closes idle registrations whose memory was freed, some at a time, and returns how many.
   *
   * @param freed whether memory without an arena was freed; called without the lock
   */
  int closeFreed(Predicate<BufferRange> freed) {
    List<CachedRegistration> idle;
    ledger.lock();
    try {
      idle = ledger.idle.all();
    } finally {
      ledger.unlock();
    }
    List<CachedRegistration> gone =
        idle.stream().filter(each -> each.isFreed(freed)).limit(FREED_AT_ONCE).toList();
    if (gone.isEmpty()) {
      return 0;
    }
    List<Closing> victims = new ArrayList<>();
    ledger.lock();
    try {
      gone.stream().filter(each -> each.queued).forEach(each -> supersede(each, victims));
    } finally {
      ledger.unlock();
    }
    finish(victims, CloseReason.FREED);
    return victims.size();
  }

  int evictIdle() {
    List<Closing> victims = new ArrayList<>();
    ledger.lock();
    try {
      while (!ledger.idle.isEmpty()) {
        evictFirst(victims);
      }
    } finally {
      ledger.unlock();
    }
    finish(victims, CloseReason.EVICTED);
    return victims.size();
  }

  /**
   * Closes what {@link #start} took out. If a provider refuses to close a region, that is logged,
   * and the region is kept: closing it is tried again when its memory is invalidated or its space
   * is purged.
   */
  void finish(List<Closing> victims, CloseReason reason) {
    RuntimeException failure = close(victims, reason);
    if (failure != null) {
      LOG.log(System.Logger.Level.WARNING, "a cached registration stays open for now", failure);
    }
  }

  private @Nullable RuntimeException close(List<Closing> victims, CloseReason reason) {
    RuntimeException failure = null;
    for (Closing victim : victims) {
      RegistrationClosedEvent event = Events.registrationClosed();
      boolean closed = false;
      try {
        victim.regions().close();
        closed = true;
      } catch (RuntimeException e) {
        failure = Failures.join(failure, e);
      } finally {
        ended(victim, closed);
      }
      CachedRegistration registration = victim.registration();
      if (closed && registration != null && event != null) {
        event.commit(
            reason.name(),
            registration.range().kind().name(),
            registration.range().address(),
            registration.range().lengthBytes(),
            registration.space().generation());
      }
    }
    return failure;
  }

  /**
   * Ends a closing. Both changes happen under the lock, so that every open region is always listed
   * somewhere.
   */
  private void ended(Closing victim, boolean closed) {
    CachedRegistration registration = victim.registration();
    ledger.lock();
    try {
      if (!closed) {
        counters.closeFailed();
        ledger.stuck.add(victim);
      } else if (registration != null) {
        counters.closed(registration.range().lengthBytes(), registration.hitsOfOpenBatch());
      }
      ledger.end(victim.transition());
    } finally {
      ledger.unlock();
    }
  }

  /** Keeps regions that could not be closed, so that closing them can be tried again. */
  void keep(CacheSpace space, RegionSet leftover) {
    ledger.lock();
    try {
      counters.closeFailed();
      ledger.stuck.add(new Closing(space, leftover, null));
    } finally {
      ledger.unlock();
    }
  }

  /**
   * Closes all registrations that share a byte with any of the ranges; if a request uses one of
   * them, closes none.
   */
  void invalidate(List<BufferRange> ranges) {
    revoke(
        () -> {
          Set<CachedRegistration> found = new LinkedHashSet<>();
          for (BufferRange range : ranges) {
            long first = IntervalIndex.order(range.address());
            long last = first + range.lengthBytes() - 1;
            for (CacheSpace space : ledger.spaces) {
              space.overlapping(range.kind(), range.device(), first, last, found);
            }
          }
          return found;
        },
        transition -> touchesAny(transition, ranges),
        false,
        CloseReason.INVALIDATED,
        "invalidate " + describe(ranges));
  }

  private static boolean touchesAny(Transition transition, List<BufferRange> ranges) {
    for (BufferRange range : ranges) {
      long first = IntervalIndex.order(range.address());
      if (transition.touches(
          range.kind(), range.device(), first, first + range.lengthBytes() - 1)) {
        return true;
      }
    }
    return false;
  }

  private static String describe(List<BufferRange> ranges) {
    if (ranges.isEmpty()) {
      return "nothing";
    }
    return ranges.size() == 1
        ? ranges.getFirst().toString()
        : "%s and %d more range(s)".formatted(ranges.getFirst(), ranges.size() - 1);
  }

  /**
   * Closes all registrations of a space, then the space; if a request uses one of them, closes
   * neither.
   */
  void purge(CacheSpace space, boolean regardless) {
    ledger.lock();
    try {
      space.setClosed(true);
    } finally {
      ledger.unlock();
    }
    try {
      revoke(
          () -> List.copyOf(space.open()),
          transition -> transition.space() == space,
          regardless,
          CloseReason.PURGED,
          "close the registrations of " + space);
    } catch (RegistrationBusyException | RegistrationException e) {
      ledger.lock(); // Nothing was closed.
      space.setClosed(false);
      ledger.unlock();
      throw e;
    }
    ledger.lock();
    ledger.spaces.remove(space);
    ledger.unlock();
  }

  private void revoke(
      Supplier<Collection<CachedRegistration>> select,
      Predicate<Transition> concerned,
      boolean regardless,
      CloseReason reason,
      String what) {
    List<Closing> victims = new ArrayList<>();
    ledger.lock();
    try {
      ledger.awaitNone(concerned, what);
      Collection<CachedRegistration> all = select.get();
      if (regardless) {
        all.forEach(CachedRegistration::closeRegardless);
      } else {
        closeAllOrNone(all, what);
      }
      for (CachedRegistration registration : all) {
        start(registration, victims);
      }
      takeStuck(concerned, victims);
    } finally {
      ledger.unlock();
    }
    RuntimeException failure = close(victims, reason);
    if (failure != null) {
      throw failure;
    }
  }

  private void closeAllOrNone(Collection<CachedRegistration> all, String what) {
    List<CachedRegistration> marked = new ArrayList<>();
    for (CachedRegistration registration : all) {
      if (!registration.closeIfUnused()) {
        marked.forEach(CachedRegistration::reopen);
        throw new RegistrationBusyException("cannot " + what, inFlight(all, registration));
      }
      marked.add(registration);
    }
  }

  private List<String> inFlight(Collection<CachedRegistration> all, CachedRegistration refused) {
    List<String> text = new ArrayList<>();
    for (CachedRegistration registration : all) {
      int uses = registration.uses();
      if (uses > 0 || registration == refused) {
        List<String> known = names.using(registration);
        text.add(
            "%s by %s"
                .formatted(
                    registration,
                    known.isEmpty() ? uses + " request(s)" : String.join(", ", known)));
      }
    }
    return text;
  }

  private void takeStuck(Predicate<Transition> concerned, List<Closing> taken) {
    for (Iterator<Closing> all = ledger.stuck.iterator(); all.hasNext(); ) {
      Closing stuck = all.next();
      Transition retry = stuck.transition();
      if (concerned.test(retry)) {
        all.remove();
        ledger.begin(retry);
        taken.add(stuck);
      }
    }
  }
}
