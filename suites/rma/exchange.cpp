// Keller: "Ring w/ Put" and "Ring w/ Get", with MPI_Win_fence, MPI_Win_post and MPI_Win_lock, and what the standard has
// beside them: MPI-5.0 sections 12.3.1, 12.3.2 and 12.3.5.
#include "suites/common/described.hpp"
#include "suites/rma/window.hpp"

#include <string>

using namespace assay;
using namespace assay::rma;

namespace {

// Accumulating with MPI_REPLACE is a put, and with MPI_NO_OP a get, element by element (section 12.3.4).
struct access_call {
    enum class kind { put, get, accumulate, get_accumulate } kind;
    bool request;
    bool writes() const { return kind == kind::put || kind == kind::accumulate; }
    bool accumulates() const { return kind == kind::accumulate || kind == kind::get_accumulate; }
};
using kind = enum access_call::kind;
axis<access_call> const
    accesses("access",
             {{value_info("put", "MPI_Put").in_thesis("Put"), {kind::put, false}},
              {value_info("get", "MPI_Get").in_thesis("Get"), {kind::get, false}},
              {{"accumulate", "MPI_Accumulate with MPI_REPLACE"}, {kind::accumulate, false}},
              {{"get_accumulate", "MPI_Get_accumulate with MPI_NO_OP"}, {kind::get_accumulate, false}},
              {{"rput", "MPI_Rput and MPI_Wait"}, {kind::put, true}},
              {{"rget", "MPI_Rget and MPI_Wait"}, {kind::get, true}},
              {{"raccumulate", "MPI_Raccumulate with MPI_REPLACE, and MPI_Wait"}, {kind::accumulate, true}},
              {{"rget_accumulate", "MPI_Rget_accumulate with MPI_NO_OP, and MPI_Wait"}, {kind::get_accumulate, true}}});

// The basic datatype that all data of a datatype consists of, if it is one that has this name and is not the same.
datatype const* basic_of(datatype const& type) {
    auto const& runs = type.map.runs();
    if (type.predefined || runs.empty()) return nullptr;
    for (auto const& run : runs)
        if (run.type != runs[0].type) return nullptr;
    for (auto const& entry : all_datatypes())
        if (entry.name == runs[0].type->name) return &entry;
    return nullptr;
}

// Accumulate functions need one predefined datatype of which all is made (section 12.3.4.1). Derived datatypes of pairs
// are left to rma.accumulate.
bool accumulable(datatype const& type) {
    if (type.map.size() == 0 || type.name == "packed") return false;
    return type.predefined || basic_of(type) != nullptr;
}

// Origin and target of an access may have different datatypes with the same signature.
enum class ends { same, basic_target, basic_origin };
axis<ends> const
    end_types("types",
              {{{"same", "origin and target have the datatype of the case"}, ends::same},
               {{"basic_target", "the target has the basic datatype that the other is made of"}, ends::basic_target},
               {{"basic_origin", "the origin has the basic datatype that the other is made of"}, ends::basic_origin}});

// One end of an access.
struct access_end {
    layout const& map;
    MPI_Datatype type;
    std::size_t elements;
    int count() const { return static_cast<int>(elements); }
};

access_end end_of(test_run const& mpi, bool is_basic) {
    if (!is_basic) return {mpi.map, mpi.type, mpi.elements};
    auto const& entry = *basic_of(*mpi.type_entry);
    return {entry.map, entry.make(), mpi.elements * mpi.map.elements()};
}

// Starts the access; `request` stays MPI_REQUEST_NULL without one.
int start(access_call const& access, void* data, access_end const& origin, int rank, MPI_Aint at,
          access_end const& target, MPI_Win win, MPI_Request* request) {
    int const n = origin.count(), m = target.count();
    auto const o = origin.type, t = target.type;
    if (access.request) switch (access.kind) {
        case kind::put: return MPI_Rput(data, n, o, rank, at, m, t, win, request);
        case kind::get: return MPI_Rget(data, n, o, rank, at, m, t, win, request);
        case kind::accumulate: return MPI_Raccumulate(data, n, o, rank, at, m, t, MPI_REPLACE, win, request);
        case kind::get_accumulate:
            return MPI_Rget_accumulate(nullptr, 0, o, data, n, o, rank, at, m, t, MPI_NO_OP, win, request);
        }
    switch (access.kind) {
    case kind::put: return MPI_Put(data, n, o, rank, at, m, t, win);
    case kind::get: return MPI_Get(data, n, o, rank, at, m, t, win);
    case kind::accumulate: return MPI_Accumulate(data, n, o, rank, at, m, t, MPI_REPLACE, win);
    default: return MPI_Get_accumulate(nullptr, 0, o, data, n, o, rank, at, m, t, MPI_NO_OP, win);
    }
}

std::string from_rank(int rank) { return "from rank " + std::to_string(rank); }

// All accesses of a pattern, in one epoch.
void access_windows(test_run& mpi, pattern const& who, window_kind made_as, access_end const& origin,
                    access_end const& target) {
    auto const access = mpi.at(accesses);
    auto const how = mpi.at(syncs());

    window win(mpi, made_as, target.map, target.elements, who.slots, passive(how));
    if (!win.made()) return;
    std::vector<segment> content; // put: what the window holds afterwards; get: what it holds all the time
    for (int const rank : who.origins) {
        auto slot = win.slot(who.slot_of(rank));
        slot.key = access.writes() ? mpi.key_from(rank) : mpi.key_to(rank);
        slot.from = rank;
        content.push_back(slot);
    }
    struct local {
        buffer& data;
        int target;
        MPI_Request request = MPI_REQUEST_NULL;
        bool open = true; // the access may still use the buffer
    };
    std::vector<local> locals;
    for (int const rank : who.targets) {
        locals.push_back({mpi.bytes(origin.map, origin.elements), rank});
        if (access.writes()) locals.back().data.fill(mpi.key_to(rank));
    }
    // The access is complete at the origin: what a get brought is there, and the buffer of a put may be used again.
    auto const complete = [&](local& l) {
        if (!l.open) return;
        l.open = false;
        if (!access.writes()) return l.data.expect(mpi.key_from(l.target), origin.elements, from_rank(l.target));
        l.data.expect_unchanged();
        l.data.fill(mpi.key_to(l.target, 1));
    };

    epoch round(mpi, win, how, who.targets, who.origins, access.writes());
    round.store([&] {
        if (access.writes()) win.memory().poison();
        else win.memory().fill(content);
    });
    for (auto& l : locals) {
        auto const displacement = win.displacement(l.target, who.slot_of(mpi.rank));
        round.begin(l.target);
        mpi.ok(start(access, l.data, origin, l.target, displacement, target, win, &l.request));
        if (access.request) {
            mpi.ok(MPI_Wait(&l.request, MPI_STATUS_IGNORE));
            mpi.check_null(l.request);
            complete(l);
        }
        if (round.flush(l.target)) complete(l);
        round.end(l.target);
    }
    if (round.flush_all())
        for (auto& l : locals) complete(l);
    round.finish();
    if (access.writes()) win.memory().expect(content, "of a window after puts");
    else win.memory().expect(content, "of a window that was only read");
    round.leave();
    for (auto& l : locals) complete(l);
}

} // namespace

