// Attributes of windows (MPI-5.0 section 7.7.3). Windows cannot be duplicated: only the delete callback is ever called.
#include "framework/mpi/run.hpp"

#include <cstdint>
#include <fmt/format.h>

using namespace assay;

namespace {

struct removal {
    MPI_Win from;
    int key;
    std::intptr_t value;
};
using removals = std::vector<removal>;

int on_delete(MPI_Win from, int key, void* value, void* extra) {
    static_cast<removals*>(extra)->push_back({from, key, reinterpret_cast<std::intptr_t>(value)});
    return MPI_SUCCESS;
}

void store(test_run& mpi, MPI_Win win, int key, std::intptr_t value) {
    mpi.ok(MPI_Win_set_attr(win, key, reinterpret_cast<void*>(value)));
}

// 0: nothing is stored.
void expect_value(test_run& mpi, MPI_Win win, int key, std::intptr_t expected, char const* when,
                  std::source_location where = std::source_location::current()) {
    void* value = nullptr;
    int flag = -7;
    mpi.ok(MPI_Win_get_attr(win, key, &value, &flag), where);
    auto const got = flag != 0 ? reinterpret_cast<std::intptr_t>(value) : 0;
    mpi.check(got == expected, finding::value,
              fmt::format("{}: the attribute is {}, expected {} (0: none)", when, got, expected), where);
}

} // namespace

ASSAY_TEST(rma, win_attr,
           requirements{"attr.win.store", "attr.win.delete", "attr.win.free", "attr.win.replace",
                        "attr.win.keyval_free", "attr.win.null_delete_fn"},
           over(communicators::of({"world", "reversed", "odd_even"}))) {
    removals seen;
    int key = MPI_KEYVAL_INVALID, silent = MPI_KEYVAL_INVALID;
    mpi.ok(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &seen));
    mpi.ok(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &silent, nullptr));
    mpi.check(key != MPI_KEYVAL_INVALID && silent != MPI_KEYVAL_INVALID && key != silent, finding::value,
              fmt::format("MPI_Win_create_keyval gives the keys {} and {}", key, silent));
    int memory[2] = {0, 0};
    MPI_Win win = MPI_WIN_NULL;
    if (!mpi.ok(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, mpi.comm, &win))) return;
    MPI_Win const handle = win; // MPI_Win_free changes the other one
    expect_value(mpi, win, key, 0, "before anything was stored");
    store(mpi, win, key, 41);
    store(mpi, win, silent, 42);
    expect_value(mpi, win, key, 41, "after MPI_Win_set_attr");
    expect_value(mpi, win, silent, 42, "after MPI_Win_set_attr under another key");
    auto const called = [&](std::size_t times, std::intptr_t value, char const* when,
                            std::source_location where = std::source_location::current()) {
        mpi.check(
            seen.size() == times, finding::value,
            fmt::format("{}: the delete callback was called {} times in all, expected {}", when, seen.size(), times),
            where);
        if (!seen.empty())
            mpi.check(seen.back().value == value && seen.back().from == handle, finding::value,
                      fmt::format("{}: the delete callback was given the value {}, expected {}, or another window",
                                  when, seen.back().value, value),
                      where);
    };
    store(mpi, win, key, 43);
    called(1, 41, "storing over a value");
    expect_value(mpi, win, key, 43, "after another MPI_Win_set_attr");
    mpi.ok(MPI_Win_delete_attr(win, key));
    called(2, 43, "MPI_Win_delete_attr");
    expect_value(mpi, win, key, 0, "after MPI_Win_delete_attr");
    mpi.ok(MPI_Win_delete_attr(win, silent));
    expect_value(mpi, win, silent, 0, "after MPI_Win_delete_attr, no callback");
    store(mpi, win, key, 44);
    // In use, it lives on.
    mpi.ok(MPI_Win_free_keyval(&key));
    mpi.ok(MPI_Win_free_keyval(&silent));
    mpi.check(key == MPI_KEYVAL_INVALID && silent == MPI_KEYVAL_INVALID, finding::value,
              "MPI_Win_free_keyval must set the key to MPI_KEYVAL_INVALID");
    called(2, 43, "MPI_Win_free_keyval");
    mpi.ok(MPI_Win_free(&win));
    called(3, 44, "MPI_Win_free");
}
