/** The hardware and kernel of a machine, as sysfs and procfs describe them. */
@NullMarked
package org.jofi.doctor.machine;

import org.jspecify.annotations.NullMarked;
