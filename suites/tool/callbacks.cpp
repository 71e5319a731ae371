// Callbacks for events, and what they can read (MPI-5.0 sections 15.3.8.2 and 15.3.8.4 to 15.3.8.7).
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

using namespace assay;
using namespace assay::tool;

namespace {

constexpr std::array levels{MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
                            MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
constexpr std::size_t none = levels.size();
// The place of a level in the hierarchy of table 21.
std::size_t number_of(MPI_T_cb_safety level) {
    return static_cast<std::size_t>(std::find(levels.begin(), levels.end(), level) - levels.begin());
}

// What a callback saw. Callbacks may come in a signal handler: they only write here.
struct seen {
    MPI_T_event_registration of;
    void* user_data;
    std::size_t required;
};
struct log {
    std::array<seen, 256> entries;
    std::size_t n = 0;
    void add(seen const& one) {
        if (n < entries.size()) entries[n++] = one;
    }
    void clear() { n = 0; }
};
log raised, freed;

struct drop {
    seen call;
    MPI_Count count;
    int source;
};
std::array<drop, 64> drops;
std::size_t dropped = 0;

// What the callback that reads looks at, and what it found.
struct reading {
    event const* type = nullptr;
    std::array<unsigned char, 4096> copied, element;
    bool same = true, accessible = true, succeeded = true;
    int sources = 0;
    MPI_Count time = -1;
    std::array<MPI_Count, 16> last{}, most{};
    std::array<bool, 16> ordered{};
    bool source_exists = true, time_in_range = true, in_order = true;
} what_was_read;

void note_raised(MPI_T_event_instance, MPI_T_event_registration of, MPI_T_cb_safety safety, void* data) {
    raised.add({of, data, number_of(safety)});
}
void note_free(MPI_T_event_registration of, MPI_T_cb_safety safety, void* data) {
    freed.add({of, data, number_of(safety)});
}
void note_dropped(MPI_Count count, MPI_T_event_registration of, int source, MPI_T_cb_safety safety, void* data) {
    if (dropped < drops.size()) drops[dropped++] = {{of, data, number_of(safety)}, count, source};
}

bool fine(int code) {
    what_was_read.accessible &= code != MPI_T_ERR_NOT_ACCESSIBLE;
    what_was_read.succeeded &= code == MPI_SUCCESS;
    return code == MPI_SUCCESS;
}
void read_all(MPI_T_event_instance instance, MPI_T_event_registration of, MPI_T_cb_safety safety, void* data) {
    raised.add({of, data, number_of(safety)});
    if (fine(MPI_T_event_copy(instance, what_was_read.copied.data())))
        for (std::size_t i = 0; i < what_was_read.type->types.size(); ++i) {
            auto const size = size_of(what_was_read.type->types[i]);
            what_was_read.element.fill(poison_byte);
            if (!fine(MPI_T_event_read(instance, static_cast<int>(i), what_was_read.element.data()))) continue;
            what_was_read.same &=
                std::memcmp(what_was_read.element.data(),
                            what_was_read.copied.data() + what_was_read.type->displacements[i], size) == 0 &&
                what_was_read.element[size] == poison_byte;
        }
    int source = -7;
    MPI_Count time = -7, now = -7;
    if (fine(MPI_T_event_get_source(instance, &source)))
        what_was_read.source_exists &= source >= 0 && source < what_was_read.sources;
    bool const known = source >= 0 && source < 16;
    if (fine(MPI_T_event_get_timestamp(instance, &time)) && known) {
        auto const s = static_cast<std::size_t>(source);
        what_was_read.time_in_range &= time != -7 && time <= what_was_read.most[s];
        what_was_read.in_order &= !what_was_read.ordered[s] || time >= what_was_read.last[s];
        what_was_read.last[s] = time;
    }
    if (!known) return;
    int const code = MPI_T_source_get_timestamp(source, &now); // it may not be supported
    what_was_read.accessible &= code != MPI_T_ERR_NOT_ACCESSIBLE;
}

// A registration of each event type in turn.
template <class Body> void for_each_event(test_run& mpi, Body body) {
    objects things(mpi);
    for (auto const& one : events(mpi)) {
        MPI_T_event_registration handle{};
        auto const rest = mpi.resting_on("tools.event.alloc");
        if (!succeeded(mpi, MPI_T_event_handle_alloc(one.index, things.of(one.bind), MPI_INFO_NULL, &handle),
                       "MPI_T_event_handle_alloc of " + one.name))
            continue;
        raised.clear();
        freed.clear();
        dropped = 0;
        body(one, handle);
        raised.clear();
    }
}
void stir_often(test_run& mpi) {
    for (int i = 0; i < 12; ++i) stir(mpi);
}
void register_at(test_run& mpi, MPI_T_event_registration handle, std::size_t level, void* data,
                 MPI_T_event_cb_function* callback) {
    succeeded(mpi, MPI_T_event_register_callback(handle, levels[level], MPI_INFO_NULL, data, callback),
              "MPI_T_event_register_callback");
}
void free_registration(test_run& mpi, MPI_T_event_registration handle) {
    succeeded(mpi, MPI_T_event_handle_free(handle, nullptr, nullptr), "MPI_T_event_handle_free");
}

// Which callbacks are registered, by the levels of table 21.
using level_set = std::array<bool, none>;
axis<level_set> const registered("callbacks",
                                 {{{"all", "of each level"}, {true, true, true, true}},
                                  {{"none", "of the lowest level"}, {true, false, false, false}},
                                  {{"restricted", "with few calls of MPI"}, {false, true, false, false}},
                                  {{"thread_safe", "that other threads may call"}, {false, false, true, false}},
                                  {{"signal_safe", "of the highest level"}, {false, false, false, true}},
                                  {{"ends", "of the lowest and the highest"}, {true, false, false, true}}});

int key_count(test_run& mpi, MPI_Info info) {
    int n = -7;
    mpi.ok(MPI_Info_get_nkeys(info, &n));
    return n;
}

} // namespace

ASSAY_TEST(tool, event_callbacks, requirements{"tools.event.alloc", "tools.event.callback", "tools.event.safety"},
           over(axis_use{&registered}), needs_events()) {
    open(mpi);
    auto const& which = mpi.at(registered);
    for_each_event(mpi, [&](event const& one, MPI_T_event_registration handle) {
        std::array<int, none> data{};
        for (std::size_t level = none; level-- > 0;) // the highest first: nothing is dropped meanwhile
            if (which[level]) register_at(mpi, handle, level, &data[level], note_raised);
        stir_often(mpi);
        free_registration(mpi, handle);
        for (std::size_t i = 0; i < raised.n; ++i) {
            auto const& call = raised.entries[i];
            std::size_t level = 0;
            while (level < none && &data[level] != call.user_data) ++level;
            if (!mpi.check("tools.event.callback", call.of == handle && level < none && which[level], finding::value,
                           one.name + ": a callback gets another handle or user data than it was registered with"))
                return;
            mpi.check("tools.event.safety", call.required <= level, finding::value,
                      fmt::format("{}: a callback of level {} is called where {} is required", one.name, level,
                                  call.required));
            for (std::size_t lower = 0; lower < level; ++lower)
                mpi.check("tools.event.safety", !which[lower] || call.required > lower, finding::value,
                          fmt::format("{}: the callback of level {} is called where that of level {} is valid",
                                      one.name, level, lower));
        }
    });
}

ASSAY_TEST(tool, event_replaced, requirements{"tools.event.alloc", "tools.event.replaced"}, needs_events()) {
    open(mpi);
    for_each_event(mpi, [&](event const& one, MPI_T_event_registration handle) {
        auto const rest = mpi.resting_on("tools.event.replaced");
        int first = 0, second = 0;
        for (auto* data : {&first, &second})
            for (std::size_t level = none; level-- > 0;) register_at(mpi, handle, level, data, note_raised);
        stir_often(mpi);
        for (std::size_t i = 0; i < raised.n; ++i)
            mpi.check(raised.entries[i].user_data == &second, finding::value,
                      one.name + ": a callback is called that another one has replaced");
        for (std::size_t level = 0; level < none; ++level) register_at(mpi, handle, level, nullptr, nullptr);
        raised.clear();
        stir_often(mpi);
        mpi.check(raised.n == 0, finding::value, one.name + ": a callback is called that was removed");
        free_registration(mpi, handle);
    });
}

ASSAY_TEST(tool, event_free, requirements{"tools.event.alloc", "tools.event.free", "tools.event.free_invalid"},
           needs_events()) {
    open(mpi);
    for_each_event(mpi, [&](event const& one, MPI_T_event_registration handle) {
        int data = 0, last = 0;
        auto const rest = mpi.resting_on("tools.event.free");
        register_at(mpi, handle, none - 1, &data, note_raised);
        stir(mpi);
        succeeded(mpi, MPI_T_event_handle_free(handle, &last, note_free), "MPI_T_event_handle_free of " + one.name);
        stir_often(mpi);
        if (freed.n == 0) return; // it may take its time
        mpi.check(freed.n == 1 && freed.entries[0].user_data == &last, finding::value,
                  one.name + ": the callback of MPI_T_event_handle_free is called twice, or with other user data");
        raised.clear();
        stir_often(mpi);
        mpi.check(raised.n == 0, finding::value, one.name + " is raised after its handle was freed");
        auto const invalid = mpi.resting_on("tools.event.free_invalid");
        returned(mpi, MPI_T_event_handle_free(handle, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE,
                 "MPI_T_event_handle_free of a handle that was freed");
    });
}

ASSAY_TEST(tool, event_dropped, requirements{"tools.event.alloc", "tools.event.dropped", "tools.event.no_dropped"},
           needs_events()) {
    open(mpi);
    int sources = 0;
    succeeded(mpi, MPI_T_source_get_num(&sources), "MPI_T_source_get_num");
    for_each_event(mpi, [&](event const& one, MPI_T_event_registration handle) {
        int data = 0;
        auto const rest = mpi.resting_on("tools.event.dropped");
        register_at(mpi, handle, 0, &data, note_raised); // where more is required the event is dropped
        succeeded(mpi, MPI_T_event_set_dropped_handler(handle, note_dropped), "MPI_T_event_set_dropped_handler");
        stir_often(mpi);
        for (std::size_t i = 0; i < dropped; ++i) {
            auto const& d = drops[i];
            mpi.check(d.call.of == handle && d.call.user_data == &data, finding::value,
                      one.name + ": the handler of dropped events gets another handle or other user data");
            mpi.check(d.count > 0 && d.source >= 0 && d.source < sources, finding::count,
                      fmt::format("{}: {} events of source {} were dropped", one.name, d.count, d.source));
            mpi.check(d.call.required == 0, finding::value,
                      one.name + ": the handler of dropped events is called where no callback is registered");
        }
        succeeded(mpi, MPI_T_event_set_dropped_handler(handle, nullptr), "MPI_T_event_set_dropped_handler");
        dropped = 0;
        stir_often(mpi);
        mpi.check("tools.event.no_dropped", dropped == 0, finding::value,
                  one.name + ": the handler of dropped events is called after it was removed");
        free_registration(mpi, handle);
    });
}

ASSAY_TEST(tool, event_data,
           requirements{"tools.event.alloc", "tools.event.read", "tools.event.timestamp", "tools.event.source",
                        "tools.event.accessible"},
           needs_events()) {
    open(mpi);
    for_each_event(mpi, [&](event const& one, MPI_T_event_registration handle) {
        what_was_read = {};
        what_was_read.type = &one;
        if (one.extent() > what_was_read.copied.size()) return;
        succeeded(mpi, MPI_T_source_get_num(&what_was_read.sources), "MPI_T_source_get_num");
        for (int i = 0; i < std::min(what_was_read.sources, 16); ++i) {
            auto const s = static_cast<std::size_t>(i);
            MPI_T_source_order order{};
            succeeded(mpi,
                      MPI_T_source_get_info(i, nullptr, nullptr, nullptr, nullptr, &order, nullptr,
                                            &what_was_read.most[s], nullptr),
                      "MPI_T_source_get_info");
            what_was_read.ordered[s] = order == MPI_T_SOURCE_ORDERED;
        }
        for (std::size_t level = none; level-- > 0;) register_at(mpi, handle, level, nullptr, read_all);
        stir_often(mpi);
        free_registration(mpi, handle);
        mpi.check("tools.event.accessible", what_was_read.accessible, finding::return_,
                  one.name + ": a procedure of table 22 returns MPI_T_ERR_NOT_ACCESSIBLE in a callback");
        mpi.check("tools.event.read", what_was_read.succeeded && what_was_read.same, finding::data,
                  one.name + ": elements that MPI_T_event_read and MPI_T_event_copy give differ, or cannot be read");
        mpi.check("tools.event.source", what_was_read.source_exists, finding::value,
                  one.name + " comes from a source that does not exist");
        mpi.check("tools.event.timestamp", what_was_read.time_in_range && what_was_read.in_order, finding::order,
                  one.name + " has timestamps that are too large, or that decrease");
    });
}

ASSAY_TEST(tool, event_hints, requirements{"tools.event.alloc", "tools.event.hints", "tools.event.callback_hints"},
           needs_events()) {
    open(mpi);
    for_each_event(mpi, [&](event const& one, MPI_T_event_registration handle) {
        register_at(mpi, handle, 0, nullptr, note_raised);
        auto const of_handle = [&](MPI_Info* info) -> int { return MPI_T_event_handle_get_info(handle, info); };
        auto const of_callback = [&](MPI_Info* info) -> int {
            return MPI_T_event_callback_get_info(handle, MPI_T_CB_REQUIRE_NONE, info);
        };
        auto const check_hints = [&](auto get_info, auto set_info, char const* call) {
            MPI_Info before = MPI_INFO_NULL, after = MPI_INFO_NULL, given = MPI_INFO_NULL;
            succeeded(mpi, get_info(&before), call);
            must(MPI_Info_create(&given), "MPI_Info_create");
            mpi.ok(MPI_Info_set(given, "assay_hint", "of no meaning"));
            succeeded(mpi, set_info(given), "setting hints");
            mpi.ok(MPI_Info_free(&given));
            succeeded(mpi, get_info(&after), call);
            if (mpi.check(before != MPI_INFO_NULL && after != MPI_INFO_NULL, finding::info,
                          fmt::format("{} of {} gives no info object", call, one.name)))
                mpi.check(key_count(mpi, after) >= key_count(mpi, before), finding::info,
                          fmt::format("{} of {} gives fewer hints after another one was set", call, one.name));
            for (auto* info : {&before, &after})
                if (*info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(info));
        };
        {
            auto const rest = mpi.resting_on("tools.event.hints");
            check_hints(
                of_handle, [&](MPI_Info info) -> int { return MPI_T_event_handle_set_info(handle, info); },
                "MPI_T_event_handle_get_info");
        }
        auto const rest = mpi.resting_on("tools.event.callback_hints");
        check_hints(
            of_callback,
            [&](MPI_Info info) -> int { return MPI_T_event_callback_set_info(handle, MPI_T_CB_REQUIRE_NONE, info); },
            "MPI_T_event_callback_get_info");
        free_registration(mpi, handle);
    });
}
