/** The folder that NCCL loads the plugin from, and how it is laid out. */
@NullMarked
package org.jofi.nccl.layout;

import org.jspecify.annotations.NullMarked;
