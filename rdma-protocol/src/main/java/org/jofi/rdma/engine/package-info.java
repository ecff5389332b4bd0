/**
 * What one connection carries. Messages: the sending side finds the receives in its mailbox and
 * writes into them, the receiving side posts entries and counts stripes. One-sided writes and reads
 * of either side, and the receiving side's flushes. Used with the endpoint's lock held.
 */
@NullMarked
package org.jofi.rdma.engine;

import org.jspecify.annotations.NullMarked;
