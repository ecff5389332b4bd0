package org.jofi.cli.soak;

/** What can go wrong with rails. */
interface RailFaults {
  /** The link of a rank is down. */
  void cut(int rank, int rail);

  /** All that a rank sends over a rail is lost. */
  void swallow(int rank, int rail);

  /** Some of what a rank sends over a rail is lost. */
  void lose(int rank, int rail, int percent);

  /** What a rank sends over a rail has so small a part of its rate. */
  void slow(int rank, int rail, int part);

  /** A rail of a rank is sound again, whatever was wrong. */
  void mend(int rank, int rail);
}
