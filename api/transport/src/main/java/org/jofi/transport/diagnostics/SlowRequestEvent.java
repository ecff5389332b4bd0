package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/** JFR: a request took long, from its posting until it was over. */
@Name("org.jofi.SlowRequest")
@Label("Slow Request")
@Description("A request that took long; recording it reads a clock for each request")
@Category({"jofi", "Requests"})
@Enabled(false)
@Threshold("20 ms")
@StackTrace(false)
final class SlowRequestEvent extends Event {
  @Label("Communicator")
  String label = "";

  @Label("Kind")
  String kind = "";

  @Label("Length")
  @DataAmount
  long bytes;

  @Label("Time to Match")
  @Timespan
  long matching;

  @Label("Time to Move")
  @Timespan
  long moving;

  transient long postedAt;
  transient long matchedAt;
  transient boolean isMatched;

  private SlowRequestEvent() {}

  static SlowRequestEvent begun() {
    SlowRequestEvent event = new SlowRequestEvent();
    event.begin();
    return event;
  }

  /** Loaded with the class, which is when somebody records. */
  private static final EventType TYPE = EventType.getEventType(SlowRequestEvent.class);

  static boolean isOn() {
    return TYPE.isEnabled();
  }

  void commit(String label, String kind, long bytes, long matching, long moving) {
    end();
    if (!shouldCommit()) {
      return;
    }
    this.label = label;
    this.kind = kind;
    this.bytes = bytes;
    this.matching = matching;
    this.moving = moving;
    commit();
  }
}
