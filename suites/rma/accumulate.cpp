// Keller: "Accumulate" with MPI_Win_post and minimum, MPI_Win_lock and maximum, MPI_Win_fence and sum, and every other
// operation, call and synchronization (MPI-5.0 section 12.3.4). Where several ranks update the same elements, every update
// has to count (12.7.1): the result is that of all contributions, and what a rank fetched is that of some of them.
#include "framework/mpi/reduction.hpp"
#include "suites/rma/window.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

struct update {
    enum class kind { accumulate, get_accumulate, fetch_and_op } kind;
    bool request;
    bool fetches() const { return kind != kind::accumulate; }
};
using kind = enum update::kind;
axis<update> const
    updates("access", {{value_info("accumulate", "MPI_Accumulate").in_thesis("Accumulate"), {kind::accumulate, false}},
                       {{"get_accumulate", "MPI_Get_accumulate"}, {kind::get_accumulate, false}},
                       {{"fetch_and_op", "MPI_Fetch_and_op"}, {kind::fetch_and_op, false}},
                       {{"raccumulate", "MPI_Raccumulate and MPI_Wait"}, {kind::accumulate, true}},
                       {{"rget_accumulate", "MPI_Rget_accumulate and MPI_Wait"}, {kind::get_accumulate, true}}});

bool accumulates(operation const& op) { return op.for_accumulates(); }
bool one_origin(shape s) { return s == shape::ring || s == shape::from_root; }

// Whether any operation is defined for it; MPI_PACKED is no datatype of elements.
bool takes_updates(datatype const& type) {
    if (type.name == "packed") return false;
    for (std::size_t i = 0; i < operations().size(); ++i)
        if (operations().at(i).for_accumulates() && defined_for(operations().at(i), type)) return true;
    return false;
}

using bytes = std::vector<unsigned char>;

// The data of a buffer as a packed stream.
bytes packed(buffer const& b, layout const& map) {
    bytes out;
    auto const* element = static_cast<unsigned char const*>(b.address());
    for (std::size_t e = 0; e < b.count(); ++e, element += map.extent())
        for (auto const& run : map.runs())
            out.insert(out.end(), element + run.offset, element + run.offset + run.count * run.type->size);
    return out;
}

// The first element that is one of none of the `candidates`, or SIZE_MAX. Updates are atomic for each element of the
// predefined datatype: of a pair both parts belong together.
std::size_t first_stranger(bytes const& got, std::vector<bytes> const& candidates, datatype const& type) {
    std::size_t atom = 0;
    std::vector<bool> carries;
    for (auto const& run : type.map.runs()) {
        for (std::size_t i = 0; i < (type.predefined ? run.count : 1); ++i)
            for (std::size_t k = 0; k < run.type->size; ++k) carries.push_back(run.type->carries(k));
        atom = carries.size();
        if (!type.predefined) break;
    }
    for (std::size_t at = 0; atom > 0 && at + atom <= got.size(); at += atom) {
        bool const known = std::any_of(candidates.begin(), candidates.end(), [&](bytes const& c) {
            for (std::size_t k = 0; k < atom; ++k)
                if (carries[k] && c[at + k] != got[at + k]) return false;
            return true;
        });
        if (!known) return at / atom;
    }
    return SIZE_MAX;
}

} // namespace

