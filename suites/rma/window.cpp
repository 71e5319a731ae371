#include "suites/rma/window.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <sched.h>

namespace assay::rma {
namespace {

constexpr std::size_t guard_size = 64;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::size_t extent_of(layout const& map) { return static_cast<std::size_t>(std::abs(map.extent())); }

} // namespace

bool all_share_memory(test_run& mpi) {
    static std::map<std::pair<MPI_Comm, int>, bool> known; // communicators live as long as the job
    static std::mutex mutex;
    auto const key = std::pair(mpi.comm, mpi.size);
    {
        std::lock_guard const lock(mutex);
        if (auto const found = known.find(key); found != known.end()) return found->second;
    }
    int size = 0;
    MPI_Comm shared = MPI_COMM_NULL;
    if (mpi.ok(MPI_Comm_split_type(mpi.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared))) {
        mpi.ok(MPI_Comm_size(shared, &size));
        mpi.ok(MPI_Comm_free(&shared));
    }
    std::lock_guard const lock(mutex);
    return known.emplace(key, size == mpi.size).first->second;
}

void expect_shared_size(test_run& mpi, int rank, MPI_Aint found, MPI_Aint expected, bool may_be_padded,
                        std::source_location where) {
    auto const padded = may_be_padded && found > expected;
    mpi.check(padded ? requirement("rma.shared.query_size") : requirement("rma.shared.query"), found == expected,
              finding::window,
              fmt::format("MPI_Win_shared_query gives {} bytes for rank {}, expected {}", found, rank, expected),
              where);
}

// ---- Windows

axis<flavor> const& flavors() {
    static axis<flavor> const axis("window",
                                   {{{"create", "MPI_Win_create"}, flavor::create},
                                    {{"allocate", "MPI_Win_allocate"}, flavor::allocate},
                                    {{"dynamic", "MPI_Win_create_dynamic and MPI_Win_attach"}, flavor::dynamic},
                                    {{"shared", "MPI_Win_allocate_shared"}, flavor::shared}});
    return axis;
}

axis<unit> const& units() {
    static axis<unit> const axis("unit", {{{"byte", "displacements are bytes"}, unit::byte},
                                          {{"extent", "displacements are extents of the datatype"}, unit::extent},
                                          {{"by_rank", "each rank has another unit: 1, 3, 5 … bytes"}, unit::by_rank}});
    return axis;
}

axis<bool> const& hints() {
    static axis<bool> const axis(
        "hints", {{{"none", "MPI_INFO_NULL"}, false}, {{"all", "an info object with every hint that holds"}, true}});
    return axis;
}

constraint sensible_unit() {
    return where(flavors(), units(), [](flavor f, unit u) { return f != flavor::dynamic || u == unit::byte; });
}

window::window(test_run& mpi, window_kind kind, layout const& map, std::size_t elements, int slots, bool locks)
    : mpi_(mpi), kind_(kind), map_(map), elements_(elements), slots_(slots), locks_(locks) {
    if (kind.how == flavor::shared && !all_share_memory(mpi))
        mpi.unsupported("the ranks of this communicator do not share memory");
    create();
    if (!made()) return;
    auto const bytes = static_cast<std::size_t>(size(mpi.rank));
    auto around = around_;
    if (around.empty()) around = {static_cast<unsigned char*>(base_), bytes};
    memory_ =
        &mpi.over(around, static_cast<unsigned char*>(base_) + first_byte(mpi.rank), map, this->elements(mpi.rank));
}

// Memory for a window of MPI_Win_create or MPI_Win_attach. Locks may be restricted to memory from MPI_Alloc_mem or
// attached memory (section 12.5.3).
void window::take_memory() {
    auto const bytes = static_cast<std::size_t>(size(mpi_.rank)) + 3 * guard_size;
    if (kind_.how == flavor::create && locks_) {
        if (!mpi_.ok(MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &from_mpi_))) throw std::bad_alloc();
        around_ = {static_cast<unsigned char*>(from_mpi_), bytes};
    } else {
        own_.resize(bytes);
        around_ = own_;
    }
    auto const address = reinterpret_cast<std::uintptr_t>(around_.data()) + guard_size;
    base_ = around_.data() + (round_up(address, 64) - address) + guard_size;
}

