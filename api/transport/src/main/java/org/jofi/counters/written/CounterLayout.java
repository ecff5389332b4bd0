package org.jofi.counters.written;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Where what is in a file of counters, offsets in bytes, little-endian. After a header of 4 KiB
 * come Agrona's three buffers: the metadata of counters, their values, and a log of distinct
 * errors, so that its readers read them, too. The file is sparse: what is not used takes no memory.
 */
public final class CounterLayout {
  /** The first bytes of the file, as text: {@code jofc}. */
  public static final int MAGIC = 0x6366_6f6a;

  /** Of what is described here. A reader refuses a higher one, and knows all lower ones. */
  public static final int VERSION = 1;

  /** What is written last: the version. 0 as long as the header is not complete. */
  public static final int VERSION_AT = 4;

  /** The magic number. */
  public static final int MAGIC_AT = 0;

  /** The process id, as the process itself sees it. */
  public static final int PID_AT = 8;

  /** When the process started, in ms since 1970; 0 if that is not known. */
  public static final int STARTED_AT = 16;

  /** When the process last wrote this, in ms since 1970. */
  public static final int HEARTBEAT_AT = 24;

  /** Which namespace the process id is of: the inode of /proc/self/ns/pid; 0 if not known. */
  public static final int NAMESPACE_AT = 32;

  /** Where the metadata of counters begin, and how many bytes are for them: two ints. */
  public static final int METADATA_AT = 40;

  /** The same of their values. */
  public static final int VALUES_AT = 48;

  /** The same of errors. */
  public static final int ERRORS_AT = 56;

  /** How many counters there are: an int, written after them. */
  public static final int COUNT_AT = 64;

  /** Text: jofi's version. */
  public static final int RELEASE_AT = 128;

  /** Text: the library below, and its version. */
  public static final int FABRIC_AT = 256;

  /** A text in the header: its length as an int, then so many bytes of UTF-8, at most. */
  public static final int TEXT_BYTES = 124;

  /** The header. */
  public static final int HEADER_BYTES = 4096;

  /** Metadata of a counter: its state as an int. */
  public static final int STATE_AT = 0;

  /** Metadata of a counter: its type as an int. */
  public static final int TYPE_AT = 4;

  /** Metadata of a counter: the number of its device, of its endpoint, and of its rail, ints. */
  public static final int KEY_AT = 16;

  /** In the key: the device's name, as text of up to {@link #NAME_BYTES}. */
  public static final int DEVICE_AT = KEY_AT + 16;

  /** In the key: the NIC's name, likewise. */
  public static final int NIC_AT = KEY_AT + 64;

  /** What a name in the key may have. */
  public static final int NAME_BYTES = 44;

  /** Metadata of a counter: its label, as text. */
  public static final int LABEL_AT = 128;

  /** What a label may have. */
  public static final int LABEL_BYTES = 380;

  /** {@link #STATE_AT}: it is in use. */
  public static final int ALLOCATED = 1;

  /** Metadata of a counter. */
  public static final int METADATA_BYTES = 512;

  /** A counter's value, alone in two cache lines. */
  public static final int VALUE_BYTES = 128;

  /** Counters in a file, at most. */
  public static final int MOST_COUNTERS = 4096;

  /** The log of errors. */
  public static final int ERRORS_BYTES = 128 * 1024;

  /** An error: the length of all of it as an int, written last; 0 after the last one. */
  public static final int ERROR_LENGTH_AT = 0;

  /** An error: how often it was seen, an int. */
  public static final int ERROR_COUNT_AT = 4;

  /** An error: when it was seen last, in ms since 1970. */
  public static final int ERROR_LAST_AT = 8;

  /** An error: when it was seen first. */
  public static final int ERROR_FIRST_AT = 16;

  /** An error: its text, to its end. */
  public static final int ERROR_TEXT_AT = 24;

  /** Errors begin at multiples of this. */
  public static final int ERROR_ALIGNMENT = 8;

  /** Where the metadata begin in a file that is written by this. */
  public static final int METADATA_BEGIN = HEADER_BYTES;

  /** Where the values begin. */
  public static final int VALUES_BEGIN = METADATA_BEGIN + MOST_COUNTERS * METADATA_BYTES;

  /** Where the errors begin. */
  public static final int ERRORS_BEGIN = VALUES_BEGIN + MOST_COUNTERS * VALUE_BYTES;

  /** The length of the file. */
  public static final int FILE_BYTES = ERRORS_BEGIN + ERRORS_BYTES;

  /** How the name of a file ends. */
  public static final String SUFFIX = ".counters";

  /** How the name of the file ends that its writer locks as long as it lives. */
  public static final String LOCK_SUFFIX = ".lock";

  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  static final VarHandle INTS = INT.varHandle();
  static final VarHandle LONGS = LONG.varHandle();

  private CounterLayout() {}
}
