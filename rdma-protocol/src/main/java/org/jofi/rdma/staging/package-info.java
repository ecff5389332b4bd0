/**
 * Host blocks that device memory is moved through where NICs cannot reach it. Nothing here knows a
 * driver: copies go through {@link org.jofi.fabric.DeviceCopier}.
 */
@NullMarked
package org.jofi.rdma.staging;

import org.jspecify.annotations.NullMarked;
