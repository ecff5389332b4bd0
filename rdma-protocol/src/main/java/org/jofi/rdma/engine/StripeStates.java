package org.jofi.rdma.engine;

/**
 * What became of each stripe of a message that is being sent, as bitmaps, so that nothing is
 * allocated. Used with the endpoint's lock held.
 *
 * <pre>
 * write with immediate data:  posted --&gt; done
 * write, then announcement:   posted --&gt; written --&gt; announced --&gt; done
 * such a write failed:        posted again
 * one with data failed:       posted --&gt; doubtful --&gt; asked --&gt; done
 *                                                     \--&gt; again: posted, then announced
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
  private int all;
  private int written;
  private int announced;
  private int doubtful;
  private int asked;
  private int again;
  private int done;

  /** Begins anew, without stripes. */
  void start() {
    all = 0;
    written = 0;
    announced = 0;
    doubtful = 0;
    asked = 0;
    again = 0;
    done = 0;
  }

  /** One more, which is not written. */
  void add(int stripe) {
    all |= 1 << stripe;
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
   * Which of the stripes that are posted need nothing more to be posted, unless something fails.
   *
   * @param byWrite those that are done with their write
   */
  int endingByThemselves(int posted, int byWrite) {
    return done | announced | (posted & byWrite & ~doubtful);
  }

  boolean isDone(int stripe) {
    return (done & 1 << stripe) != 0;
  }

  boolean allDone() {
    return done == all;
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

  boolean isDoubtful(int stripe) {
    return (doubtful & 1 << stripe) != 0;
  }

  /** The receiver answered whether a doubtful one arrived: it is done, or to be posted again. */
  void answered(int stripe, boolean arrived) {
    int bit = 1 << stripe;
    doubtful &= ~bit;
    asked &= ~bit;
    if (arrived) {
      done |= bit;
    } else {
      again |= bit;
    }
  }

  /** Questions without an answer, which may be lost, are to be asked again; whether there are. */
  boolean askAgain() {
    asked &= ~doubtful;
    return doubtful != 0;
  }

  /** For errors: one that is not done. */
  String describe(int stripe, boolean isPosted) {
    int bit = 1 << stripe;
    if (!isPosted) {
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
