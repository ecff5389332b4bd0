package org.jofi.async;

import static org.jofi.async.Links.PATIENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jofi.async.Links.Link;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Poller;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How communicators and drivers end, and what becomes of futures then. */
@Timeout(120)
class EndingTest {
  private static final int TAG = 4;
  private static final int LONG = 100_000;
  private static final Set<FailureCause> ENDED =
      Set.of(FailureCause.CLOSED, FailureCause.PEER_CLOSED);

  @Test
  void aCloseFailsWhatIsInFlightAndNothingElse() {
    try (Links links = Links.simulated()) {
      Link closing = links.connect();
      Link staying = links.connect();
      MemorySegment memory = links.memory(LONG, 1);
      List<AsyncRequest> requests = new ArrayList<>();
      int more = links.device.properties().limits().receivesInFlight() + 20;
      for (int i = 0; i < more; i++) {
        requests.add(closing.in().receive(memory, TAG));
      }
      AsyncRequest other = staying.in().receive(memory, TAG);
      CompletableFuture<Void> closed = closing.in().closeAsync();
      for (AsyncRequest request : requests) {
        assertEquals(FailureCause.CLOSED, DriverTest.causeOf(request));
      }
      Links.soon(closed);
      Links.soon(closing.in().closeAsync());
      Links.soon(closing.in().abortAsync());
      assertEquals(FailureCause.CLOSED, DriverTest.causeOf(closing.in().receive(memory, TAG)));
      assertEquals(FailureCause.PEER_CLOSED, DriverTest.causeOf(closing.out().send(memory, TAG)));
      staying.out().send(memory, TAG).await(PATIENCE);
      assertEquals(LONG, other.await(PATIENCE));
    }
  }

  @Test
  void anAbortDoesNotWaitForThePeer() {
    try (Links links = Links.simulated()) {
      Link link = links.connect();
      MemorySegment memory = links.memory(LONG, 1);
      AsyncRequest send = link.out().send(memory, TAG);
      Links.soon(link.out().abortAsync());
      assertEquals(FailureCause.ABORTED, DriverTest.causeOf(send));
      assertEquals(FailureCause.PEER_ABORTED, DriverTest.causeOf(link.in().receive(memory, TAG)));
    }
  }

  @Test
  void aDriverIsClosedTwiceAndLeavesNoThread() throws Exception {
    Links links = Links.simulated();
    Link link = links.connect();
    MemorySegment memory = links.memory(LONG, 1);
    AsyncRequest receive = link.in().receive(memory, TAG);
    try (ListenComm listener = links.device.listen()) {
      CompletableFuture<AsyncReceiver> accepting = links.driver.accept(listener);
      assertTrue(driverThreads() > 0);

      Thread.currentThread().interrupt();
      links.driver.close();
      assertTrue(Thread.interrupted(), "it stays interrupted");
      links.driver.close();
      Links.soon(links.driver.closeAsync());

      // Both ends are closed at once.
      assertTrue(ENDED.contains(DriverTest.causeOf(receive)));
      TransportException gone = assertThrows(TransportException.class, () -> Links.soon(accepting));
      assertEquals(FailureCause.CLOSED, gone.failure().cause());
      gone =
          assertThrows(TransportException.class, () -> Links.soon(links.driver.accept(listener)));
      assertEquals(FailureCause.CLOSED, gone.failure().cause());
      gone =
          assertThrows(
              TransportException.class, () -> Links.soon(links.driver.connect(listener.handle())));
      assertEquals(FailureCause.CLOSED, gone.failure().cause());
    }
    assertEquals(FailureCause.CLOSED, DriverTest.causeOf(link.out().send(memory, TAG)));
    assertFalse(receive.cancel(true));
    assertTrue(links.driver.failure().isEmpty());
    Links.await("the thread's end", () -> driverThreads() == 0);
    links.close();
  }

