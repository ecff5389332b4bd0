/** A program of a user on the module path. */
module exchange {
  requires org.jofi.transport;
}
