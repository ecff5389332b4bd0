package org.jofi.rdma.message;

import java.util.StringJoiner;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.FabricErrno;
import org.jofi.rdma.endpoint.Failures;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.rdma.schedule.StripePlan;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/**
 * A request of which each stripe is one fabric operation, and in which the peer's software has no
 * part.
 *
 * <p>Two bitmaps of stripes tell how far it is: {@code posted}, so that posting again does nothing
 * twice, and {@code done}, those that are back. It is complete when all were posted and none is in
 * flight.
 */
abstract class StripedRequest extends Request {
  private final StripePlan plan = new StripePlan();
  private final DataProgress progress;
  private final DataProgress.Turn turn = new DataProgress.Turn();
  private int posted;
  private int done;

  StripedRequest(RequestQueue queue, int slot) {
    super(queue, slot);
    progress = queue.link().progress();
  }

  /** Its stripes, which are set before it is started. */
  final StripePlan plan() {
    return plan;
  }

  /** Now it has operations to post. */
  final void start() {
    posted = 0;
    done = 0;
    turn.open();
    begin();
    if (plan.stripes() == 0) {
      fail(new Failure(FailureCause.FABRIC, 0, operation(), "every data rail is out of use"));
    }
  }

  /** Posts a stripe: 0, or a negative errno. */
  abstract int post(int stripe);

  /** The port that a stripe goes over. */
  abstract RailPort port(int stripe);

  /** What errors call its operations. */
  abstract String operation();

  /** What the failure of an operation means to it. */
  Failure interpret(Failure fabric) {
    return fabric;
  }

  @Override
  protected final boolean postAll() {
    boolean all = true;
    for (int stripe = 0; stripe < plan.stripes() && isLive(); stripe++) {
      if ((posted & 1 << stripe) == 0) {
        int answer = post(stripe);
        if (answer == -FabricErrno.EAGAIN) {
          all = false;
        } else {
          posted |= 1 << stripe;
          if (answer == 0) {
            progress.post(plan.rail(stripe));
            posted();
          } else {
            fail(interpret(Failures.ofPost(operation(), port(stripe), -answer)));
          }
        }
      }
    }
    if (all) {
      progress.set(turn);
    } else {
      turn.open();
    }
    return all;
  }

  @Override
  public void completed(long cookie, long bytes) {
    returned();
    progress.complete(plan.rail((int) cookie));
    done |= 1 << (int) cookie;
    settle();
  }

  @Override
  public final void failed(long cookie, RailPort port, CompletionError error) {
    returned();
    fail(interpret(Failures.of(port, error)));
  }

  @Override
  protected final boolean isComplete() {
    return posted == (1 << plan.stripes()) - 1;
  }

  @Override
  protected final long progress() {
    return progress.before(turn);
  }

  @Override
  protected final boolean endsByItself() {
    return isComplete();
  }

  @Override
  protected final boolean isTimed() {
    return true;
  }

  /** The peer is told of none of its memory. */
  @Override
  protected final boolean isExposed() {
    return false;
  }

  @Override
  protected final String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int stripe = 0; stripe < plan.stripes(); stripe++) {
      if ((done & 1 << stripe) == 0) {
        text.add(
            "stripe %d of %d on %s %s"
                .formatted(
                    stripe,
                    plan.stripes(),
                    port(stripe).label(),
                    (posted & 1 << stripe) == 0
                        ? "not taken by the provider"
                        : "posted, not completed"));
      }
    }
    return text.toString();
  }
}