void window::create() {
    auto const bytes = size(mpi_.rank);
    if (kind_.how == flavor::create || kind_.how == flavor::dynamic) take_memory();
    auto const given = info();
    int const units = unit_of(mpi_.rank);
    int code = MPI_SUCCESS;
    switch (kind_.how) {
    case flavor::create: code = MPI_Win_create(base_, bytes, units, given, mpi_.comm, &win_); break;
    case flavor::allocate: code = MPI_Win_allocate(bytes, units, given, mpi_.comm, &base_, &win_); break;
    case flavor::shared: code = MPI_Win_allocate_shared(bytes, units, given, mpi_.comm, &base_, &win_); break;
    case flavor::dynamic: code = MPI_Win_create_dynamic(given, mpi_.comm, &win_); break;
    }
    if (!mpi_.ok(code)) win_ = MPI_WIN_NULL;
    auto owned = given;
    if (owned != MPI_INFO_NULL) mpi_.ok(MPI_Info_free(&owned));
    if (!made()) return;
    mpi_.ok(MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN)); // errors of a window end the job otherwise (section 9.3)
    if (kind_.how != flavor::dynamic) return;
    mpi_.ok(MPI_Win_attach(win_, base_, bytes));
    addresses_.resize(static_cast<std::size_t>(mpi_.size));
    MPI_Aint mine = 0;
    mpi_.ok(MPI_Get_address(base_, &mine));
    for (int step = 0; step < mpi_.size; ++step) {
        int const to = (mpi_.rank + step) % mpi_.size, from = (mpi_.rank - step + mpi_.size) % mpi_.size;
        mpi_.ok(MPI_Sendrecv(&mine, 1, MPI_AINT, to, mpi_.tag(14), &addresses_[static_cast<std::size_t>(from)], 1,
                             MPI_AINT, from, mpi_.tag(14), mpi_.comm, MPI_STATUS_IGNORE));
    }
}

window::~window() {
    if (made()) {
        if (kind_.how == flavor::dynamic) mpi_.ok(MPI_Win_detach(win_, base_));
        mpi_.ok(MPI_Win_free(&win_));
        mpi_.check(win_ == MPI_WIN_NULL, finding::window, "MPI_Win_free leaves a handle other than MPI_WIN_NULL");
    }
    if (from_mpi_ != nullptr) mpi_.ok(MPI_Free_mem(from_mpi_));
}

int window::unit_of(int rank) const {
    switch (kind_.counted_in) {
    case unit::extent: return static_cast<int>(std::max<std::size_t>(extent_of(map_), 1));
    case unit::by_rank: return 2 * rank + 1;
    default: return 1;
    }
}

std::size_t window::stride(int rank) const {
    auto const units = static_cast<std::size_t>(unit_of(rank));
    return round_up(elements_ + 1, units / std::gcd(units, extent_of(map_)));
}

std::size_t window::elements(int rank) const { return static_cast<std::size_t>(slots_ - 1) * stride(rank) + elements_; }

MPI_Aint window::size(int rank) const {
    auto const above = std::max<std::ptrdiff_t>(byte_range(map_, elements(rank)).second, 0);
    // Windows of MPI_Win_allocate_shared follow each other, and each is to be aligned.
    return static_cast<MPI_Aint>(round_up(first_byte(rank) + static_cast<std::size_t>(above) + guard_size, 64));
}

std::size_t window::first_byte(int rank) const {
    auto const below = static_cast<std::size_t>(std::max<std::ptrdiff_t>(-byte_range(map_, elements(rank)).first, 0));
    auto const step = std::lcm(static_cast<std::size_t>(unit_of(rank)), map_.alignment());
    return round_up(guard_size + below, step);
}

segment window::slot(int slot) const {
    return {.first = static_cast<std::size_t>(slot) * stride(mpi_.rank), .count = elements_};
}

MPI_Aint window::displacement(int target, int slot) const {
    auto const offset = static_cast<std::ptrdiff_t>(first_byte(target)) +
                        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(slot) * stride(target)) * map_.extent();
    if (kind_.how == flavor::dynamic) return MPI_Aint_add(addresses_[static_cast<std::size_t>(target)], offset);
    return offset / unit_of(target);
}

MPI_Info window::info() const {
    if (!kind_.with_hints) return MPI_INFO_NULL;
    MPI_Info made = MPI_INFO_NULL;
    if (!mpi_.ok(MPI_Info_create(&made))) return MPI_INFO_NULL;
    bool const same = kind_.counted_in != unit::by_rank && kind_.how != flavor::dynamic;
    std::pair<char const*, char const*> const pairs[] = {
        {"no_locks", locks_ ? "false" : "true"},     {"accumulate_ordering", "rar,raw,war,waw"},
        {"accumulate_ops", "same_op_no_op"},         {"same_size", same ? "true" : "false"},
        {"same_disp_unit", same ? "true" : "false"}, {"alloc_shared_noncontig", "true"}};
    for (auto const& [key, value] : pairs) mpi_.ok(MPI_Info_set(made, key, value));
    return made;
}

