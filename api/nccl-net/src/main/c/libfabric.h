// libfabric, loaded before any Java code of jofi's runs.
#ifndef LIBFABRIC_H
#define LIBFABRIC_H

#include <limits.h>
#include <stdbool.h>

enum { LIBFABRIC_BYTES = PATH_MAX + 32 };

// Whether the library in the plugin's folder is to be used: if it has one, and the user names none. file: where it is.
bool folders_libfabric(const char *folder, char file[LIBFABRIC_BYTES]);

// Loads the library that jofi will ask for, and leaves the handlers of signals as they were. Some libraries that Linux
// distributions link to libfabric take SIGSEGV while they are loaded (psm, psm2); a thread in compiled Java code would
// die of that between them and whoever takes it back. At this time there is none. The JVM has to be there already: a
// library that gives back what it found when the process ends is not to give back what was before the JVM.
//
// folder: the plugin's, whose own libfabric comes before the system's. by_property: an option of the JVM names one, which
// is left to Java then. What cannot be loaded is Java's to tell.
void load_libfabric(const char *folder, bool by_property);

#endif
