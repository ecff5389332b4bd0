/**
 * One-sided writes and reads, and flushes: requests in which the peer's software has no part. Used
 * with the endpoint's lock held.
 */
@NullMarked
package org.jofi.rdma.onesided;

import org.jspecify.annotations.NullMarked;
