// Stands for UCX: a worker is the number of events that a poll finds.
unsigned ucp_worker_progress(void* worker);
unsigned ucp_worker_progress(void* worker) { return *(unsigned*)worker; }
