// Info hints of communicators (MPI-5.0 section 7.4.4). A library may ignore any of them; what it says it uses it has to say
// right, and whoever keeps to an assertion must get the same results as without it.
#include "suites/comm/comm.hpp"
#include "suites/common/info.hpp"

#include <cstring>
#include <fmt/format.h>
#include <string_view>

using namespace assay;

namespace {

struct hint {
    char const *key, *value;
};
axis<hint> const
    hints("hint", {{{"no_any_tag", "mpi_assert_no_any_tag"}, {"mpi_assert_no_any_tag", "true"}},
                   {{"no_any_source", "mpi_assert_no_any_source"}, {"mpi_assert_no_any_source", "true"}},
                   {{"exact_length", "mpi_assert_exact_length"}, {"mpi_assert_exact_length", "true"}},
                   {{"overtaking", "mpi_assert_allow_overtaking"}, {"mpi_assert_allow_overtaking", "true"}},
                   {{"strict_persistent", "mpi_assert_strict_persistent_collective_ordering",
                     [](job const&) {
                         constexpr std::string_view key = "mpi_assert_strict_persistent_collective_ordering";
                         return key.size() < static_cast<std::size_t>(MPI_MAX_INFO_KEY)
                                    ? std::string()
                                    : "the MPI library has no room for this key: MPI_MAX_INFO_KEY is " +
                                          std::to_string(MPI_MAX_INFO_KEY);
                     }},
                    {"mpi_assert_strict_persistent_collective_ordering", "true"}},
                   {{"memory_kinds", "mpi_assert_memory_alloc_kinds"}, {"mpi_assert_memory_alloc_kinds", "system,mpi"}},
                   {{"no_any_tag_false", "mpi_assert_no_any_tag = false"}, {"mpi_assert_no_any_tag", "false"}},
                   {{"unknown", "a hint that no library knows"}, {"assay_unknown_hint", "whatever"}}});

enum class giving { set_info, dup_with_info, idup_with_info };
axis<giving> const
    givings("by", {{{"set_info", "MPI_Comm_set_info"}, giving::set_info},
                   {{"dup_with_info", "MPI_Comm_dup_with_info"}, giving::dup_with_info},
                   {{"idup_with_info", "MPI_Comm_idup_with_info", needs_procedures({"MPI_Comm_idup_with_info"})},
                    giving::idup_with_info}});

// A communicator with the hint. The info object may be freed as soon as the call is back.
MPI_Comm with_hint(test_run& mpi, hint const& given, giving how) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    mpi.ok(MPI_Info_create(&info));
    mpi.ok(MPI_Info_set(info, given.key, given.value));
    MPI_Request request = MPI_REQUEST_NULL;
    switch (how) {
    case giving::set_info:
        mpi.ok(MPI_Comm_dup(mpi.comm, &made));
        mpi.ok(MPI_Comm_set_info(made, info));
        break;
    case giving::dup_with_info: mpi.ok(MPI_Comm_dup_with_info(mpi.comm, info, &made)); break;
    case giving::idup_with_info: mpi.ok(MPI_Comm_idup_with_info(mpi.comm, info, &made, &request)); break;
    }
    // Section 10: interpreted before the procedure returns; required of nonblocking ones before MPI-4.0, too.
    mpi.ok(MPI_Info_set(info, given.key, "changed after the call"));
    mpi.ok(MPI_Info_free(&info));
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return made;
}

// Messages and a collective operation that keep to all of the assertions.
void communicate(test_run& mpi, MPI_Comm comm) {
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    for (int n : {1, 5000}) {
        int const tag = mpi.tag(n == 1 ? 0 : 1); // of its own: one message may overtake the other
        std::vector<int> out(static_cast<std::size_t>(n)), in(out.size(), -7), expected(out.size());
        for (int i = 0; i < n; ++i) {
            out[static_cast<std::size_t>(i)] = mpi.rank * 100000 + i;
            expected[static_cast<std::size_t>(i)] = from * 100000 + i;
        }
        auto status = poisoned_status();
        MPI_Request request = MPI_REQUEST_NULL;
        mpi.ok(MPI_Irecv(in.data(), n, MPI_INT, from, tag, comm, &request));
        mpi.ok(MPI_Send(out.data(), n, MPI_INT, to, tag, comm));
        mpi.ok(MPI_Wait(&request, &status));
        mpi.expect(status).source(from).tag(tag).count(static_cast<std::size_t>(n), MPI_INT, sizeof(int));
        mpi.check(in == expected, finding::data, fmt::format("a message of {} numbers arrives with others", n));
    }
    int const one = 1;
    int sum = -7;
    mpi.ok(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    expect_number(mpi, sum, mpi.size, "MPI_Allreduce");
}

} // namespace

