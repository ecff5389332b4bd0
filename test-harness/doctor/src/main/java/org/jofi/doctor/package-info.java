/** Finds what keeps a machine from RDMA between NICs and GPUs, and what to do about it. */
@NullMarked
package org.jofi.doctor;

import org.jspecify.annotations.NullMarked;
