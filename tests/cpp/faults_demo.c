/* Shows that the planted faults of libassay_faults.so can be seen from outside: every part of the shim is passed once
 * with values known by heart. Without a fault every rank says "finished: … 0 differences" and exits with 0; each fault
 * changes that.
 *   ASSAY_FAULT=last_byte_lost mpiexec -n 3 env LD_PRELOAD=build/libassay_faults.so faults_demo
 * At least 3 ranks. Only for trying the shim: the suite itself is what has to catch the faults. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || defined(MPI_SESSION_NULL)
#define MPI4 1
#else
#define MPI4 0
#endif

enum { guard = 64, tag = 7, poison = 0xa5 };

static int me, np, left, right, wrong;
static MPI_Comm comm;

static void expect(int holds, char const* where, char const* what) {
    if (holds) return;
    ++wrong;
    fprintf(stdout, "rank %d: %s: %s\n", me, where, what);
}

static void expect_status(char const* where, MPI_Status const* s, MPI_Datatype type, int source, int want_tag,
                          int count) {
    int got = -1, cancelled = 1;
    MPI_Get_count(s, type, &got);
    MPI_Test_cancelled(s, &cancelled);
    expect(s->MPI_SOURCE == source, where, "source");
    expect(s->MPI_TAG == want_tag, where, "tag");
    expect(got == count, where, "count");
    expect(!cancelled, where, "cancelled");
}

/* A buffer for `count` elements between two guards; what rank `from` sends, or nothing but poison (from < 0). */
struct buffer {
    unsigned char* all;
    size_t size;
    void* data;
};
static struct buffer make(int from, int count, MPI_Datatype type) {
    MPI_Aint lb, extent;
    PMPI_Type_get_extent(type, &lb, &extent);
    struct buffer b;
    b.size = (size_t)(extent * count) + 2 * guard;
    b.all = malloc(b.size);
    memset(b.all, poison, b.size);
    b.data = b.all + guard;
    int room = 0, position = 0;
    PMPI_Pack_size(count, type, MPI_COMM_SELF, &room);
    if (from >= 0 && room > 0) {
        unsigned char* stream = malloc((size_t)room);
        for (int k = 0; k < room; ++k) stream[k] = (unsigned char)(1 + (from * 31 + k) % 100);
        PMPI_Unpack(stream, room, &position, b.data, count, type, MPI_COMM_SELF);
        free(stream);
    }
    return b;
}
static void expect_same(char const* where, struct buffer got, int from, int count, MPI_Datatype type) {
    struct buffer want = make(from, count, type);
    expect(memcmp(want.all, got.all, want.size) == 0, where, "bytes differ");
    free(want.all);
}