// ---- Synchronization

axis<sync_way> const& syncs() {
    static axis<sync_way> const axis(
        "sync",
        {{value_info("fence", "MPI_Win_fence on both sides of the accesses").in_thesis("Fence"), sync_way::fence},
         {{"fence_asserts", "MPI_Win_fence with every assertion that holds"}, sync_way::fence_asserts},
         {value_info("post", "MPI_Win_post, start, complete, wait").in_thesis("Post"), sync_way::post},
         {{"post_test", "the same, MPI_Win_test until true in place of MPI_Win_wait"}, sync_way::post_test},
         {{"post_asserts", "the same, started with MPI_MODE_NOCHECK after a barrier"}, sync_way::post_asserts},
         {value_info("lock_exclusive", "MPI_Win_lock, exclusive").in_thesis("Lock"), sync_way::lock_exclusive},
         {{"lock_shared", "MPI_Win_lock, shared"}, sync_way::lock_shared},
         {{"lock_nocheck", "MPI_Win_lock, shared, with MPI_MODE_NOCHECK"}, sync_way::lock_nocheck},
         {{"lock_flush", "MPI_Win_lock, shared, and MPI_Win_flush"}, sync_way::lock_flush},
         {{"lock_flush_local", "MPI_Win_lock, shared, and MPI_Win_flush_local"}, sync_way::lock_flush_local},
         {{"lock_all", "MPI_Win_lock_all"}, sync_way::lock_all},
         {{"lock_all_flush", "MPI_Win_lock_all, MPI_Win_flush_all, MPI_Win_sync"}, sync_way::lock_all_flush},
         {{"lock_all_flush_local", "the same, MPI_Win_flush_local_all first"}, sync_way::lock_all_flush_local}});
    return axis;
}

axis_use checked_syncs() {
    return only(syncs(), [](sync_way s) { return s != sync_way::lock_nocheck && s != sync_way::post_asserts; });
}

bool passive(sync_way how) { return how >= sync_way::lock_exclusive; }

namespace {

bool fences(sync_way how) { return how == sync_way::fence || how == sync_way::fence_asserts; }
bool posts(sync_way how) { return how >= sync_way::post && how <= sync_way::post_asserts; }
bool locks_all(sync_way how) { return how >= sync_way::lock_all; }

MPI_Group group_of(test_run& mpi, MPI_Win win, std::vector<int> const& ranks) {
    MPI_Group all = MPI_GROUP_NULL, made = MPI_GROUP_NULL;
    mpi.ok(MPI_Win_get_group(win, &all));
    mpi.ok(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &made));
    mpi.ok(MPI_Group_free(&all));
    return made;
}

} // namespace

epoch::epoch(test_run& mpi, window& w, sync_way how, std::vector<int> targets, std::vector<int> origins, bool updates)
    : mpi_(mpi), window_(w), how_(how), targets_(std::move(targets)), origins_(std::move(origins)), updates_(updates) {
    if (!posts(how)) return;
    if (!targets_.empty()) targets_group_ = group_of(mpi, w, targets_);
    if (!origins_.empty()) origins_group_ = group_of(mpi, w, origins_);
}

epoch::~epoch() {
    for (auto* group : {&targets_group_, &origins_group_})
        if (*group != MPI_GROUP_NULL) mpi_.ok(MPI_Group_free(group));
}

void epoch::lock(int kind, int target, int assertion) { mpi_.ok(MPI_Win_lock(kind, target, assertion, window_)); }
void epoch::unlock(int target) { mpi_.ok(MPI_Win_unlock(target, window_)); }

void epoch::before_store() {
    if (locks_all(how_)) mpi_.ok(MPI_Win_lock_all(0, window_));
    else if (passive(how_)) lock(MPI_LOCK_EXCLUSIVE, mpi_.rank, 0);
}

