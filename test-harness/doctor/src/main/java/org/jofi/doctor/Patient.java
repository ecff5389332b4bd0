package org.jofi.doctor;

import java.util.Optional;
import org.jofi.doctor.machine.Machine;

/**
 * The machine, and possibly the process, to examine.
 *
 * @param machine what the machine's files say
 * @param process this process; empty if the files are another machine's
 */
record Patient(Machine machine, Optional<LiveProcess> process) {}