ASSAY_TEST(comm, hint, requirements{"comm.info.ignored", "comm.info.assertions", "comm.info.reported", "info.freed"},
           over(axis_use{&hints}, axis_use{&givings}, few()), thread_safe{}) {
    auto const given = mpi.at(hints);
    MPI_Comm comm = with_hint(mpi, given, mpi.at(givings));
    if (!mpi.check(comm != MPI_COMM_NULL, finding::value, "the communicator with the hint is MPI_COMM_NULL")) return;
    MPI_Info used = MPI_INFO_NULL;
    mpi.ok(MPI_Comm_get_info(comm, &used));
    if (mpi.check(used != MPI_INFO_NULL, finding::info,
                  "MPI_Comm_get_info gives MPI_INFO_NULL: a new, maybe empty object is due")) {
        auto const value = value_of(mpi, used, given.key);
        // Ignored or not: a value that was never given is wrong. An assertion that is off by default may be said to be.
        bool const default_value = value == "false";
        mpi.check(!value || *value == given.value || default_value, finding::info,
                  fmt::format("MPI_Comm_get_info gives {} = \"{}\", set was \"{}\"", given.key, value.value_or(""),
                              given.value));
        mpi.ok(MPI_Info_free(&used));
    }
    communicate(mpi, comm);
    free_communicator(mpi, comm);
}

// Setting one hint leaves the others, and what MPI_Comm_get_info gives is a copy.
ASSAY_TEST(comm, hint_others_stay, requirements{"comm.info.others_stay", "comm.info.own_object"},
           over(axis_use{&hints}, few()), thread_safe{}) {
    auto const given = mpi.at(hints);
    MPI_Comm comm = with_hint(mpi, given, giving::set_info);
    MPI_Info before = MPI_INFO_NULL, after = MPI_INFO_NULL, other = MPI_INFO_NULL;
    mpi.ok(MPI_Comm_get_info(comm, &before));
    auto const value = value_of(mpi, before, given.key);
    mpi.ok(MPI_Info_set(before, given.key, "changed in the copy"));
    mpi.ok(MPI_Info_free(&before));
    mpi.ok(MPI_Info_create(&other));
    mpi.ok(MPI_Info_set(other, "assay_other_hint", "1"));
    mpi.ok(MPI_Comm_set_info(comm, other));
    mpi.ok(MPI_Info_free(&other));
    mpi.ok(MPI_Comm_get_info(comm, &after));
    mpi.check(value_of(mpi, after, given.key) == value, finding::info,
              fmt::format("{} was \"{}\" and is \"{}\" after another hint was set", given.key,
                          value.value_or("(not there)"), value_of(mpi, after, given.key).value_or("(not there)")));
    mpi.ok(MPI_Info_free(&after));
    free_communicator(mpi, comm);
}

// Hints do not pass to duplicates (since MPI-4.0): an assertion made for one communicator must not bind another.
ASSAY_TEST(comm, hint_not_inherited, requirements{"comm.info.not_inherited"},
           over(axis_use{&hints}, axis_use{&duplications()}, communicators::world()), thread_safe{}) {
    if (followed_version() < 40) mpi.unsupported("before MPI-4.0 duplicates inherited hints");
    auto const given = mpi.at(hints);
    MPI_Comm base = with_hint(mpi, given, giving::set_info);
    MPI_Comm plain = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &plain));
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), base);
    MPI_Info expected = MPI_INFO_NULL, used = MPI_INFO_NULL;
    mpi.ok(MPI_Comm_get_info(plain, &expected));
    mpi.ok(MPI_Comm_get_info(copy, &used));
    auto const without = value_of(mpi, expected, given.key), got = value_of(mpi, used, given.key);
    mpi.check(
        got == without, finding::info,
        fmt::format("the duplicate of a communicator with {} = \"{}\" has \"{}\", without the hint it would be \"{}\"",
                    given.key, given.value, got.value_or("(not there)"), without.value_or("(not there)")));
    mpi.ok(MPI_Info_free(&expected));
    mpi.ok(MPI_Info_free(&used));
    communicate(mpi, copy);
    free_communicator(mpi, copy);
    free_communicator(mpi, plain);
    free_communicator(mpi, base);
}
