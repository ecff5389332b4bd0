/** The registration cache: finds, makes, keeps and closes registrations that users share. */
@NullMarked
package org.jofi.mr.cache;

import org.jspecify.annotations.NullMarked;
