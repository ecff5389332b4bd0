package org.jofi.fabric;

/**
 * Error numbers of fabric calls: fi_errno(3). They are positive; calls return them negated. Those
 * below 256 are Linux's, the others are libfabric's.
 */
public final class FabricErrno {
  /** Operation not permitted. */
  public static final int EPERM = 1;

  /** No such file, entry or object. */
  public static final int ENOENT = 2;

  /** Interrupted. */
  public static final int EINTR = 4;

  /** Input/output error. */
  public static final int EIO = 5;

  /** No such device or address. */
  public static final int ENXIO = 6;

  /** Argument list too long. */
  public static final int E2BIG = 7;

  /** Not an open object. */
  public static final int EBADF = 9;

  /** Cannot be done now; try again after polling. */
  public static final int EAGAIN = 11;

  /** Out of memory, or past the limit for locked memory. */
  public static final int ENOMEM = 12;

  /** Access denied. */
  public static final int EACCES = 13;

  /** Bad address. */
  public static final int EFAULT = 14;

  /** In use. */
  public static final int EBUSY = 16;

  /** No such device. */
  public static final int ENODEV = 19;

  /** Invalid argument. */
  public static final int EINVAL = 22;

  /** Too many open files. */
  public static final int EMFILE = 24;

  /** Out of resources on the device. */
  public static final int ENOSPC = 28;

  /** The other side of the pipe is gone. */
  public static final int EPIPE = 32;

  /** Not implemented by this provider. */
  public static final int ENOSYS = 38;

  /** No message of the desired type. */
  public static final int ENOMSG = 42;

  /** No data available. */
  public static final int ENODATA = 61;

  /** Protocol error. */
  public static final int EPROTO = 71;

  /** Value too large. */
  public static final int EOVERFLOW = 75;

  /** Message too long. */
  public static final int EMSGSIZE = 90;

  /** No such option. */
  public static final int ENOPROTOOPT = 92;

  /** Not supported. */
  public static final int EOPNOTSUPP = 95;

  /** Address already in use. */
  public static final int EADDRINUSE = 98;

  /** Address not available. */
  public static final int EADDRNOTAVAIL = 99;

  /** Network is down. */
  public static final int ENETDOWN = 100;

  /** Network is unreachable. */
  public static final int ENETUNREACH = 101;

  /** Connection aborted. */
  public static final int ECONNABORTED = 103;

  /** Connection reset by the peer. */
  public static final int ECONNRESET = 104;

  /** No buffer space. */
  public static final int ENOBUFS = 105;

  /** Already connected. */
  public static final int EISCONN = 106;

  /** Not connected. */
  public static final int ENOTCONN = 107;

  /** Already shut down. */
  public static final int ESHUTDOWN = 108;

  /** Timed out. */
  public static final int ETIMEDOUT = 110;

  /** Connection refused. */
  public static final int ECONNREFUSED = 111;

  /** Host is down. */
  public static final int EHOSTDOWN = 112;

  /** No route to the host. */
  public static final int EHOSTUNREACH = 113;

  /** Already in progress. */
  public static final int EALREADY = 114;

  /** In progress. */
  public static final int EINPROGRESS = 115;

  /** Error at the remote side. */
  public static final int EREMOTEIO = 121;

  /** Canceled. */
  public static final int ECANCELED = 125;

  /** Key rejected. */
  public static final int EKEYREJECTED = 129;

  /** Unspecified error. */
  public static final int EOTHER = 256;

  /** Buffer too small. */
  public static final int ETOOSMALL = 257;

  /** Not permitted in this state. */
  public static final int EOPBADSTATE = 258;

  /** An error is available. */
  public static final int EAVAIL = 259;

  /** Flags not supported. */
  public static final int EBADFLAGS = 260;

  /** Event queue missing. */
  public static final int ENOEQ = 261;

  /** Objects of different domains. */
  public static final int EDOMAIN = 262;

  /** Completion queue missing. */
  public static final int ENOCQ = 263;

  /** Checksum error. */
  public static final int ECRC = 264;

  /** The message was longer than the buffer. */
  public static final int ETRUNC = 265;

  /** Key not available: in use already, or out of range. */
  public static final int ENOKEY = 266;

