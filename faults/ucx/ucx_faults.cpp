// libassay_ucx_faults.so: preloaded before UCX, plants the fault that ASSAY_FAULT names between a program and UCX.
#include <ucp/api/ucp.h>
