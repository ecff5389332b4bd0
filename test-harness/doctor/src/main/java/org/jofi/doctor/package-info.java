/** What is right and wrong with a machine for RDMA between NICs and GPUs, and what to do. */
@NullMarked
package org.jofi.doctor;

import org.jspecify.annotations.NullMarked;
