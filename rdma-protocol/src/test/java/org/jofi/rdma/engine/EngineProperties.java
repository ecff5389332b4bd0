package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.Size;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;

/** The engine by itself, two ends and a model of what is between them. */
class EngineProperties {
  private static final int TAGS = 3;
  private static final int MOST_MESSAGES = 12;
  private static final int MOST_STEPS = 10_000;
  private static final EagerGrant[] GRANTS = {
    EagerGrant.NONE,
    new EagerGrant(1, 64),
    new EagerGrant(2, 24),
    new EagerGrant(4, 64),
    new EagerGrant(64, 40)
  };

  /** One run, as its choices make it. */
  private static final class Run {
    final Choices choices;
    final ModelLink link;
    final List<Sent> sent = new ArrayList<>();
    final List<Group> groups = new ArrayList<>();
    private final boolean fits;
    int receives;

    /** A message. */
    record Sent(long id, int number, int bytes, int tag) {}

    /** A receive of a group. */
    record Place(int number, int bytes, int tag) {}

    /** Receives that were posted together. */
    record Group(long id, List<Place> places) {}

    /**
     * @param fits whether no message is longer than its receive
     */
    Run(byte[] bytes, boolean faults, boolean fits) {
      this.fits = fits;
      choices = new Choices(bytes);
      int kind = choices.of(4);
      EagerGrant eager = GRANTS[choices.of(GRANTS.length)];
      link = new ModelLink(choices, kind % 2 == 0, kind < 2, faults, eager);
    }

    void send() {
      int bytes = choices.of(ModelLink.MOST_BYTES + 1);
      int tag = choices.of(TAGS);
      send(fits ? (int) Math.min(bytes, room(tag)) : bytes, tag);
    }

    private void send(int bytes, int tag) {
      int number = sent.size();
      long id = link.send(number, bytes, tag);
      // Once a side failed, so does what is posted there: with an id.
      assertTrue(id > 0, () -> "a send was refused with " + id);
      sent.add(new Sent(id, number, bytes, tag));
    }

    /** How much the receive takes that the next send of a tag ends in, as far as it is posted. */
    private long room(int tag) {
      long rank = sent.stream().filter(send -> send.tag == tag).count();
      return places(tag).skip(rank).mapToLong(Place::bytes).findFirst().orElse(Long.MAX_VALUE);
    }

    /** How long the send is that ends in the next receive of a tag, as far as it is posted. */
    private int needed(int tag, long before) {
      long rank = before + places(tag).count();
      return sent.stream()
          .filter(send -> send.tag == tag)
          .skip(rank)
          .mapToInt(Sent::bytes)
          .findFirst()
          .orElse(0);
    }

    /** The receives of a tag, in the order in which they were posted. */
    private Stream<Place> places(int tag) {
      return groups.stream()
          .flatMap(group -> group.places.stream())
          .filter(place -> place.tag == tag);
    }

    /** Whether a message is longer than its receive. */
    boolean isAnyTooLong() {
      for (int tag = 0; tag < TAGS; tag++) {
        List<Place> places = places(tag).toList();
        for (int rank = 0; rank < places.size(); rank++) {
          if (ofRank(tag, rank).bytes > places.get(rank).bytes) {
            return true;
          }
        }
      }
      return false;
    }

    void receive() {
      int count = 1 + choices.of(3);
      ModelMemory[] into = new ModelMemory[count];
      long[] bytes = new long[count];
      int[] tags = new int[count];
      List<Place> places = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        into[i] = link.landing(receives);
        bytes[i] = choices.of(ModelLink.MOST_BYTES + 1);
        tags[i] = choices.of(TAGS);
        if (fits) {
          int tag = tags[i];
          long before = places.stream().filter(place -> place.tag == tag).count();
          bytes[i] = Math.max(bytes[i], needed(tag, before));
        }
        places.add(new Place(receives++, (int) bytes[i], tags[i]));
      }
      long id = link.receive(into, bytes, tags);
      assertTrue(id > 0, () -> "a receive was refused with " + id);
      groups.add(new Group(id, places));
    }

    /** Sends and receives while there are choices, and then lets all of it arrive. */
    void run() {
      while (choices.areLeft()) {
        switch (choices.of(4)) {
          case 0 -> link.step();
          case 1 -> link.step();
          case 2 -> {
            if (sent.size() < MOST_MESSAGES) {
              send();
            }
          }
          default -> {
            if (receives < MOST_MESSAGES) {
              receive();
            }
          }
        }
      }
      link.end();
      pairUp();
      int steps = 0;
      while (link.step()) {
        assertTrue(++steps < MOST_STEPS, () -> "P6: it does not come to its end: " + pending());
        link.tellOfFailure();
      }
    }

    /** Every send has a receive, and every receive a send. */
    private void pairUp() {
      int[] more = new int[TAGS];
      groups.forEach(group -> group.places.forEach(place -> more[place.tag]++));
      sent.forEach(send -> more[send.tag]--);
      for (int tag = 0; tag < TAGS; tag++) {
        for (; more[tag] > 0; more[tag]--) {
          send((int) Math.min(8, room(tag)), tag);
        }
        for (; more[tag] < 0; more[tag]++) {
          int bytes = Math.max(16, needed(tag, 0));
          Place place = new Place(receives, bytes, tag);
          long id =
              link.receive(
                  new ModelMemory[] {link.landing(receives++)},
                  new long[] {bytes},
                  new int[] {tag});
          assertTrue(id > 0);
          groups.add(new Group(id, List.of(place)));
        }
      }
    }