void epoch::after_store() {
    int const no_put = updates_ ? 0 : MPI_MODE_NOPUT;
    if (fences(how_)) {
        mpi_.ok(MPI_Win_fence(how_ == sync_way::fence_asserts ? MPI_MODE_NOPRECEDE | no_put : 0, window_));
    } else if (posts(how_)) {
        bool const asserts = how_ == sync_way::post_asserts;
        if (!origins_.empty()) mpi_.ok(MPI_Win_post(origins_group_, asserts ? MPI_MODE_NOCHECK | no_put : 0, window_));
        if (asserts) barrier(mpi_); // a start that does not check comes after every post
        if (!targets_.empty()) mpi_.ok(MPI_Win_start(targets_group_, asserts ? MPI_MODE_NOCHECK : 0, window_));
    } else {
        if (locks_all(how_)) mpi_.ok(MPI_Win_sync(window_));
        else unlock(mpi_.rank);
        barrier(mpi_);
    }
}

void epoch::begin(int target) {
    if (!passive(how_) || locks_all(how_)) return;
    lock(how_ == sync_way::lock_exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target,
         how_ == sync_way::lock_nocheck ? MPI_MODE_NOCHECK : 0);
}

bool epoch::flush(int target) {
    if (how_ == sync_way::lock_flush) mpi_.ok(MPI_Win_flush(target, window_));
    else if (how_ == sync_way::lock_flush_local) mpi_.ok(MPI_Win_flush_local(target, window_));
    else return false;
    return true;
}

void epoch::end(int target) {
    if (passive(how_) && !locks_all(how_)) unlock(target);
}

bool epoch::flush_all() {
    if (how_ == sync_way::lock_all_flush) mpi_.ok(MPI_Win_flush_all(window_));
    else if (how_ == sync_way::lock_all_flush_local) mpi_.ok(MPI_Win_flush_local_all(window_));
    else return false;
    return true;
}

void epoch::finish() {
    if (fences(how_)) {
        int const asserts = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED;
        mpi_.ok(MPI_Win_fence(how_ == sync_way::fence_asserts ? asserts : 0, window_));
    } else if (posts(how_)) {
        if (!targets_.empty()) mpi_.ok(MPI_Win_complete(window_));
        if (origins_.empty()) return;
        if (how_ != sync_way::post_test) {
            mpi_.ok(MPI_Win_wait(window_));
            return;
        }
        for (int flag = 0; flag == 0;) {
            if (!mpi_.ok(MPI_Win_test(window_, &flag))) break;
            if (flag == 0) sched_yield();
        }
    } else if (how_ == sync_way::lock_all_flush || how_ == sync_way::lock_all_flush_local) {
        if (how_ == sync_way::lock_all_flush_local) mpi_.ok(MPI_Win_flush_all(window_));
        barrier(mpi_);
        mpi_.ok(MPI_Win_sync(window_));
    } else {
        if (how_ == sync_way::lock_all) mpi_.ok(MPI_Win_unlock_all(window_));
        barrier(mpi_);
        lock(MPI_LOCK_SHARED, mpi_.rank, 0);
    }
}

void epoch::leave() {
    if (how_ == sync_way::lock_all_flush || how_ == sync_way::lock_all_flush_local)
        mpi_.ok(MPI_Win_unlock_all(window_));
    else if (passive(how_)) unlock(mpi_.rank);
}

void barrier(test_run& mpi) {
    for (int distance = 1; distance < mpi.size; distance *= 2)
        mpi.ok(MPI_Sendrecv(nullptr, 0, MPI_BYTE, (mpi.rank + distance) % mpi.size, mpi.tag(15), nullptr, 0, MPI_BYTE,
                            (mpi.rank - distance + mpi.size) % mpi.size, mpi.tag(15), mpi.comm, MPI_STATUS_IGNORE));
}

// ---- Patterns

axis<shape> const& patterns() {
    static axis<shape> const axis(
        "pattern", {{value_info("ring", "each rank accesses its right neighbour").in_thesis("Ring"), shape::ring},
                    {{"alltoall", "each rank accesses every rank, itself too"}, shape::alltoall},
                    {{"to_root", "each rank accesses rank 0"}, shape::to_root},
                    {{"from_root", "rank 0 accesses each rank"}, shape::from_root}});
    return axis;
}

pattern pattern_of(test_run const& mpi, shape which) {
    std::vector<int> all(static_cast<std::size_t>(mpi.size));
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> const root{0}, nobody;
    switch (which) {
    case shape::ring: return {{(mpi.rank + 1) % mpi.size}, {(mpi.rank - 1 + mpi.size) % mpi.size}, 1};
    case shape::alltoall: return {all, all, mpi.size};
    case shape::to_root: return {root, mpi.rank == 0 ? all : nobody, mpi.size};
    default: return {mpi.rank == 0 ? all : nobody, root, 1};
    }
}

} // namespace assay::rma
