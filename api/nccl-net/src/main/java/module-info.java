/** The transport as NCCL's network plugin: the Java half of libnccl-net-jofi.so. */
module org.jofi.nccl {
  requires static org.jspecify;
  requires org.jofi.transport;

  exports org.jofi.nccl.layout;
}
