/** Two operating-system processes that move bytes over one provider of the installed libfabric. */
@NullMarked
package org.jofi.libfabric.peers;

import org.jspecify.annotations.NullMarked;
