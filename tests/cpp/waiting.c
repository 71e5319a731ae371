// Stands for an MPI library: it polls `times` times, and returns the sum of what that found.
unsigned ucp_worker_progress(void* worker);
unsigned poll_ucx(unsigned found, int times);
unsigned poll_ucx(unsigned found, int times) {
    unsigned sum = 0;
    for (int i = 0; i < times; ++i) sum += ucp_worker_progress(&found);
    return sum;
}
