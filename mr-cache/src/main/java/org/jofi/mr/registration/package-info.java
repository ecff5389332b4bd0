/**
 * What users of registrations see: ranges of memory, their registrations, and what can go wrong.
 */
@NullMarked
package org.jofi.mr.registration;

import org.jspecify.annotations.NullMarked;