    /** Everything succeeded: each message is in the receive of its rank. */
    void assertAllIsInPlace() {
      Map<Integer, List<Place>> places = new HashMap<>();
      long[] lengths = new long[8];
      for (Group group : groups) {
        long result = link.receiving.test(group.id, lengths);
        assertTrue(
            result >= 0,
            () ->
                "P6: a receive came to %d, %s: %s"
                    .formatted(result, link.receiving.failure(), missing(group.id)));
        for (int i = 0; i < group.places.size(); i++) {
          Place place = group.places.get(i);
          List<Place> ofTag = places.computeIfAbsent(place.tag, _ -> new ArrayList<>());
          Sent send = ofRank(place.tag, ofTag.size());
          ofTag.add(place);
          assertEquals(send.bytes, lengths[i], "P12: the length of receive " + place.number);
          link.assertHolds(place.number, send.number, send.bytes);
        }
      }
      for (Sent send : sent) {
        long result = link.sending.test(send.id);
        assertTrue(
            result >= 0, () -> "P6: a send came to " + result + ", " + link.sending.failure());
      }
    }

    private static String missing(RequestQueue requests, long id) {
      Request request = requests.find(id);
      return request == null || requests.failure(id) != null
          ? "over"
          : request.strategy().missing();
    }

    private String missing(long receive) {
      return missing(link.receiving.receiver.requests(), receive);
    }

    /** What is in flight, for errors. */
    private String pending() {
      StringBuilder text = new StringBuilder();
      for (Sent send : sent) {
        text.append("\n%s: %s".formatted(send, missing(link.sending.sender.requests(), send.id)));
      }
      groups.forEach(group -> text.append("\n%s: %s".formatted(group, missing(group.id))));
      return text.toString();
    }

    private Sent ofRank(int tag, int rank) {
      return sent.stream().filter(send -> send.tag == tag).skip(rank).findFirst().orElseThrow();
    }

    /** Every request of an end that failed came to something, and says why if it failed. */
    void assertWhatFailedIsOver() {
      long[] lengths = new long[8];
      for (Group group : groups) {
        long result = link.receiving.test(group.id, lengths);
        assertTrue(
            result != Result.IN_PROGRESS || link.receiving.failure() == null,
            "P6: a receive is not over");
        assertTrue(result >= Result.IN_PROGRESS || link.receiving.failure(group.id) != null);
      }
      for (Sent send : sent) {
        long result = link.sending.test(send.id);
        assertTrue(
            result != Result.IN_PROGRESS || link.sending.failure() == null,
            "P6: a send is not over");
        assertTrue(result >= Result.IN_PROGRESS || link.sending.failure(send.id) != null);
      }
    }
  }

  /**
   * P1, P2, P6, P7, P9, P12: in any order, refused for a while, and not delivered when complete.
   */
  @Property(tries = 4_000)
  void messagesEndInTheReceivesOfTheirRank(@ForAll @Size(max = 120) byte[] choices) {
    Run run = new Run(choices, false, true);
    run.run();
    run.assertAllIsInPlace();
    run.link.assertQuiet();
  }

  /**
   * P1, P2, P5, P6, P7, P9: operations fail, with and without having happened; some arrive twice.
   */
  @Property(tries = 4_000)
  void whatFailsIsRepeatedWithoutHarm(@ForAll @Size(max = 160) byte[] choices) {
    Run run = new Run(choices, true, true);
    run.run();
    if (run.link.sending.failure() == null && run.link.receiving.failure() == null) {
      run.assertAllIsInPlace();
      run.link.assertQuiet();
    } else {
      run.assertWhatFailedIsOver();
    }
  }

  /**
   * A short message is too long for a receive whose entries are still with the provider. Those that
   * follow it, of the same tag, went into later receives once, and what the peer wrote there by its
   * own count landed in memory that was handed back.
   */
  @Example
  void whatFollowsOneThatIsTooLongIsForNoOtherReceive() {
    aMessageThatIsTooLongFailsItsSide(
        new byte[] {
          0, -2, -1, 1, 0, 0, 0, 0, 0, -1, 1, 1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 1, 2, 0, 0, 0, 2, 0, 1,
          1, 0, 0, 0, 2, 0, 1, 2, 0, 1, 0, 0, 1, 0, 1
        });
  }

  /** A message that is longer than its receive fails one side, and with it all that waits there. */
  @Property(tries = 4_000)
  void aMessageThatIsTooLongFailsItsSide(@ForAll @Size(max = 120) byte[] choices) {
    Run run = new Run(choices, false, false);
    run.run();
    if (!run.isAnyTooLong()) {
      run.assertAllIsInPlace();
      run.link.assertQuiet();
      return;
    }
    run.assertWhatFailedIsOver();
    List<FailureCause> causes =
        Stream.of(run.link.sending.failure(), run.link.receiving.failure())
            .filter(Objects::nonNull)
            .map(Failure::cause)
            .toList();
    assertTrue(causes.contains(FailureCause.TRUNCATED), causes::toString);
  }

  /** The same, more often. */
  @Property(tries = 20_000)
  @Tag("long")
  void messagesEndInTheReceivesOfTheirRankAlways(@ForAll @Size(max = 120) byte[] choices) {
    messagesEndInTheReceivesOfTheirRank(choices);
  }

  /** The same, more often. */
  @Property(tries = 50_000)
  @Tag("long")
  void whatFailsIsRepeatedWithoutHarmOften(@ForAll @Size(max = 160) byte[] choices) {
    whatFailsIsRepeatedWithoutHarm(choices);
  }

  /** P14: the engine has no time and no chance of its own. */
  @Property(tries = 500)
  void theSameInputsMakeTheSameOperations(@ForAll @Size(max = 120) byte[] choices) {
    Run one = new Run(choices, true, true);
    one.run();
    Run other = new Run(choices, true, true);
    other.run();
    assertEquals(one.link.trace(), other.link.trace());
  }
}
