package org.jofi.rdma.driver;

/** Something that left over a rail, and of whose arrival nothing is known yet. */
interface Unanswered {
  /** Its place among those that went over its rail. */
  long place();

  /** It arrived: that was told, or that of another which followed it. */
  void arrived();

  /** It may not have arrived, and never will if it did not: it goes once more. */
  void goOverAnother();
}