typedef int (*plain_send)(void const*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*request_send)(void const*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

enum completion { by_wait, by_waitall, by_waitany, by_waitsome, by_test, by_testall, by_testany, by_testsome };

static void finish(char const* where, enum completion how, MPI_Request* request, MPI_Status* status) {
    MPI_Request two[2] = {*request, MPI_REQUEST_NULL};
    MPI_Status both[2];
    int flag = 0, index = -1, indices[2] = {-1, -1}, n = 0;
    if (how == by_wait) MPI_Wait(request, status);
    if (how == by_test)
        while (!flag) MPI_Test(request, &flag, status);
    if (how == by_waitall) MPI_Waitall(2, two, both), *status = both[0];
    if (how == by_testall)
        while (!flag) MPI_Testall(2, two, &flag, both), *status = both[0];
    if (how == by_waitany) MPI_Waitany(2, two, &index, status), expect(index == 0, where, "index");
    if (how == by_testany)
        while (!flag) MPI_Testany(2, two, &index, &flag, status);
    if (how == by_waitsome) MPI_Waitsome(2, two, &n, indices, both), *status = both[0];
    if (how == by_testsome)
        while (!n) MPI_Testsome(2, two, &n, indices, both), *status = both[0];
    if (how == by_waitsome || how == by_testsome) expect(n == 1 && indices[0] == 0, where, "outcount or index");
    if (how != by_wait && how != by_test) *request = two[0];
    expect(*request == MPI_REQUEST_NULL, where, "request is not MPI_REQUEST_NULL");
}

/* One ring: Irecv, send in a mode, completion. */
static void ring(char const* where, plain_send send, request_send isend, enum completion how, int count,
                 MPI_Datatype type) {
    struct buffer out = make(me, count, type), in = make(-1, count, type);
    MPI_Request r, s = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Irecv(in.data, count, type, left, tag, comm, &r);
    MPI_Barrier(comm);
    int code =
        send ? send(out.data, count, type, right, tag, comm) : isend(out.data, count, type, right, tag, comm, &s);
    expect(code == MPI_SUCCESS, where, "error code");
    finish(where, how, &r, &status);
    expect_status(where, &status, type, left, tag, count);
    if (s != MPI_REQUEST_NULL) PMPI_Wait(&s, MPI_STATUS_IGNORE);
    expect_same(where, in, left, count, type);
    expect_same(where, out, me, count, type);
    free(in.all);
    free(out.all);
}

static void persistent(char const* where, request_send init) {
    struct buffer out = make(me, 9, MPI_INT);
    struct buffer in = make(-1, 9, MPI_INT);
    MPI_Request r[2];
    MPI_Recv_init(in.data, 9, MPI_INT, left, tag, comm, &r[0]);
    init(out.data, 9, MPI_INT, right, tag, comm, &r[1]);
    for (int start = 0; start < 2; ++start) {
        MPI_Status status;
        MPI_Start(&r[0]);
        MPI_Barrier(comm);
        MPI_Startall(1, &r[1]);
        MPI_Wait(&r[0], &status);
        PMPI_Wait(&r[1], MPI_STATUS_IGNORE);
        expect_status(where, &status, MPI_INT, left, tag, 9);
        expect_same(where, in, left, 9, MPI_INT);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    free(in.all);
    free(out.all);
}

static void receive_ways(void) {
    for (int way = 0; way < 7; ++way) {
        char const* where[] = {"recv", "probe", "iprobe", "mprobe", "improbe+imrecv", "sendrecv", "sendrecv_replace"};
        struct buffer out = make(me, 5, MPI_INT), in = make(way == 6 ? me : -1, 5, MPI_INT);
        MPI_Request s = MPI_REQUEST_NULL, r;
        MPI_Status status, probed;
        MPI_Message message;
        int flag = 0;
        MPI_Barrier(comm);
        if (way == 2) { /* nothing was sent yet */
            MPI_Iprobe(left, tag + 1, comm, &flag, &probed);
            expect(!flag, "iprobe", "a message that nobody sent");
        }
        if (way < 5) MPI_Isend(out.data, 5, MPI_INT, right, tag, comm, &s);
        flag = 0;
        if (way == 1) MPI_Probe(left, tag, comm, &probed);
        if (way == 2)
            while (!flag) MPI_Iprobe(left, tag, comm, &flag, &probed);
        if (way == 3) MPI_Mprobe(left, tag, comm, &message, &probed);
        if (way == 4)
            while (!flag) MPI_Improbe(left, tag, comm, &flag, &message, &probed);
        if (way >= 1 && way <= 4) expect_status(where[way], &probed, MPI_INT, left, tag, 5);
        if (way <= 2) MPI_Recv(in.data, 5, MPI_INT, left, tag, comm, &status);
        if (way == 3) MPI_Mrecv(in.data, 5, MPI_INT, &message, &status);
        if (way == 4) MPI_Imrecv(in.data, 5, MPI_INT, &message, &r), MPI_Wait(&r, &status);
        if (way == 5) MPI_Sendrecv(out.data, 5, MPI_INT, right, tag, in.data, 5, MPI_INT, left, tag, comm, &status);
        if (way == 6) MPI_Sendrecv_replace(in.data, 5, MPI_INT, right, tag, left, tag, comm, &status);
        if (s != MPI_REQUEST_NULL) PMPI_Wait(&s, MPI_STATUS_IGNORE);
        expect_status(where[way], &status, MPI_INT, left, tag, 5);
        expect_same(where[way], in, left, 5, MPI_INT);
        free(in.all);
        free(out.all);
    }
}

static void bottom(void) {
    struct buffer out = make(me, 6, MPI_INT), in = make(-1, 6, MPI_INT);
    MPI_Aint from, to;
    MPI_Datatype out_type, in_type;
    int six = 6;
    PMPI_Get_address(out.data, &from);
    PMPI_Get_address(in.data, &to);
    PMPI_Type_create_hindexed(1, &six, &from, MPI_INT, &out_type);
    PMPI_Type_create_hindexed(1, &six, &to, MPI_INT, &in_type);
    PMPI_Type_commit(&out_type);
    PMPI_Type_commit(&in_type);
    MPI_Status status;
    MPI_Sendrecv(MPI_BOTTOM, 1, out_type, right, tag, MPI_BOTTOM, 1, in_type, left, tag, comm, &status);
    expect_same("bottom", in, left, 6, MPI_INT);
    PMPI_Type_free(&out_type);
    PMPI_Type_free(&in_type);
    free(in.all);
    free(out.all);
}

static void pack(void) {
    int a = 0x01020304, b = 0x05060708, position = 0, x = 0, y = 0;
    char room[64];
    MPI_Pack(&a, 1, MPI_INT, room, 64, &position, comm);
    MPI_Pack(&b, 1, MPI_INT, room, 64, &position, comm);
    expect(position == 8, "pack", "position");
    MPI_Sendrecv_replace(room, 64, MPI_PACKED, right, tag, left, tag, comm, MPI_STATUS_IGNORE);
    position = 0;
    MPI_Unpack(room, 64, &position, &x, 1, MPI_INT, comm);
    MPI_Unpack(room, 64, &position, &y, 1, MPI_INT, comm);
    expect(x == a && y == b, "pack", "value");
}

static void empties(void) {
    MPI_Request null = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0;
    memset(&status, poison, sizeof status);
    MPI_Wait(&null, &status);
    expect_status("wait on MPI_REQUEST_NULL", &status, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    MPI_Test(&null, &flag, &status);
    expect(flag, "test on MPI_REQUEST_NULL", "flag");
    memset(&status, poison, sizeof status);
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, tag, comm, &status);
    expect_status("recv from MPI_PROC_NULL", &status, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    int elements = 0, three[3] = {0, 0, 0}, back = -1;
    MPI_Sendrecv(three, 1, MPI_INT, 0, tag, &back, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    expect(back == 0, "self", "value");
    int copies[3];
    MPI_Sendrecv(three, 3, MPI_INT, me, tag, copies, 3, MPI_INT, me, tag, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, MPI_INT, &elements);
    expect(elements == 3, "get_elements", "count");
}

static void order(void) { /* all to rank 0, wildcards: first blocking, then all posted at once */
    enum { each = 4 };
    int last[64];
    for (int pass = 0; pass < 2; ++pass) {
        MPI_Barrier(comm);
        for (int r = 0; r < np; ++r) last[r] = -1;
        if (me != 0) {
            for (int k = 0; k < each; ++k) MPI_Send(&k, 1, MPI_INT, 0, tag, comm);
            continue;
        }
        int values[64], total = each * (np - 1);
        MPI_Request r[64];
        MPI_Status s[64];
        for (int k = 0; k < total; ++k)
            if (pass == 0) MPI_Recv(&values[k], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s[k]);
            else MPI_Irecv(&values[k], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[k]);
        if (pass == 1) MPI_Waitall(total, r, s);
        for (int k = 0; k < total; ++k) {
            int const from = s[k].MPI_SOURCE;
            expect(from > 0 && from < np && values[k] == last[from] + 1, "order", "messages overtook");
            if (from > 0 && from < np) last[from] = values[k];
        }
    }
}

static void cancel(void) {
    int x = 0, cancelled = 0;
    MPI_Request r;
    MPI_Status status;
    MPI_Irecv(&x, 1, MPI_INT, left, 999, comm, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(cancelled, "cancel", "receive is not cancelled");
    /* A send that says it was cancelled must not arrive, one that does not must. */
    MPI_Isend(&x, 1, MPI_INT, right, 998, comm, &r);
    MPI_Cancel(&r);
    int here = 0, arrived = 0;
    MPI_Sendrecv(&cancelled, 0, MPI_INT, right, tag, &here, 0, MPI_INT, left, tag, comm, MPI_STATUS_IGNORE);
    MPI_Request w = r;
    int done = 0;
    while (!done) {
        MPI_Test(&w, &done, &status);
        int there = 0;
        if (!arrived) PMPI_Iprobe(left, 998, comm, &there, MPI_STATUS_IGNORE);
        if (there) PMPI_Recv(&x, 1, MPI_INT, left, 998, comm, MPI_STATUS_IGNORE), arrived = 1;
    }
    int mine = 0, theirs = 0;
    MPI_Test_cancelled(&status, &mine);
    MPI_Sendrecv(&mine, 1, MPI_INT, right, tag, &theirs, 1, MPI_INT, left, tag, comm, MPI_STATUS_IGNORE);
    if (!theirs && !arrived) PMPI_Recv(&x, 1, MPI_INT, left, 998, comm, MPI_STATUS_IGNORE);
    PMPI_Barrier(comm);
    int there = 0;
    if (theirs && !arrived) PMPI_Iprobe(left, 998, comm, &there, MPI_STATUS_IGNORE);
    expect(!(theirs && (arrived || there)), "cancel", "a cancelled send was delivered");
}

static void cartesian(void) {
    int dims[1] = {np}, periods[1] = {1}, source = -1, destination = -1;
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    MPI_Cart_shift(cart, 0, 1, &source, &destination);
    expect(source == left && destination == right, "cart_shift", "neighbours");
    MPI_Comm_free(&cart);
}

static void inter(void) {
    MPI_Comm local, between;
    int const zero = me == 0, size = zero ? np - 1 : 1;
    PMPI_Comm_split(MPI_COMM_WORLD, zero, me, &local);
    PMPI_Intercomm_create(local, 0, MPI_COMM_WORLD, zero ? 1 : 0, 5, &between);
    for (int peer = 0; peer < size; ++peer) {
        int x = me, y = -1;
        MPI_Status status;
        MPI_Sendrecv(&x, 1, MPI_INT, peer, tag, &y, 1, MPI_INT, peer, tag, between, &status);
        expect(y == (zero ? peer + 1 : 0), "inter", "value");
        expect(status.MPI_SOURCE == peer, "inter", "source");
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&local);
}

static void partitioned(void) {
#if MPI4
    int out[8], in[8];
    MPI_Request r[2];
    MPI_Status statuses[2];
    for (int k = 0; k < 8; ++k) out[k] = k + 1, in[k] = -1;
    MPI_Psend_init(out, 4, 2, MPI_INT, right, tag, comm, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 4, 2, MPI_INT, left, tag, comm, MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    MPI_Pready_range(0, 3, r[0]);
    MPI_Waitall(2, r, statuses);
    for (int k = 0; k < 8; ++k) expect(in[k] == k + 1, "partitioned", "value");
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
#endif
}

static int open_files(void) {
    int n = 0;
    DIR* d = opendir("/proc/self/fd");
    while (readdir(d)) ++n;
    closedir(d);
    return n;
}

int main(int argc, char** argv) {
    alarm(20); /* a fault may hang */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    left = (me + np - 1) % np;
    right = (me + 1) % np;
    static char attached[1 << 20];
    MPI_Buffer_attach(attached, sizeof attached);

    MPI_Datatype gaps;
    MPI_Type_vector(3, 2, 4, MPI_SHORT, &gaps);
    MPI_Type_commit(&gaps);
    ring("int x 17", MPI_Send, NULL, by_wait, 17, MPI_INT);
    int const files = open_files();
    ring("int x 17 again", MPI_Send, NULL, by_wait, 17, MPI_INT);
    expect(open_files() <= files, "file descriptors", "one more than before");
    int stray = 0;
    MPI_Barrier(comm);
    PMPI_Iprobe(MPI_ANY_SOURCE, tag + 1000, comm, &stray, MPI_STATUS_IGNORE);
    expect(!stray, "leftover", "a message nobody sent");
    ring("int x 0", MPI_Send, NULL, by_wait, 0, MPI_INT);
    ring("char x 8192", MPI_Send, NULL, by_waitall, 8192, MPI_CHAR);
    ring("char x 70000", NULL, MPI_Isend, by_waitall, 70000, MPI_CHAR);
    /* MPICH 4.0.3 dies of SIGSEGV when it sends a pair type with gaps; "nopairs" goes around that. */
    int const pairs = argc < 2 || strcmp(argv[1], "nopairs") != 0;
    ring("int x 4", MPI_Send, NULL, by_waitany, 4, MPI_INT);
    if (pairs) ring("short_int x 3", MPI_Send, NULL, by_waitany, 3, MPI_SHORT_INT);
    ring("short x 3", MPI_Send, NULL, by_testany, 3, MPI_SHORT);
    ring("vector x 4", MPI_Send, NULL, by_testall, 4, gaps);
    ring("isend", NULL, MPI_Isend, by_test, 3, MPI_INT);
    ring("bsend", MPI_Bsend, NULL, by_waitsome, 3, MPI_INT);
    ring("ssend", NULL, MPI_Issend, by_testsome, 3, MPI_INT);
    ring("rsend", MPI_Rsend, NULL, by_wait, 3, MPI_INT);
    /* Long double has padding: only the data is compared. */
    struct {
        long double value;
        int index;
    } ldi = {1.5L + me, 100 + me};
    if (pairs) {
        MPI_Sendrecv_replace(&ldi, 1, MPI_LONG_DOUBLE_INT, right, tag, left, tag, comm, MPI_STATUS_IGNORE);
        expect(ldi.value == 1.5L + left && ldi.index == 100 + left, "long_double_int", "value");
    }
    persistent("send_init", MPI_Send_init);
    persistent("rsend_init", MPI_Rsend_init);
    receive_ways();
    bottom();
    pack();
    empties();
    order();
    MPI_Barrier(comm); /* or its wildcards take what comes next */
    cancel();
    cartesian();
    inter();
    partitioned();
    for (int k = 0; k < 100; ++k) ring("often", MPI_Send, NULL, by_wait, 2, MPI_INT);

    int detached;
    void* address;
    MPI_Buffer_detach(&address, &detached);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
    fprintf(stdout, "finished: rank %d, %d differences\n", me, wrong);
    fflush(stdout);
    MPI_Finalize();
    return wrong ? 1 : 0;
}
