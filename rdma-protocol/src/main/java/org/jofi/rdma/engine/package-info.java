/**
 * The messages of one end of a connection. They ask for operations ({@link
 * org.jofi.rdma.operation}) and post none. Used with the endpoint's lock held.
 */
@NullMarked
package org.jofi.rdma.engine;

import org.jspecify.annotations.NullMarked;
