package org.jofi.rdma.message;

import java.util.Arrays;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * The state of each stripe of a message that is being sent, as bitmaps, so that no stripe is posted
 * twice and nothing is allocated. Used with the endpoint's lock held.
 *
 * <pre>
 * write with immediate data:  posted --&gt; done
 * write, then announcement:   posted --&gt; written --&gt; announced --&gt; done
 * such a write failed:        to be posted again
 * one with data failed:       posted --&gt; doubtful --&gt; asked --&gt; done
 *                                                     \--&gt; again: to be posted, then announced
 * </pre>
 *
 * <p><b>Why a failed write is asked about.</b> It may have arrived whole, with its immediate data.
 * Then the receiver may have reported the message, and its memory may hold something else by the
 * time that a second write lands. A receiver that answers that it lacks the stripe does not count
 * its immediate data any more, however late that comes, but only the message which says that the
 * stripe was written again: until then the same bytes may be written to the same place as often as
 * need be. A write that is announced apart is safe without asking: nobody was told of it.
 */
final class StripeStates {
  private final int[] tries = new int[ProtocolLimits.MAX_RAILS];
  private int all;
  private int posted;
  private int written;
  private int announced;
  private int doubtful;
  private int asked;
  private int again;
  private int done;
  private int late;

  /** Begins anew, with so many stripes, none of them posted. */
  void start(int stripes) {
    all = (1 << stripes) - 1;
    posted = 0;
    written = 0;
    announced = 0;
    doubtful = 0;
    asked = 0;
    again = 0;
    done = 0;
    late = 0;
    Arrays.fill(tries, 0);
  }

  boolean isToBePosted(int stripe) {
    return (posted & 1 << stripe) == 0;
  }

  boolean isToBeAnnounced(int stripe) {
    return (written & ~announced & 1 << stripe) != 0;
  }

  boolean isToBeAskedFor(int stripe) {
    return (doubtful & ~asked & 1 << stripe) != 0;
  }

  /** Whether it is written a second time, because the receiver lacks it. */
  boolean isRepeated(int stripe) {
    return (again & 1 << stripe) != 0;
  }

  /**
   * Whether nothing more has to be posted for it, unless something fails.
   *
   * @param byWrite whether it is done with its write
   */
  boolean endsByItself(int stripe, boolean byWrite) {
    int inFlight = announced | (byWrite ? posted & ~doubtful : 0);
    return ((done | inFlight) & 1 << stripe) != 0;
  }

  boolean isDone(int stripe) {
    return (done & 1 << stripe) != 0;
  }

  boolean allDone() {
    return done == all;
  }

  /** How often it was posted, or refused. */
  int tries(int stripe) {
    return tries[stripe];
  }

  void tried(int stripe) {
    tries[stripe]++;
  }

  void posted(int stripe) {
    posted |= 1 << stripe;
  }

  void written(int stripe) {
    written |= 1 << stripe;
  }

  void announced(int stripe) {
    announced |= 1 << stripe;
  }

  void asked(int stripe) {
    asked |= 1 << stripe;
  }

  void done(int stripe) {
    done |= 1 << stripe;
  }

  /** Its write failed, but may have arrived, and told the receiver so. */
  void doubtful(int stripe) {
    doubtful |= 1 << stripe;
  }

  /** Its write failed, and nobody was told of it. */
  void failed(int stripe) {
    posted &= ~(1 << stripe);
  }

  /**
   * The receiver answered whether it arrived: now it is done, or to be posted again.
   *
   * @param ofTry what was asked about
   * @return whether that was asked
   */
  boolean answered(int stripe, int ofTry, boolean arrived) {
    int bit = 1 << stripe;
    if ((doubtful & bit) == 0 || tries[stripe] != ofTry) {
      return false;
    }
    doubtful &= ~bit;
    asked &= ~bit;
    if (arrived) {
      done |= bit;
    } else {
      again |= bit;
      posted &= ~bit;
    }
    return true;
  }

  /** Questions without an answer, which may be lost, are to be asked again; whether there are. */
  boolean askAgain() {
    asked &= ~doubtful;
    return doubtful != 0;
  }

  /** Stripes that were to be posted at the call before this as well: a bitmap. */
  int takeLate() {
    int waiting = all & ~posted;
    int twice = waiting & late;
    late = waiting;
    return twice;
  }

  /** For errors. */
  String describe(int stripe) {
    int bit = 1 << stripe;
    if ((posted & bit) == 0) {
      return "not taken by the provider";
    }
    if ((doubtful & bit) != 0) {
      return "failed, and the peer did not tell whether it arrived";
    }
    if ((announced & bit) != 0) {
      return "announced, not completed";
    }
    return (written & bit) != 0 ? "written, not announced" : "posted, not completed";
  }
}
