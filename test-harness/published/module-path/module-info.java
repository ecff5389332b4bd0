/** A program of a user on the module path. */
module exchange {
  requires org.jofi.async;
  requires org.jofi.transport;
}
