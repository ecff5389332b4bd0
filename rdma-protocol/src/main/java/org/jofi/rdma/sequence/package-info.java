/**
 * Numbers that wrap, windows over them, and ids that are used again. Everything here is for one
 * thread at a time, and allocates nothing but when it is made.
 */
@NullMarked
package org.jofi.rdma.sequence;

import org.jspecify.annotations.NullMarked;
