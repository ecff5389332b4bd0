/**
 * One end of a connection: its messages, one-sided operations and flushes, how it closes, and
 * whether the peer is alive. It asks for operations ({@link org.jofi.rdma.operation}) and posts
 * none. Used with the endpoint's lock held.
 */
@NullMarked
package org.jofi.rdma.engine;

import org.jspecify.annotations.NullMarked;
