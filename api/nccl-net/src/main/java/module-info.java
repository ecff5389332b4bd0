/** The transport as NCCL's network plugin: the Java half of libnccl-net-jofi.so. */
@SuppressWarnings("module") // The command line is built after it.
module org.jofi.nccl {
  requires static org.jspecify;
  requires org.jofi.transport;

  exports org.jofi.nccl.layout to
      org.jofi.cli;
}
