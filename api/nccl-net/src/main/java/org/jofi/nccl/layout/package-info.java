/** Makes the folder that NCCL loads the plugin from. */
@NullMarked
package org.jofi.nccl.layout;

import org.jspecify.annotations.NullMarked;
