package org.jofi.rdma.request;

/** Is told of the requests of a queue, for whoever times them. With the endpoint's lock held. */
public interface RequestWatch {
  /** A send has its receive, or the first of a receive arrived. */
  void matched(long request);

  /** It is over, or was taken back. */
  void over(Request request);
}
