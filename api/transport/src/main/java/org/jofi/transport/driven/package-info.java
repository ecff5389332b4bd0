/**
 * What the API's own users in this project may ask of a communicator besides: NCCL's plugin, which
 * serves many communicators with one thread of NCCL's.
 */
@NullMarked
package org.jofi.transport.driven;

import org.jspecify.annotations.NullMarked;