  private static long driverThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("jofi-driver"))
        .count();
  }

  @Test
  void aTransportMayBeClosedFirst() {
    Links links = Links.simulated();
    Link link = links.connect();
    MemorySegment memory = links.memory(LONG, 1);
    AsyncRequest receive = link.in().receive(memory, TAG);
    AsyncRequest send = link.out().send(memory, TAG + 1);
    links.transport.close();
    assertTrue(ENDED.contains(DriverTest.causeOf(receive)));
    assertTrue(ENDED.contains(DriverTest.causeOf(send)));
    assertEquals(FailureCause.CLOSED, DriverTest.causeOf(link.out().send(memory, TAG)));
    assertTrue(links.driver.failure().isEmpty(), links.driver.failure()::toString);
    links.close();
  }

  /** Whatever it was at: none of its futures stays open. */
  @Test
  void anErrorThatEndsTheThreadFailsEveryFuture() throws Exception {
    try (Links links = Links.simulated()) {
      OutOfMemoryError error = new OutOfMemoryError("as a test has it");
      error.setStackTrace(new StackTraceElement[0]);
      AtomicBoolean now = new AtomicBoolean();
      Device device = failing(links.device, now, error);
      AtomicReference<Thread> thread = new AtomicReference<>();
      DriverOptions options =
          DriverOptions.builder()
              .waitingRequests(4)
              .threadFactory(
                  task -> {
                    thread.set(Thread.ofPlatform().unstarted(task));
                    return thread.get();
                  })
              .build();
      Driver driver = Driver.start(device, options);
      AsyncSender out;
      AsyncReceiver in;
      try (ListenComm listener = links.device.listen()) {
        CompletableFuture<AsyncReceiver> accepted = links.driver.accept(listener);
        out = Links.soon(driver.connect(listener.handle()));
        in = Links.soon(accepted);
        CompletableFuture<AsyncReceiver> waiting = links.driver.accept(listener);
        assertTrue(waiting.cancel(true));
      }
      MemorySegment memory = links.memory(LONG, 1);
      List<AsyncRequest> requests = new ArrayList<>();
      for (int i = 0; i < links.device.properties().limits().sendsInFlight() + 4; i++) {
        requests.add(out.send(memory, TAG));
      }
      Thread parked = Thread.startVirtualThread(() -> requests.add(out.send(memory, TAG)));
      now.set(true);
      assertTrue(parked.join(PATIENCE));
      for (AsyncRequest request : requests) {
        TransportException failure =
            assertThrows(TransportException.class, () -> request.await(PATIENCE));
        assertEquals(FailureCause.ABORTED, failure.failure().cause());
        assertSame(error, failure.getCause());
      }
      assertEquals(FailureCause.PEER_ABORTED, DriverTest.causeOf(in.receive(memory, TAG)));
      Links.soon(out.closeAsync());
      driver.close();
      assertSame(error, driver.failure().orElseThrow());
      assertTrue(thread.get().join(PATIENCE));
      assertEquals(FailureCause.ABORTED, DriverTest.causeOf(out.send(memory, TAG)));
      // The other driver of the device goes on.
      Link other = links.connect();
      AsyncRequest receive = other.in().receive(memory, TAG);
      other.out().send(memory, TAG).await(PATIENCE);
      assertEquals(LONG, receive.await(PATIENCE));
    }
  }

  /** The device, whose pollers end with an error once they are told to. */
  private static Device failing(Device device, AtomicBoolean now, Error error) {
    return (Device)
        Proxy.newProxyInstance(
            Device.class.getClassLoader(),
            new Class<?>[] {Device.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("equals")) {
                return device.equals(arguments[0]);
              }
              Object result = call(device, method, arguments);
              return result instanceof Poller poller ? failing(poller, now, error) : result;
            });
  }

  private static Poller failing(Poller poller, AtomicBoolean now, Error error) {
    return (Poller)
        Proxy.newProxyInstance(
            Poller.class.getClassLoader(),
            new Class<?>[] {Poller.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("poll") && now.get()) {
                throw error;
              }
              return call(poller, method, arguments);
            });
  }

  private static Object call(Object target, java.lang.reflect.Method method, Object[] arguments)
      throws Throwable {
    try {
      method.setAccessible(true);
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Test
  @SuppressWarnings("try") // The listener is closed before.
  void aConnectionThatIsGivenUpIsNotLostToTheNext() {
    try (Links links = Links.simulated();
        ListenComm listener = links.device.listen()) {
      CompletableFuture<AsyncReceiver> first = links.driver.accept(listener);
      CompletableFuture<AsyncReceiver> second = links.driver.accept(listener);
      assertTrue(first.cancel(true));
      AsyncSender out = Links.soon(links.driver.connect(listener.handle()));
      AsyncReceiver in = Links.soon(second);
      MemorySegment memory = links.memory(100, 1);
      AsyncRequest send = out.send(memory, TAG);
      assertEquals(100, in.receive(memory, TAG).await(PATIENCE));
      assertEquals(100, send.await(PATIENCE));

      CompletableFuture<AsyncReceiver> third = links.driver.accept(listener);
      listener.close();
      TransportException closed = assertThrows(TransportException.class, () -> Links.soon(third));
      assertEquals(FailureCause.CLOSED, closed.failure().cause());
      TransportException refused =
          assertThrows(
              TransportException.class, () -> Links.soon(links.driver.connect(listener.handle())));
      assertEquals(FailureCause.REFUSED, refused.failure().cause());
    }
  }

  @Test
  @SuppressWarnings("try") // A driver is closed before.
  void aDriverOwnsWhatNobodyElseHas() {
    try (Links links = Links.simulated();
        Links others = Links.simulated();
        ListenComm listener = links.device.listen();
        Driver second = Driver.start(links.device)) {
      assertThrows(IllegalArgumentException.class, () -> others.driver.accept(listener));
      var attempt = links.device.connect(listener.handle());
      var accepted = links.driver.accept(listener);
      var await = new org.jofi.transport.Await();
      var comm = await.connection(attempt, PATIENCE);
      assertThrows(IllegalArgumentException.class, () -> others.driver.own(comm));
      AsyncSender out = second.own(comm);
      assertThrows(IllegalArgumentException.class, () -> second.own(comm));
      assertThrows(IllegalArgumentException.class, () -> links.driver.own(comm));
      assertEquals(comm.label(), out.label());
      MemorySegment memory = links.memory(100, 1);
      AsyncRequest send = out.send(memory, TAG);
      assertEquals(100, Links.soon(accepted).receive(memory, TAG).await(PATIENCE));
      assertEquals(100, send.await(PATIENCE));
      second.close();
      assertThrows(IllegalStateException.class, () -> second.own(comm));
      assertThrows(IllegalStateException.class, () -> links.driver.own(comm));
      assertInstanceOf(
          IllegalArgumentException.class,
          assertThrows(
              RuntimeException.class,
              () ->
                  Driver.start(
                      links.device,
                      DriverOptions.builder()
                          .threadFactory(Thread.ofVirtual().factory())
                          .build())));
    }
  }
}