ASSAY_TEST(rma, exchange,
           requirements{"rma.put.data",
                        "rma.get.data",
                        "rma.origin_unchanged",
                        "rma.request",
                        "rma.target_datatype",
                        "rma.accumulate.replace",
                        "rma.accumulate.no_op",
                        "rma.displacement",
                        "rma.self",
                        "rma.fence",
                        "rma.fence.asserts",
                        "rma.post_start",
                        "rma.win_test",
                        "rma.lock",
                        "rma.lock_all",
                        "rma.flush",
                        "rma.flush_local",
                        "rma.sync",
                        "rma.dynamic",
                        "rma.allocate",
                        "rma.create",
                        "rma.create.units_differ",
                        "rma.dynamic.base",
                        "rma.visible.store",
                        "rma.visible.update",
                        "rma.wait.target",
                        "rma.unlock_all",
                        "rma.request.rput",
                        "rma.request.rget",
                        "rma.request.raccumulate",
                        "rma.request.rget_accumulate",
                        "rma.allocate_shared",
                        "rma.hints",
                        "rma.free"},
           over(axis_use{&accesses}, axis_use{&patterns()}, axis_use{&syncs()}, axis_use{&flavors()},
                axis_use{&units()}, axis_use{&hints()}, axis_use{&end_types}, communicators::intra(),
                only(type_axis(), [](datatype const& t) { return t.map.size() > 0; }), counts::ladder(),
                placements::all()),
           where(accesses, syncs(), [](access_call const& a, sync_way s) { return !a.request || passive(s); }),
           where(accesses, type_axis(),
                 [](access_call const& a, datatype const& t) { return !a.accumulates() || accumulable(t); }),
           where(end_types, type_axis(),
                 [](ends e, datatype const& t) { return e == ends::same || basic_of(t) != nullptr; }),
           sensible_unit(), fits_memory(true), thread_safe{}) {
    auto const types = mpi.at(end_types);
    access_windows(mpi, pattern_of(mpi, mpi.at(patterns())), {mpi.at(flavors()), mpi.at(units()), mpi.at(hints())},
                   end_of(mpi, types == ends::basic_origin), end_of(mpi, types == ends::basic_target));
}

