// Opens a NIC and a queue's worth of objects on it, says so, and waits to be killed: holder

#include <infiniband/verbs.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int count = 0;
  struct ibv_device **list = ibv_get_device_list(&count);
  struct ibv_context *context = list != NULL && count > 0 ? ibv_open_device(list[0]) : NULL;
  if (context == NULL || ibv_alloc_pd(context) == NULL) {
    perror("holder: cannot open a NIC");
    return 1;
  }
  puts("ready");
  fflush(stdout);
  pause();
  return 0;
}
