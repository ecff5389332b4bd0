package org.jofi.rdma.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.operation.Transfer.State;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Walks the table of {@link Transfer}, event by event. */
class TransferTest {
  private static final Failure WHY = new Failure(FailureCause.FABRIC, 5, "fi_write", "it failed");

  private final List<String> told = new ArrayList<>();
  private final Model transfer = new Model(new Told());

  /** What becomes of a stripe that failed. */
  private State afterFailure = State.FAILED;

  private final class Told implements TransferListener {
    @Override
    public void completed(Transfer of, int stripe) {
      told.add("completed " + of.state(stripe));
    }

    @Override
    public boolean failed(
        Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
      told.add("failed, rail left: " + railLeft);
      assertFalse(of.isOut(), "it counts as out while it is told");
      if (afterFailure == State.DOUBTFUL) {
        of.move(stripe, State.DOUBTFUL);
      }
      return afterFailure == State.TO_POST;
    }

    @Override
    public void lost(Transfer of, int stripe, Failure why) {
      told.add("lost");
    }
  }

  private static final class Model extends Transfer {
    final List<String> changes = new ArrayList<>();

    Model(TransferListener listener) {
      super(listener, 4);
    }

    @Override
    protected boolean advance() {
      return true;
    }

    @Override
    protected void reset() {
      changes.clear();
    }

    @Override
    protected void changed(int stripe, State before, int beforeRail) {
      changes.add(
          "%d: %s %d, %s %d".formatted(stripe, before, beforeRail, state(stripe), rail(stripe)));
    }

    @Override
    public String railLabel(int stripe) {
      return "rail " + rail(stripe);
    }
  }

  /** One stripe, cut for rail 1, that a provider took. */
  private void post(boolean announces, boolean byWrite) {
    transfer.begin(Transfer.Kind.WRITE, 4096, null);
    if (announces) {
      transfer.announce(byWrite);
    }
    transfer.spread(64);
    assertTrue(transfer.isOut() && !transfer.isBound() && !transfer.isDone());
    transfer.bind(1, 64);
    assertEquals(State.TO_POST, transfer.state(0));
    assertTrue(transfer.isBound() && transfer.isOut() && !transfer.wasPosted());
    transfer.tried(0);
    transfer.move(0, State.OUT);
    assertTrue(transfer.isOut() && transfer.wasPosted() && !transfer.isDone());
    assertEquals("0: TO_POST 1, OUT 1", transfer.changes.getLast());
  }

  @Test
  void oneThatTellsOfItselfIsDoneWhenItCompletes() {
    post(true, true);
    assertTrue(transfer.endsByItself());
    transfer.complete(0);
    assertEquals(List.of("completed DONE"), told);
    assertTrue(transfer.isDone() && !transfer.isOut());
    assertEquals("", transfer.missing());
  }

  @Test
  void oneOfWhichNobodyIsToldIsDoneWhenItCompletes() {
    post(false, false);
    assertTrue(transfer.endsByItself());
    transfer.complete(0);
    assertTrue(transfer.isDone());
  }

  @Test
  void oneThatIsAnnouncedApartIsDoneWhenThatLeft() {
    post(true, false);
    assertFalse(transfer.endsByItself(), "it is to be announced");
    transfer.complete(0);
    assertEquals(List.of("completed WRITTEN"), told);
    assertFalse(transfer.isDone() || transfer.isOut() || transfer.endsByItself());
    transfer.move(0, State.ANNOUNCED);
    assertTrue(transfer.endsByItself());
    assertFalse(transfer.isDone());
    transfer.move(0, State.DONE);
    assertTrue(transfer.isDone());
  }

  @ParameterizedTest
  @EnumSource(names = {"TO_POST", "OUT", "LINGERING"})
  void oneThatFailedGoesAgainOverTheNextRail(State from) {
    post(true, true);
    transfer.move(0, from);
    afterFailure = State.TO_POST;
    assertTrue(transfer.fail(0, 3, WHY, Certainty.NOT_EXECUTED));
    assertEquals(State.TO_POST, transfer.state(0));
    assertEquals(3, transfer.rail(0));
    assertTrue(transfer.isOut());
    assertEquals(List.of("failed, rail left: true"), told);
  }