// Origin and target describe what moves in different ways.
ASSAY_TEST(rma, layouts,
           requirements{"rma.target_datatype", "rma.put.data", "rma.get.data", "rma.origin_unchanged",
                        "rma.accumulate.derived"},
           over(axis_use{&accesses}, axis_use{&sent_as()}, axis_use{&received_as()},
                only(patterns(), [](shape s) { return s == shape::ring || s == shape::alltoall; }),
                only(syncs(),
                     [](sync_way s) {
                         return s == sync_way::fence || s == sync_way::post || s == sync_way::lock_shared ||
                                s == sync_way::lock_all_flush;
                     }),
                only(flavors(), [](flavor f) { return f == flavor::create || f == flavor::allocate; }),
                communicators::of({"world", "reversed"}), described_types(), described_counts()),
           where(accesses, syncs(), [](access_call const& a, sync_way s) { return !a.request || passive(s); }),
           where(accesses, type_axis(),
                 [](access_call const& a, datatype const& t) {
                     // Derived datatypes of pairs are left to rma.accumulate.
                     return !a.accumulates() || basic_of(t) != nullptr || (t.predefined && t.map.elements() == 1);
                 }),
           fits_memory(true), note{"six times as many elements as `count` says"}, thread_safe{}) {
    auto const& a = mpi.at(accesses);
    described const sent(mpi, mpi.at(sent_as())), received(mpi, mpi.at(received_as()));
    auto const &origin = a.writes() ? sent : received, &target = a.writes() ? received : sent;
    access_windows(mpi, pattern_of(mpi, mpi.at(patterns())), {mpi.at(flavors()), unit::byte, false},
                   {origin.map, origin.type, origin.count}, {target.map, target.type, target.count});
}

// A test of its own with few cases: a library that gets this wrong hangs.
ASSAY_TEST(rma, no_data, requirements{"rma.put.no_elements", "rma.put.data", "rma.get.data"},
           over(only(accesses, [](access_call const& a) { return !a.request && !a.accumulates(); }),
                only(flavors(), [](flavor f) { return f == flavor::create || f == flavor::allocate; }),
                communicators::world(),
                only(type_axis(), [](datatype const& t) { return t.name == "int" || t.map.size() == 0; }),
                only(count_ladder(), [](count_value const& c) { return c.n == 0 || c.n == 17; })),
           where(type_axis(), count_ladder(),
                 [](datatype const& t, count_value const& c) { return t.map.size() == 0 || c.n == 0; }),
           note{"no elements, or elements without data"}, thread_safe{}) {
    auto const access = mpi.at(accesses);
    auto const who = pattern_of(mpi, shape::ring);
    window win(mpi, {mpi.at(flavors()), unit::byte, false}, mpi.map, mpi.elements, 1, false);
    if (!win.made()) return;
    auto& data = mpi.incoming();
    access_end const same{mpi.map, mpi.type, mpi.elements};
    epoch round(mpi, win, sync_way::fence, who.targets, who.origins, access.writes());
    round.store([&] { win.memory().poison(); });
    mpi.ok(start(access, data, same, who.targets[0], win.displacement(who.targets[0], 0), same, win, nullptr));
    round.finish();
    win.memory().expect_untouched();
    data.expect_untouched();
}