ASSAY_TEST(rma, accumulate,
           requirements{"rma.accumulate", "rma.get_accumulate", "rma.fetch_and_op", "rma.accumulate.replace",
                        "rma.accumulate.no_op", "rma.accumulate.derived", "rma.get_accumulate.replace",
                        "rma.fetch_and_op.replace", "rma.atomicity", "rma.origin_unchanged", "rma.request"},
           over(axis_use{&updates}, only(operations(), accumulates), axis_use{&patterns()}, axis_use{&syncs()},
                axis_use{&flavors()}, axis_use{&units()}, axis_use{&hints()}, communicators::intra(),
                only(type_axis(), takes_updates), counts::ladder(), placements::all()),
           defined_operation(), sensible_unit(), fits_memory(true),
           where(updates, syncs(), [](update const& u, sync_way s) { return !u.request || passive(s); }),
           where(updates, operations(),
                 [](update const& u, operation const& op) { return op.kind != op_kind::no_op || u.fetches(); }),
           // What was fetched is compared with the results of all sets of processes that may have come before.
           where(updates, patterns(),
                 [](job const& j, update const& u, shape s) { return !u.fetches() || one_origin(s) || j.np <= 16; }),
           // Of several values that replace an element any one may be the last.
           where(patterns(), operations(),
                 [](shape s, operation const& op) { return op.kind != op_kind::replace || one_origin(s); }),
           // Pairs of axes: what no third one can mend is then seen at once when cases are planned.
           where(updates, type_axis(),
                 [](update const& u, datatype const& t) { return u.kind != kind::fetch_and_op || t.predefined; }),
           where(updates, count_ladder(),
                 [](update const& u, count_value const& n) {
                     return u.kind != kind::fetch_and_op || (n.kind == count_value::unit::elements && n.n == 1);
                 }),
           thread_safe{}) {
    auto const what = mpi.at(updates);
    auto const& op = mpi.at(operations());
    auto const how = mpi.at(syncs());
    auto const which = mpi.at(patterns());
    auto who = pattern_of(mpi, which);
    who.slots = 1;               // all update the same elements
    int const before = mpi.size; // who contributed what a window holds first
    auto const of_target = [&](int target) {
        return reduction(op, *mpi.type_entry, mpi.key(0, target, 0, target, 0), mpi.size + 1);
    };
    window win(mpi, {mpi.at(flavors()), mpi.at(units()), mpi.at(hints())}, mpi.map, mpi.elements, 1, passive(how));
    if (!win.made()) return;
    struct local {
        bytes given;
        buffer* out = nullptr;
        buffer* in = nullptr;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    std::vector<local> locals;
    for (int const target : who.targets) {
        auto& l = locals.emplace_back();
        l.given = of_target(target).operand(mpi.rank, 0, mpi.elements);
        l.out = &mpi.incoming();
        l.out->fill({.first = 0, .count = mpi.elements, .stream = l.given.data()});
        l.in = &mpi.incoming();
    }
    auto const mine = of_target(mpi.rank);
    auto const initial = mine.operand(before, 0, mpi.elements);
    std::vector<int> everybody{before};
    everybody.insert(everybody.end(), who.origins.begin(), who.origins.end());
    auto const result = mine.result(everybody, 0, mpi.elements);
    auto content = win.slot(0);

    epoch round(mpi, win, how, who.targets, who.origins, true);
    round.store([&] {
        content.stream = initial.data();
        win.memory().fill(content);
    });
    for (std::size_t i = 0; i < locals.size(); ++i) {
        auto& l = locals[i];
        int const target = who.targets[i], n = mpi.count;
        auto const at = win.displacement(target, 0);
        auto const t = mpi.type;
        auto const o = op.handle();
        round.begin(target);
        if (what.kind == kind::fetch_and_op) mpi.ok(MPI_Fetch_and_op(*l.out, *l.in, t, target, at, o, win));
        else if (what.fetches() && what.request)
            mpi.ok(MPI_Rget_accumulate(*l.out, n, t, *l.in, n, t, target, at, n, t, o, win, &l.request));
        else if (what.fetches()) mpi.ok(MPI_Get_accumulate(*l.out, n, t, *l.in, n, t, target, at, n, t, o, win));
        else if (what.request) mpi.ok(MPI_Raccumulate(*l.out, n, t, target, at, n, t, o, win, &l.request));
        else mpi.ok(MPI_Accumulate(*l.out, n, t, target, at, n, t, o, win));
        if (what.request) {
            mpi.ok(MPI_Wait(&l.request, MPI_STATUS_IGNORE));
            mpi.check_null(l.request);
        }
        round.flush(target);
        round.end(target);
    }
    round.flush_all();
    round.finish();
    content.stream = result.data();
    win.memory().expect(content, "of a window after updates");
    round.leave();

    for (std::size_t i = 0; i < locals.size(); ++i) {
        auto& l = locals[i];
        int const target = who.targets[i];
        l.out->expect_unchanged();
        if (!what.fetches()) {
            l.in->expect_untouched();
            continue;
        }
        auto const there = of_target(target);
        segment fetched{.first = 0, .count = mpi.elements};
        if (one_origin(which)) { // nobody else was there: the first content
            auto const first = there.operand(before, 0, mpi.elements);
            fetched.stream = first.data();
            l.in->expect(fetched, fmt::format("fetched from rank {}", target));
            continue;
        }
        auto const got = packed(*l.in, mpi.map);
        fetched.stream = got.data();
        l.in->expect(fetched, fmt::format("around what was fetched from rank {}", target));
        // The more processes, the more sets of them there are, and the fewer elements are looked at: the last is one of them.
        std::vector<int> others;
        for (int r = 0; r < mpi.size; ++r)
            if (r != mpi.rank) others.push_back(r);
        auto const looked_at =
            others.size() <= 4 ? mpi.elements : std::min<std::size_t>(mpi.elements, (1u << 17) >> others.size());
        auto const first = mpi.elements - looked_at;
        std::vector<bytes> candidates;
        for (unsigned set = 0; set < 1u << others.size(); ++set) {
            std::vector<int> some{before};
            for (std::size_t k = 0; k < others.size(); ++k)
                if ((set >> k & 1) != 0) some.push_back(others[k]);
            candidates.push_back(there.result(some, first, looked_at));
        }
        auto const skipped = first * mpi.map.size();
        auto const wrong = first_stranger({got.begin() + static_cast<std::ptrdiff_t>(skipped), got.end()}, candidates,
                                          *mpi.type_entry);
        mpi.check(
            wrong == SIZE_MAX, finding::data,
            fmt::format("part {} of what was fetched from rank {}, from element {} on, is not the result of any of "
                        "the updates before",
                        wrong, target, first));
    }
}