  @Test
  void oneThatFailedOverTheLastRailDoesNot() {
    post(true, true);
    afterFailure = State.TO_POST;
    assertFalse(transfer.fail(0, Transfer.ANY_RAIL, WHY, Certainty.UNKNOWN));
    assertEquals(State.FAILED, transfer.state(0));
    assertEquals(1, transfer.rail(0));
    assertFalse(transfer.isOut() || transfer.isDone());
    assertEquals("stripe 0 of 1 on rail 1, failed", transfer.missing());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneInDoubtIsAskedAboutUntilItIsAnswered(boolean arrived) {
    post(true, true);
    afterFailure = State.DOUBTFUL;
    assertFalse(transfer.fail(0, 2, WHY, Certainty.UNKNOWN));
    assertFalse(transfer.isOut() || transfer.isDone() || transfer.endsByItself());
    transfer.move(0, State.ASKED);
    assertTrue(transfer.askAgain());
    assertEquals(State.DOUBTFUL, transfer.state(0));
    transfer.move(0, State.ASKED);
    assertFalse(transfer.answered(0, 2, arrived), "an answer of another try");
    assertEquals(State.ASKED, transfer.state(0));
    assertTrue(transfer.answered(0, 1, arrived));
    assertFalse(transfer.answered(0, 1, arrived), "a second answer");
    assertFalse(transfer.askAgain());
    assertEquals(arrived, transfer.isDone());
    if (!arrived) {
      assertEquals(State.TO_POST, transfer.state(0));
      assertEquals(2, transfer.rail(0));
      assertTrue(transfer.completesOnDelivery(0) && !transfer.bringsData(0));
      transfer.move(0, State.OUT);
      transfer.complete(0);
      assertEquals(State.WRITTEN, transfer.state(0), "it is announced apart");
    }
  }

  @Test
  void whatIsCancelledNeverHappensAndWhatIsOutComesBack() {
    transfer.begin(Transfer.Kind.WRITE, 4096, null);
    transfer.spread(100);
    transfer.bind(0, 30);
    transfer.bind(1, 30);
    transfer.move(0, State.OUT);
    transfer.cancel();
    assertEquals(State.OUT, transfer.state(0));
    assertEquals(State.FAILED, transfer.state(1));
    assertTrue(transfer.isBound() && transfer.isOut());
    transfer.complete(0);
    assertFalse(transfer.isOut());
    assertFalse(transfer.isDone(), "the rest was dropped");
    transfer.begin(Transfer.Kind.WRITE, 4096, null);
    assertEquals(0, transfer.stripes());
    assertFalse(transfer.isOut());
  }

  @Test
  void oneThatMayLandIsOut() {
    post(true, true);
    transfer.move(0, State.LINGERING);
    assertEquals("0: OUT 1, LINGERING 1", transfer.changes.getLast());
    assertTrue(transfer.isOut());
    transfer.cancel();
    assertTrue(transfer.isOut(), "nobody can take it back");
    post(true, true);
    transfer.lose(0, WHY);
    assertEquals(List.of("lost"), told);
    assertTrue(transfer.isOut());
  }

  @Test
  void oneThatIsPlacedGoesOverAnyRailUntilItIsGivenToOne() {
    transfer.begin(Transfer.Kind.WRITE, 4096, null);
    assertEquals(0, transfer.place(Transfer.ANY_RAIL, 8, 16));
    assertEquals(1, transfer.place(2, 24, 0));
    assertEquals(4096 + 24, transfer.localAddress(1));
    transfer.moveTo(0, 3);
    assertEquals("0: TO_POST -1, TO_POST 3", transfer.changes.getLast());
    int changes = transfer.changes.size();
    transfer.moveTo(0, 3);
    assertEquals(changes, transfer.changes.size());
    assertEquals(0b11, transfer.in(State.TO_POST));
  }
}
