/**
 * What the engine asks for and the driver does: transfers, packets and tasks. The engine knows
 * nothing of the driver beyond this package, and the driver nothing of the engine.
 *
 * <p>Used with the endpoint's lock held.
 */
@NullMarked
package org.jofi.rdma.operation;

import org.jspecify.annotations.NullMarked;
