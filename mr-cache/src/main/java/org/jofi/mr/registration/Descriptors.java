package org.jofi.mr.registration;

/** What posting calls take for registered memory of this side. */
public interface Descriptors {

  /** The descriptor of the memory on a rail. */
  long descriptor(int rail);
}
