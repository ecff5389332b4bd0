package org.jofi.transport.diagnostics;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** JFR: a thread waited for long. */
@Name("org.jofi.Stall")
@Label("Stall")
@Description("A thread waited")
@Category({"jofi", "Waits"})
@Threshold("200 ms")
@StackTrace(false)
public final class StallEvent extends Event {
  @Label("Who")
  String who = "";

  @Label("Waits For")
  String what = "";

  private StallEvent() {}

  static StallEvent begun() {
    StallEvent event = new StallEvent();
    event.begin();
    return event;
  }

  /**
   * Ends the wait, before that is described.
   *
   * @return whether it was long enough to be told
   */
  public boolean isLong() {
    end();
    return shouldCommit();
  }

  /**
   * Ends it, unless it has ended.
   *
   * @param who who waited
   * @param what what for
   */
  public void commit(String who, String what) {
    end();
    if (!shouldCommit()) {
      return;
    }
    this.who = who;
    this.what = what;
    commit();
  }
}