  /** Address vector missing. */
  public static final int ENOAV = 267;

  /** Completion queue overrun. */
  public static final int EOVERRUN = 268;

  /** The receiver has no buffer posted. */
  public static final int ENORX = 269;

  /** Memory region not known or full. */
  public static final int ENOMR = 270;

  private FabricErrno() {}

  /**
   * {@return its name, such as {@code ENOKEY}; {@code E123} if unknown}
   *
   * @param errno the error, positive
   */
  public static String name(int errno) {
    return switch (errno) {
      case EPERM -> "EPERM";
      case ENOENT -> "ENOENT";
      case EINTR -> "EINTR";
      case EIO -> "EIO";
      case ENXIO -> "ENXIO";
      case E2BIG -> "E2BIG";
      case EBADF -> "EBADF";
      case EAGAIN -> "EAGAIN";
      case ENOMEM -> "ENOMEM";
      case EACCES -> "EACCES";
      case EFAULT -> "EFAULT";
      case EBUSY -> "EBUSY";
      case ENODEV -> "ENODEV";
      case EINVAL -> "EINVAL";
      case EMFILE -> "EMFILE";
      case ENOSPC -> "ENOSPC";
      case EPIPE -> "EPIPE";
      case ENOSYS -> "ENOSYS";
      case ENOMSG -> "ENOMSG";
      case ENODATA -> "ENODATA";
      case EPROTO -> "EPROTO";
      case EOVERFLOW -> "EOVERFLOW";
      case EMSGSIZE -> "EMSGSIZE";
      case ENOPROTOOPT -> "ENOPROTOOPT";
      case EOPNOTSUPP -> "EOPNOTSUPP";
      case EADDRINUSE -> "EADDRINUSE";
      case EADDRNOTAVAIL -> "EADDRNOTAVAIL";
      case ENETDOWN -> "ENETDOWN";
      case ENETUNREACH -> "ENETUNREACH";
      case ECONNABORTED -> "ECONNABORTED";
      case ECONNRESET -> "ECONNRESET";
      case ENOBUFS -> "ENOBUFS";
      case EISCONN -> "EISCONN";
      case ENOTCONN -> "ENOTCONN";
      case ESHUTDOWN -> "ESHUTDOWN";
      case ETIMEDOUT -> "ETIMEDOUT";
      case ECONNREFUSED -> "ECONNREFUSED";
      case EHOSTDOWN -> "EHOSTDOWN";
      case EHOSTUNREACH -> "EHOSTUNREACH";
      case EALREADY -> "EALREADY";
      case EINPROGRESS -> "EINPROGRESS";
      case EREMOTEIO -> "EREMOTEIO";
      case ECANCELED -> "ECANCELED";
      case EKEYREJECTED -> "EKEYREJECTED";
      case EOTHER -> "EOTHER";
      case ETOOSMALL -> "ETOOSMALL";
      case EOPBADSTATE -> "EOPBADSTATE";
      case EAVAIL -> "EAVAIL";
      case EBADFLAGS -> "EBADFLAGS";
      case ENOEQ -> "ENOEQ";
      case EDOMAIN -> "EDOMAIN";
      case ENOCQ -> "ENOCQ";
      case ECRC -> "ECRC";
      case ETRUNC -> "ETRUNC";
      case ENOKEY -> "ENOKEY";
      case ENOAV -> "ENOAV";
      case EOVERRUN -> "EOVERRUN";
      case ENORX -> "ENORX";
      case ENOMR -> "ENOMR";
      default -> "E" + errno;
    };
  }

