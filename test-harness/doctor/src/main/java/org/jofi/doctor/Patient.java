package org.jofi.doctor;

import java.util.Optional;
import org.jofi.doctor.machine.Machine;

/**
 * What is examined.
 *
 * @param machine what its files tell
 * @param process this process; empty if the files are another machine's
 */
record Patient(Machine machine, Optional<LiveProcess> process) {}
