/**
 * Multi-rail endpoints: data rails and control rails, each with an endpoint and an address vector
 * of its own, and a completion queue per NIC, under one lock.
 *
 * <p>Everything here is used with that lock held. A completion is passed only to the owner of its
 * operation. Nothing is posted while a queue delivers: operations that follow from a completion are
 * queued in {@link org.jofi.rdma.operation.Tasks}. What is looked at from time to time is told the
 * time in which this side looked, in nanoseconds.
 */
@NullMarked
package org.jofi.rdma.driver;

import org.jspecify.annotations.NullMarked;
