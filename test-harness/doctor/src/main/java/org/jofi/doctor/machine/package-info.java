/** What a machine is made of, as its sysfs and procfs tell. */
@NullMarked
package org.jofi.doctor.machine;

import org.jspecify.annotations.NullMarked;