  /**
   * {@return what it means, in a few words of lower case; {@code unknown error} if unknown}
   *
   * @param errno the error, positive
   */
  public static String meaning(int errno) {
    return switch (errno) {
      case EPERM -> "operation not permitted";
      case ENOENT -> "nothing of that name";
      case EINTR -> "interrupted";
      case EIO -> "input/output error";
      case ENXIO -> "no such device or address";
      case E2BIG -> "argument list too long";
      case EBADF -> "not an open object";
      case EAGAIN -> "cannot be done now; try again after polling";
      case ENOMEM -> "out of memory, or past the limit for locked memory";
      case EACCES -> "access denied";
      case EFAULT -> "bad address";
      case EBUSY -> "in use";
      case ENODEV -> "no such device";
      case EINVAL -> "invalid argument";
      case EMFILE -> "too many open files";
      case ENOSPC -> "out of resources on the device";
      case EPIPE -> "the other side of the pipe is gone";
      case ENOSYS -> "not implemented by this provider";
      case ENOMSG -> "no message of the desired type";
      case ENODATA -> "no data available";
      case EPROTO -> "protocol error";
      case EOVERFLOW -> "value too large";
      case EMSGSIZE -> "message too long";
      case ENOPROTOOPT -> "no such option";
      case EOPNOTSUPP -> "not supported";
      case EADDRINUSE -> "address already in use";
      case EADDRNOTAVAIL -> "address not available";
      case ENETDOWN -> "network is down";
      case ENETUNREACH -> "network is unreachable";
      case ECONNABORTED -> "connection aborted";
      case ECONNRESET -> "connection reset by the peer";
      case ENOBUFS -> "no buffer space";
      case EISCONN -> "already connected";
      case ENOTCONN -> "not connected";
      case ESHUTDOWN -> "already shut down";
      case ETIMEDOUT -> "timed out";
      case ECONNREFUSED -> "connection refused";
      case EHOSTDOWN -> "host is down";
      case EHOSTUNREACH -> "no route to the host";
      case EALREADY -> "already in progress";
      case EINPROGRESS -> "in progress";
      case EREMOTEIO -> "error at the remote side";
      case ECANCELED -> "canceled";
      case EKEYREJECTED -> "key rejected";
      case EOTHER -> "unspecified error";
      case ETOOSMALL -> "buffer too small";
      case EOPBADSTATE -> "not permitted in this state";
      case EAVAIL -> "an error is available";
      case EBADFLAGS -> "flags not supported";
      case ENOEQ -> "event queue missing";
      case EDOMAIN -> "objects of different domains";
      case ENOCQ -> "completion queue missing";
      case ECRC -> "checksum error";
      case ETRUNC -> "the message was longer than the buffer";
      case ENOKEY -> "key not available: in use already, or out of range";
      case ENOAV -> "address vector missing";
      case EOVERRUN -> "completion queue overrun";
      case ENORX -> "the receiver has no buffer posted";
      case ENOMR -> "memory region not known or full";
      default -> "unknown error";
    };
  }

  /**
   * A sentence that says what the user can do about this error of this operation; empty if unknown.
   */
  static String remedy(String operation, int errno) {
    boolean registration = operation.startsWith("fi_mr_");
    return switch (errno) {
      case ENOMEM ->
          registration
              ? "Raise the limit for locked memory (ulimit -l unlimited), or register less."
              : "";
      case EPERM ->
          registration ? "If no memory may be locked, raise that limit (ulimit -l unlimited)." : "";
      case ENOSPC -> registration ? "The NIC is out of regions: close some, or share them." : "";
      case ENOKEY -> registration ? "Choose a key that no open region of the domain has." : "";
      case EKEYREJECTED -> "Choose a key that fits the negotiated key size.";
      case EMFILE -> "Raise the limit for open files (ulimit -n).";
      case EHOSTUNREACH, ENETUNREACH ->
          "Check that peer and NIC are on one network; on EFA, the security group.";
      case ENOSYS ->
          operation.equals("fi_getinfo")
              ? "The library is older than the API version that was asked for."
              : "";
      case EBUSY ->
          operation.equals("fi_enable")
              ? leftovers()
              : operation.startsWith("fi_close") ? "Close what is in it first." : "";
      case ETIMEDOUT ->
          operation.startsWith("fi_close")
              ? "The provider still waits in it for operations that a peer or a NIC does not end."
                  + " Close it again, or end the process."
              : "";
      default -> "";
    };
  }

  /**
   * The user has to remove it: containers may share the folder while each has its own process ids,
   * so that nobody can tell whether the owner lives.
   */
  private static String leftovers() {
    return ("Over shm: a killed process that had the number of this one left its files. Unless a"
            + " container that shares /dev/shm uses them: rm /dev/shm/%d:*")
        .formatted(ProcessHandle.current().pid());
  }
}
