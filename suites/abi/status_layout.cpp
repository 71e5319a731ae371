// The status of the standard ABI (MPI-5.0 section 20.3.1): eight int anywhere in memory where an int may be.
#include "suites/abi/kinds.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>

using namespace assay;

namespace {

// Sets statuses of messages from the process to itself with tags 0 and 1 (of the case); the first holds one int, the second two.
using setter = void (*)(test_run&, MPI_Status*);
constexpr int statuses_set = 2;
void send(test_run& mpi, std::array<MPI_Request, 2>& sends, std::array<int, 2> const& out) {
    for (int i = 0; i < 2; ++i)
        mpi.ok(
            MPI_Isend(out.data(), i + 1, MPI_INT, 0, mpi.tag(i), MPI_COMM_SELF, &sends[static_cast<std::size_t>(i)]));
}
template <class Receive> void exchange(test_run& mpi, Receive receive) {
    std::array<int, 2> const out = {5, 6};
    std::array<int, 4> in{};
    std::array<MPI_Request, 2> sends = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    send(mpi, sends, out);
    receive(in.data());
    mpi.ok(MPI_Waitall(2, sends.data(), MPI_STATUSES_IGNORE));
}
axis<setter> const
    setters("call",
            {{{"recv", "MPI_Recv"},
              [](test_run& mpi, MPI_Status* statuses) {
                  exchange(mpi, [&](int* in) {
                      for (int i = 0; i < 2; ++i)
                          mpi.ok(MPI_Recv(in + 2 * i, 2, MPI_INT, 0, mpi.tag(i), MPI_COMM_SELF, statuses + i));
                  });
              }},
             {{"waitall", "MPI_Waitall"},
              [](test_run& mpi, MPI_Status* statuses) {
                  exchange(mpi, [&](int* in) {
                      std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
                      for (int i = 0; i < 2; ++i)
                          mpi.ok(MPI_Irecv(in + 2 * i, 2, MPI_INT, 0, mpi.tag(i), MPI_COMM_SELF,
                                           &requests[static_cast<std::size_t>(i)]));
                      mpi.ok(MPI_Waitall(2, requests.data(), statuses));
                  });
              }},
             {{"probe", "MPI_Probe"},
              [](test_run& mpi, MPI_Status* statuses) {
                  exchange(mpi, [&](int* in) {
                      for (int i = 0; i < 2; ++i) {
                          mpi.ok(MPI_Probe(0, mpi.tag(i), MPI_COMM_SELF, statuses + i));
                          mpi.ok(MPI_Recv(in + 2 * i, 2, MPI_INT, 0, mpi.tag(i), MPI_COMM_SELF, MPI_STATUS_IGNORE));
                      }
                  });
              }},
             {{"mprobe", "MPI_Mprobe, and MPI_Mrecv into the same statuses"},
              [](test_run& mpi, MPI_Status* statuses) {
                  exchange(mpi, [&](int* in) {
                      for (int i = 0; i < 2; ++i) {
                          MPI_Message message = MPI_MESSAGE_NULL;
                          mpi.ok(MPI_Mprobe(0, mpi.tag(i), MPI_COMM_SELF, &message, statuses + i));
                          mpi.ok(MPI_Mrecv(in + 2 * i, 2, MPI_INT, &message, statuses + i));
                      }
                  });
              }},
             {{"set", "MPI_Status_set_elements, MPI_Status_set_cancelled"}, [](test_run& mpi, MPI_Status* statuses) {
                  for (int i = 0; i < 2; ++i) {
                      statuses[i].MPI_SOURCE = 0;
                      statuses[i].MPI_TAG = mpi.tag(i);
                      mpi.ok(MPI_Status_set_cancelled(statuses + i, 0));
                      mpi.ok(MPI_Status_set_elements(statuses + i, MPI_INT, i + 1));
                  }
              }}});

} // namespace

// The statuses lie at an address that is no multiple of 8, between int that nobody may change.
ASSAY_TEST(abi, status_layout, requirements{"abi.status.layout", "abi.status.alignment", "abi.status.storage"},
           over(axis_use{&setters}), needs_procedures({"MPI_Abi_get_version"})) {
    if (!abi::has_standard_abi()) mpi.unsupported("the library does not have the standard ABI");
    mpi.check("abi.status.layout",
              sizeof(MPI_Status) == 8 * sizeof(int) && offsetof(MPI_Status, MPI_SOURCE) == 0 &&
                  offsetof(MPI_Status, MPI_TAG) == sizeof(int) && offsetof(MPI_Status, MPI_ERROR) == 2 * sizeof(int),
              finding::value,
              fmt::format("a status has {} bytes, and MPI_SOURCE, MPI_TAG and MPI_ERROR are at bytes {}, {} and {}",
                          sizeof(MPI_Status), offsetof(MPI_Status, MPI_SOURCE), offsetof(MPI_Status, MPI_TAG),
                          offsetof(MPI_Status, MPI_ERROR)));
    if (!mpi.check("abi.status.alignment", alignof(MPI_Status) == alignof(int), finding::value,
                   fmt::format("a status is aligned to {} bytes", alignof(MPI_Status))))
        return;
    constexpr std::size_t before = 3, each = sizeof(MPI_Status) / sizeof(int);
    constexpr int guard = 0x5a5a5a5a;
    alignas(8) std::array<int, before + 2 * each + 4> memory;
    memory.fill(guard);
    auto* const statuses = reinterpret_cast<MPI_Status*>(&memory[before]);
    mpi.at(setters)(mpi, statuses);
    mpi.check("abi.status.storage",
              std::all_of(memory.begin(), memory.begin() + before, [](int x) { return x == guard; }) &&
                  std::all_of(memory.begin() + before + 2 * each, memory.end(), [](int x) { return x == guard; }),
              finding::guard, "an int beside the statuses was changed");
    for (int i = 0; i < statuses_set; ++i) {
        MPI_Status copy;
        std::memcpy(&copy, statuses + i, sizeof copy);
        std::array<int, 3> ints{};
        std::memcpy(ints.data(), statuses + i, sizeof ints);
        mpi.check("abi.status.layout", ints[0] == 0 && ints[1] == mpi.tag(i), finding::value,
                  fmt::format("the first int of status {} are {} and {}, expected the source 0 and the tag {}", i,
                              ints[0], ints[1], mpi.tag(i)));
        for (auto const* status :
             {static_cast<MPI_Status const*>(statuses + i), static_cast<MPI_Status const*>(&copy)}) {
            int count = -7;
            mpi.ok(MPI_Get_count(status, MPI_INT, &count));
            mpi.check("abi.status.alignment", count == i + 1, finding::count,
                      fmt::format("the count of status {} is {}, expected {}", i, count, i + 1));
        }
    }
}
