// How much was received: MPI_Get_elements and MPI_Get_count (MPI-5.0 sections 3.2.5 and 5.1.11), and MPI_Status_set_elements
// (section 13.3).
#include "suites/datatype/recipe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

using namespace assay;
using namespace assay::types;

namespace {

struct counted {
    std::int64_t elements = -7, count = -7;
};

// MPI_Get_count has no _x form: MPI_Get_elements_x goes with the plain one.
counted ask(test_run& mpi, MPI_Status const& status, MPI_Datatype type, query how) {
    counted got;
    if (how == query::c) {
        MPI_Count e = -7, c = -7;
        mpi.ok(MPI_Get_elements_c(&status, type, &e));
        mpi.ok(MPI_Get_count_c(&status, type, &c));
        got.elements = e, got.count = c;
        return got;
    }
    int c = -7;
    mpi.ok(MPI_Get_count(&status, type, &c));
    got.count = c;
    if (how == query::x) {
        MPI_Count e = -7;
        mpi.ok(MPI_Get_elements_x(&status, type, &e));
        got.elements = e;
    } else {
        int e = -7;
        mpi.ok(MPI_Get_elements(&status, type, &e));
        got.elements = e;
    }
    return got;
}

int set(MPI_Status* status, MPI_Datatype type, query how, std::int64_t n) {
    if (how == query::c) return MPI_Status_set_elements_c(status, type, n);
    if (how == query::x) return MPI_Status_set_elements_x(status, type, n);
    return MPI_Status_set_elements(status, type, static_cast<int>(n));
}

// MPI-4.1 has given MPI_Status_set_elements the large form that the other queries have since MPI-4.0.
void expect_setter(test_run& mpi) {
    if (mpi.at(queries()) == query::c) mpi.needs_procedure("MPI_Status_set_elements_c");
}

// The first k basic elements of n copies of a signature, as a struct of tidy addresses.
definition beginning(layout const& map, std::size_t k) {
    std::vector<member> members;
    MPI_Aint at = 0;
    while (k > 0)
        for (auto const& run : map.runs()) {
            auto const now = std::min(k, run.count);
            auto const aligned = static_cast<MPI_Aint>(run.type->alignment);
            at = (at + aligned - 1) / aligned * aligned;
            if (now > 0) members.push_back({static_cast<int>(now), at, predefined(run.type->name)});
            at += static_cast<MPI_Aint>(now * run.type->size);
            k -= now;
        }
    return structure(std::move(members));
}

std::int64_t whole(std::size_t k, std::size_t of) {
    return k % of == 0 ? static_cast<std::int64_t>(k / of) : std::int64_t{MPI_UNDEFINED};
}

// 0, a few, one more and one less than an element, all of them.
std::vector<std::size_t> interesting(std::size_t elements, std::size_t n) {
    std::vector<std::size_t> all = {0, 1, elements - 1, elements, elements + 1, elements * n - 1, elements * n};
    for (std::size_t k = 2; k < std::min<std::size_t>(elements, 6); ++k) all.push_back(k);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

} // namespace

ASSAY_TEST(datatype, elements,
           requirements{"datatype.elements.partial", "datatype.count.undefined", "datatype.elements.large",
                        "datatype.partial_receive"},
           over(receivable_recipes(), axis_use{&queries()}), thread_safe{}) {
    auto const& how = mpi.at(recipes());
    made_type type(mpi, how, binding::small);
    if (!type) return;
    constexpr std::size_t n = 2;
    auto const per = how.map.elements();
    for (auto k : interesting(per, n)) {
        auto const part = beginning(how.map, k);
        own_type const sent(mpi, part);
        auto& in = mpi.bytes(how.map, n);
        in.poison();
        std::vector<unsigned char> out(static_cast<std::size_t>(part.map.extent()) + 16, 7);
        auto status = poisoned_status();
        mpi.ok(MPI_Sendrecv(out.data(), 1, sent, 0, mpi.tag(), in, static_cast<int>(n), type, 0, mpi.tag(),
                            MPI_COMM_SELF, &status));
        auto const got = ask(mpi, status, type, mpi.at(queries()));
        auto const what = fmt::format(" after {} of {} basic elements", k, n * per);
        equal(mpi, "MPI_Get_elements" + what, got.elements, static_cast<std::int64_t>(k));
        equal(mpi, "MPI_Get_count" + what, got.count, whole(k, per));
        // The data that came lies where the type map says, and nothing else was touched.
        std::size_t seen = 0;
        auto const* const base = static_cast<unsigned char const*>(in.address());
        for (std::size_t e = 0; e < n; ++e)
            for (auto const& run : how.map.runs())
                for (std::size_t i = 0; i < run.count; ++i, ++seen) {
                    auto const* const at = base + static_cast<std::ptrdiff_t>(e) * how.map.extent() + run.offset +
                                           static_cast<std::ptrdiff_t>(i * run.type->size);
                    unsigned char const expected = seen < k ? 7 : poison_byte;
                    if (!std::all_of(at, at + run.type->size, [=](auto b) { return b == expected; })) {
                        mpi.check(false, finding::data, fmt::format("basic element {}{} is wrong", seen, what));
                        return;
                    }
                }
    }
}

ASSAY_TEST(datatype, set_elements,
           requirements{"datatype.set_elements", "datatype.set_elements.count", "datatype.elements.large"},
           over(receivable_recipes(), axis_use{&queries()}), thread_safe{}) {
    expect_setter(mpi);
    auto const& how = mpi.at(recipes());
    made_type type(mpi, how, binding::small);
    if (!type) return;
    auto const per = how.map.elements();
    for (auto k : interesting(per, 3)) {
        auto status = poisoned_status();
        mpi.ok(set(&status, type, mpi.at(queries()), static_cast<std::int64_t>(k)));
        auto const got = ask(mpi, status, type, mpi.at(queries()));
        equal(mpi, fmt::format("MPI_Get_elements after MPI_Status_set_elements to {}", k), got.elements,
              static_cast<std::int64_t>(k));
        equal(mpi, fmt::format("MPI_Get_count after MPI_Status_set_elements to {}, {} an element,", k, per), got.count,
              whole(k, per));
    }
}

// Numbers beyond int need no data: a status can be made to say so.
ASSAY_TEST(datatype, elements_beyond_int,
           requirements{"datatype.elements.overflow", "datatype.count.overflow", "datatype.set_elements.large"},
           over(only(queries(), [](query q) { return q != query::plain; })), thread_safe{}) {
    expect_setter(mpi);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_vector(3, 1, 2, MPI_SHORT, &made)) || !mpi.ok(MPI_Type_commit(&made))) return;
    own_type const three(made);
    struct row {
        MPI_Datatype type;
        std::int64_t per, n;
    };
    for (auto const& r : {row{MPI_BYTE, 1, std::int64_t{1} << 31}, row{MPI_BYTE, 1, (std::int64_t{1} << 31) - 1},
                          row{MPI_INT, 1, 3'000'000'000}, row{MPI_DOUBLE, 1, std::int64_t{1} << 40},
                          row{three, 3, 6'000'000'000}, row{three, 3, 6'000'000'001}, row{three, 3, 12'000'000'000}}) {
        auto status = poisoned_status();
        if (!mpi.ok(set(&status, r.type, mpi.at(queries()), r.n))) continue;
        auto const fits = [](std::int64_t x) {
            return x <= std::numeric_limits<int>::max() ? x : std::int64_t{MPI_UNDEFINED};
        };
        auto const count = r.n % r.per == 0 ? r.n / r.per : std::int64_t{MPI_UNDEFINED};
        auto const what = fmt::format(" of {} basic elements, {} in one element,", r.n, r.per);
        auto const plain = ask(mpi, status, r.type, query::plain);
        equal(mpi, "MPI_Get_elements" + what, plain.elements, fits(r.n));
        equal(mpi, "MPI_Get_count" + what, plain.count, fits(count));
        equal(mpi, "the large MPI_Get_elements" + what, ask(mpi, status, r.type, mpi.at(queries())).elements, r.n);
        if (mpi.at(queries()) == query::c)
            equal(mpi, "MPI_Get_count_c" + what, ask(mpi, status, r.type, query::c).count, count);
    }
}

// On a predefined datatype both count the same.
ASSAY_TEST(datatype, elements_predefined, requirements{"datatype.elements.predefined", "datatype.elements.probe"},
           over(only(type_axis(), [](datatype const& t) { return t.predefined && t.map.elements() == 1; }),
                axis_use{&queries()}),
           thread_safe{}) {
    constexpr std::size_t n = 5;
    auto &out = mpi.incoming(n), &in = mpi.incoming(n);
    auto const key = mpi.key(0, 0, 0, 0, 0);
    out.fill(key);
    for (int k : {0, 1, 3, 5}) {
        MPI_Request request = MPI_REQUEST_NULL;
        auto probed = poisoned_status(), status = poisoned_status();
        mpi.ok(MPI_Isend(out, k, mpi.type, 0, mpi.tag(), MPI_COMM_SELF, &request));
        mpi.ok(MPI_Probe(0, mpi.tag(), MPI_COMM_SELF, &probed));
        in.poison();
        mpi.ok(MPI_Recv(in, static_cast<int>(n), mpi.type, 0, mpi.tag(), MPI_COMM_SELF, &status));
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (auto const* s : {&probed, &status}) {
            auto const got = ask(mpi, *s, mpi.type, mpi.at(queries()));
            char const* const from = s == &probed ? "a probe" : "a receive";
            equal(mpi, fmt::format("MPI_Get_elements after {} of {}", from, k), got.elements, k);
            equal(mpi, fmt::format("MPI_Get_count after {} of {}", from, k), got.count, k);
        }
        in.expect(key, static_cast<std::size_t>(k), "from oneself");
    }
}
