package org.jofi.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.CommState;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.WarmUp;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Warm-ups of devices of a simulated fabric in real time. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WarmUpTest {
  private static final Duration BOUND = Duration.ofMillis(100);

  /** Messages arrive within it on the busiest machine. */
  private static final Duration LONGEST = Duration.ofSeconds(20);

  private static final Duration CLOSE = Duration.ofSeconds(30);

  private static final String MISSING = "did not arrive";

  /** What a machine that is busy with other tests may take longer. */
  private static final Duration SLACK = Duration.ofSeconds(60);

  /** The communicators that a warm-up made. */
  private final List<Comm> comms = new ArrayList<>();

  private static Transport open(String profile, ProgressThreads threads) {
    return Transport.open(
        new SimulatedProvider(),
        TransportOptions.builder()
            .provider(Profile.named(profile).providerName())
            .progressThreads(threads)
            .closeTimeout(CLOSE)
            .build());
  }

  /** What answers a call in place of the real object; null to leave it to that. */
  private interface Instead {
    @Nullable Object of(String method, @Nullable Object real) throws Exception;
  }

  /** The same object, with another answer to some calls. */
  private static <T> T altered(Class<T> type, Object real, Instead instead) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                Object answer = method.invoke(real, arguments);
                return instead.of(method.getName(), answer);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            }));
  }

  /** The device, whose communicators answer tests so, and are remembered. */
  private Device watched(Device device, Optional<Long> result) {
    return altered(
        Device.class,
        device,
        (method, real) ->
            switch (method) {
              case "listen" ->
                  altered(
                      ListenComm.class,
                      real,
                      (call, comm) ->
                          call.equals("accept") && comm != null
                              ? watched(RecvComm.class, (RecvComm) comm, result)
                              : comm);
              case "connect" ->
                  altered(
                      ConnectAttempt.class,
                      real,
                      (call, comm) ->
                          call.equals("poll") && comm != null
                              ? watched(SendComm.class, (SendComm) comm, result)
                              : comm);
              default -> real;
            });
  }

  private <T extends Comm> T watched(Class<T> type, T comm, Optional<Long> result) {
    if (!comms.contains(comm)) {
      comms.add(comm);
    }
    return altered(
        type,
        comm,
        (method, real) -> method.equals("test") && result.isPresent() ? result.get() : real);
  }

  private void assertNothingLeft() {
    assertEquals(2, comms.size());
    comms.forEach(comm -> assertEquals(CommState.CLOSED, comm.state(), comm.label()));
  }

  private static void assertWithin(Duration bound, WarmUp done) {
    assertTrue(done.took().compareTo(bound.plus(SLACK)) < 0, done.toString());
  }

  /** With a bound that is long enough: longer ones are tried where one was not. */
  private WarmUp warmUp(Device device, Predicate<WarmUp> enough) {
    WarmUp done = WarmUp.of(device, BOUND);
    assertWithin(BOUND, done);
    for (Duration bound = BOUND.multipliedBy(4);
        !enough.test(done) && bound.compareTo(LONGEST) < 0;
        bound = bound.multipliedBy(4)) {
      comms.clear();
      done = WarmUp.of(device, bound);
    }
    return done;
  }

  private void messagesArrive(Device device) {
    WarmUp done = warmUp(device, some -> some.messages() > 0 && some.failure().isEmpty());
    assertEquals(Optional.empty(), done.failure());
    assertTrue(done.messages() > 0, done.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void messagesArriveAndNothingIsLeft(String profile) {
    try (Transport transport = open(profile, ProgressThreads.NEVER)) {
      messagesArrive(watched(transport.devices().getFirst(), Optional.empty()));
      assertNothingLeft();
    }
  }

  @ParameterizedTest
  @EnumSource(ProgressThreads.class)
  void itMayBeRepeatedWithAndWithoutProgressThreads(ProgressThreads threads) {
    try (Transport transport = open("tcp", threads)) {
      for (Device device : transport.devices()) {
        for (int i = 0; i < 2; i++) {
          messagesArrive(device);
        }
      }
    }
  }

  @Test
  void messagesThatNeverArriveEndIt() {
    try (Transport transport = open("efa", ProgressThreads.NEVER)) {
      Device stuck = watched(transport.devices().getFirst(), Optional.of(Result.IN_PROGRESS));
      WarmUp done = warmUp(stuck, some -> some.failure().orElseThrow().contains(MISSING));
      assertTrue(done.failure().orElseThrow().contains(MISSING), done.toString());
      assertEquals(0, done.messages());
      assertFalse(done.settled());
      assertNothingLeft();
    }
  }

  @Test
  void aFailureOfTheProviderIsReported() {
    try (Transport transport = open("efa", ProgressThreads.NEVER)) {
      Device failing =
          watched(transport.devices().getFirst(), Optional.of(FailureCause.FABRIC.code()));
      WarmUp done = WarmUp.of(failing, LONGEST);
      assertTrue(
          done.failure().orElseThrow().contains(FailureCause.FABRIC.words()), done.toString());
      assertNothingLeft();
    }
  }

  @Test
  void aDeviceThatDoesNotOpenIsReported() {
    Device none =
        (Device)
            Proxy.newProxyInstance(
                Device.class.getClassLoader(),
                new Class<?>[] {Device.class},
                (proxy, method, arguments) -> {
                  throw new TransportException(FailureCause.FABRIC, "no such NIC");
                });
    WarmUp done = WarmUp.of(none, BOUND);
    assertEquals(Optional.of("no such NIC"), done.failure());
    assertEquals(0, done.messages());
    assertTrue(done.toString().endsWith("; then: no such NIC"), done.toString());
  }

  @Test
  void noTimeIsNoWarmUp() {
    try (Transport transport = open("efa", ProgressThreads.NEVER)) {
      Device device = watched(transport.devices().getFirst(), Optional.empty());
      assertEquals(0, WarmUp.of(device, Duration.ZERO).messages());
      assertEquals(List.of(), comms);
      assertThrows(IllegalArgumentException.class, () -> WarmUp.of(device, Duration.ofMillis(-1)));
    }
  }
}
