/** Registrations by role and scope, and the registration cache. */
@NullMarked
package org.jofi.mr;

import org.jspecify.annotations.NullMarked;
