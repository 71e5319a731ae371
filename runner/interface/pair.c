// A program for the ABI of MPI-5.0: runner/interface/pairs.py builds it for one library and runs it with another. It
// takes the address of every procedure (pair_procedures.h), so that it cannot start where one is missing, and makes some
// calls that use handles, constants, statuses and callbacks of its header. Two ranks; the first prints OK or WRONG.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void (*volatile procedures[])(void) = {
#include "pair_procedures.h"
    0};

static int wrong = 0;

#define CHECK(holds)                                                                                                   \
    do {                                                                                                               \
        if (!(holds) && !wrong++) {                                                                                    \
            printf("WRONG %s\n", #holds);                                                                              \
        }                                                                                                              \
    } while (0)

static int handled = 0;

static void handler(MPI_Comm* comm, int* code, ...) {
    int class = -1;
    MPI_Error_class(*code, &class);
    handled = class;
    (void)comm;
}

static int attribute_deleted = 0;

static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)extra;
    attribute_deleted = *(int*)value;
    return MPI_SUCCESS;
}

static void product(void* in, void* inout, int* length, MPI_Datatype* type) {
    CHECK(*type == MPI_INT);
    for (int k = 0; k < *length; ++k) {
        ((int*)inout)[k] *= ((int*)in)[k];
    }
}

int main(int argc, char** argv) {
    int provided = -1, rank = -1, size = -1, major = -1, minor = -1, length = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = 0;
    if (rank == 0) {
        printf("LIBRARY %s\n", library);
    }
    CHECK(procedures[0] != 0);
    CHECK(provided == MPI_THREAD_FUNNELED || provided == MPI_THREAD_SERIALIZED || provided == MPI_THREAD_MULTIPLE);
    CHECK(size == 2);
    MPI_Abi_get_version(&major, &minor);
    CHECK(major == MPI_ABI_VERSION);

    // Statuses, wildcards, MPI_PROC_NULL.
    int const sent[3] = {10 + rank, 20 + rank, 30 + rank};
    int got[4] = {-1, -1, -1, -1}, count = -1;
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent, 3, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &request);
    MPI_Recv(got, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(status.MPI_SOURCE == 1 - rank && status.MPI_TAG == 7 && count == 3);
    CHECK(got[0] == 10 + 1 - rank && got[2] == 30 + 1 - rank && got[3] == -1);
    MPI_Recv(got, 1, MPI_BYTE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);

    // Predefined and own operations, MPI_IN_PLACE, a derived type and large counts.
    double sum = 1.5 + rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 4.0);
    MPI_Op op = MPI_OP_NULL;
    int number = 3 + rank;
    MPI_Op_create(product, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(number == 12);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Count bytes = -1;
    MPI_Type_vector(2, 1, 3, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Type_size_c(type, &bytes);
    CHECK(bytes == 16);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);

    // Communicators, attributes and their callbacks, errors and their handlers.
    MPI_Comm comm = MPI_COMM_NULL;
    int same = -1, keyval = MPI_KEYVAL_INVALID, value = 42, flag = 0, *bound = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
    CHECK(same == MPI_CONGRUENT);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &keyval, 0);
    MPI_Comm_set_attr(comm, keyval, &value);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    CHECK(flag && *bound >= 32767);
    MPI_Errhandler errors = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(comm, errors);
    MPI_Errhandler_free(&errors);
    MPI_Send(&value, 1, MPI_INT, 99, 0, comm);
    CHECK(handled == MPI_ERR_RANK);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL && attribute_deleted == 42);
    MPI_Comm_free_keyval(&keyval);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);

    int all = wrong;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0 && all == 0) {
        printf("OK\n");
    }
    return wrong != 0;
}
