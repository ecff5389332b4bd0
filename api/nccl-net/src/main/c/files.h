// The files that the JVM keeps open. Programs that the host program starts are not to have them.
#ifndef FILES_H
#define FILES_H

// Remembers which files are open before the JVM starts: those are left alone.
void remember_files(void);

// Marks the JVM's files as close-on-exec: those in the plugin's folder and in the Java home, and devices. The sockets that
// libfabric opens are not among them, since nothing tells them from the program's.
void mark_files(const char *folder, const char *java_home);

#endif
