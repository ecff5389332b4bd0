/**
 * Requests of a communicator: how each fares, what it has under way, and how it ends. What one does
 * is its strategy's. Used with the endpoint's lock held.
 */
@NullMarked
package org.jofi.rdma.request;

import org.jspecify.annotations.NullMarked;
