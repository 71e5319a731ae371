// Which message goes to which receive: by source, by tag and ignored bits, in the order of both.
//
// Two queues, one of receives that wait for a message and one of messages that wait for a receive. Receives that name a sender or
// not, and that ignore the same bits, are of one kind; programs have few kinds. Among receives of one kind, and for a kind of
// receive among messages, what fits is found by hash, so that long queues cost no search. Short queues are searched: that is
// faster. tests/cpp/transports compares both with a matcher that does nothing but search.
#pragma once
#include "transports/core/faults.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::ofi {

inline constexpr std::uint32_t any_peer = ~std::uint32_t{0};

// What a message is known by.
struct label {
    std::uint32_t from = any_peer;
    std::uint64_t tag = 0;
    bool operator==(label const&) const = default;
};

// What a receive takes.
struct wanted {
    std::uint32_t from = any_peer;
    std::uint64_t tag = 0;
    std::uint64_t ignore = 0; // bits of the tag that do not count

    bool takes(label const& it) const {
        return (from == any_peer || from == it.from) && ((tag ^ it.tag) & ~ignore) == 0;
    }
};

namespace matching {

inline constexpr std::size_t few = 8; // entries that are searched rather than hashed

struct hash {
    std::size_t operator()(label const& it) const {
        auto mixed = (it.tag ^ std::uint64_t{it.from} << 32) * 0x9e3779b97f4a7c15u;
        return static_cast<std::size_t>(mixed ^ mixed >> 32);
    }
};

// Entries for receives of one kind, each where a receive looks for it, the oldest first.
template <typename Entry> struct kind {
    using chain = std::list<Entry*>;

    bool any = false; // sender
    std::uint64_t ignore = 0;
    std::unordered_map<label, chain, hash> chains;

    static bool is(kind const& one, wanted const& what) {
        return one.any == (what.from == any_peer) && one.ignore == what.ignore;
    }
    label key(std::uint32_t from, std::uint64_t tag) const { return {any ? any_peer : from, tag & ~ignore}; }
    chain const* find(std::uint32_t from, std::uint64_t tag) const {
        auto const at = chains.find(key(from, tag));
        return at == chains.end() ? nullptr : &at->second;
    }
    typename chain::iterator add(std::uint32_t from, std::uint64_t tag, Entry* it) {
        auto& to = chains[key(from, tag)];
        return to.insert(to.end(), it);
    }
    void remove(std::uint32_t from, std::uint64_t tag, typename chain::iterator it) {
        auto const at = chains.find(key(from, tag));
        at->second.erase(it);
        if (at->second.empty()) chains.erase(at);
    }
};

} // namespace matching

// Receives in the order in which they were posted. They stay the caller's.
template <typename Receive> class posted {
public:
    void add(wanted const& what, Receive* it) {
        auto const at = list_.insert(list_.end(), {what, it, next_++});
        if (hashed_) hash(at);
        else if (list_.size() > matching::few) {
            hashed_ = true;
            for (auto each = list_.begin(); each != list_.end(); ++each) hash(each);
        }
    }
    // The first that takes the message; null if none does. It stays in the queue.
    Receive* find(label const& message) const {
        if (!hashed_) {
            for (auto const& one : list_) {
                ++looked_at_;
                if (one.what.takes(message)) return one.it;
            }
            return nullptr;
        }
        entry const* first = nullptr;
        for (auto const& each : kinds_) {
            ++looked_at_;
            auto const* const chain = each.find(message.from, message.tag);
            if (chain && (!first || older(*chain->front(), *first))) first = chain->front();
        }
        return first ? first->it : nullptr;
    }
    void remove(Receive const* it) {
        if (hashed_) {
            if (auto const at = where_.find(it); at != where_.end()) drop(at->second);
            return;
        }
        for (auto at = list_.begin(); at != list_.end(); ++at)
            if (at->it == it) {
                drop(at);
                return;
            }
    }
    // Takes out all for which pick(wanted, receive) holds, and calls done(receive) for each afterwards.
    template <typename Pick, typename Done> void take_all(Pick pick, Done done) {
        std::vector<Receive*> picked;
        for (auto at = list_.begin(); at != list_.end();) {
            auto const it = at++;
            if (!pick(it->what, it->it)) continue;
            picked.push_back(it->it);
            drop(it);
        }
        for (auto* one : picked) done(one);
    }
    std::size_t size() const { return list_.size(); }
    std::uint64_t looked_at() const { return looked_at_; } // by find(), altogether

private:
    struct entry;
    using kind = matching::kind<entry>;
    struct entry {
        wanted what;
        Receive* it;
        std::uint64_t order; // of posting
        typename std::list<kind>::iterator of = {};
        typename kind::chain::iterator at = {};
    };
    using place = typename std::list<entry>::iterator;

    static bool older(entry const& a, entry const& b) {
        return net::planted(fault::wildcards_first) ? a.what.from == any_peer : a.order < b.order;
    }
    void hash(place one) {
        auto const& what = one->what;
        one->of = kinds_.begin();
        while (one->of != kinds_.end() && !kind::is(*one->of, what)) ++one->of;
        if (one->of == kinds_.end()) one->of = kinds_.insert(kinds_.end(), {what.from == any_peer, what.ignore, {}});
        one->at = one->of->add(what.from, what.tag, &*one);
        where_.emplace(one->it, one);
    }
    void drop(place one) {
        if (hashed_) {
            where_.erase(one->it);
            one->of->remove(one->what.from, one->what.tag, one->at);
            if (one->of->chains.empty()) kinds_.erase(one->of);
        }
        list_.erase(one);
        if (list_.empty()) hashed_ = false; // and the maps are empty
    }

    std::list<entry> list_;
    std::list<kind> kinds_; // of those in the list
    std::unordered_map<Receive const*, place> where_;
    bool hashed_ = false;
    std::uint64_t next_ = 0;
    mutable std::uint64_t looked_at_ = 0;
};

// Messages in the order in which they came. They stay the caller's.
template <typename Message> class unexpected {
public:
    void add(label const& what, Message* it) {
        auto const at = list_.insert(list_.end(), {what, it, {}});
        for (auto& one : kinds_) at->at.push_back(one.add(what.from, what.tag, &*at));
        if (!kinds_.empty()) where_.emplace(it, at);
    }
    // The first that the receive takes and that `fits`, which stays in the queue; null if there is none.
    template <typename Fits> Message* find(wanted const& receive, Fits fits) {
        if (auto const* const one = kind_of(receive)) {
            ++looked_at_;
            if (auto const* const chain = one->find(receive.from, receive.tag))
                for (auto const* each : *chain)
                    if (fits(*each->it)) return each->it;
            return nullptr;
        }
        for (auto const& one : list_) {
            ++looked_at_;
            if (receive.takes(one.what) && fits(*one.it)) return one.it;
        }
        return nullptr;
    }
    Message* find(wanted const& receive) {
        return find(receive, [](Message const&) { return true; });
    }
    void remove(Message const* it) {
        if (!kinds_.empty()) {
            if (auto const at = where_.find(it); at != where_.end()) drop(at->second);
            return;
        }
        for (auto at = list_.begin(); at != list_.end(); ++at)
            if (at->it == it) {
                drop(at);
                return;
            }
    }
    template <typename Visit> void each(Visit visit) const {
        for (auto const& one : list_) visit(one.what, *one.it);
    }
    std::size_t size() const { return list_.size(); }
    std::uint64_t looked_at() const { return looked_at_; } // by find(), altogether

private:
    static constexpr std::size_t most_kinds = 8; // each costs a place in a map for every message; others search

    struct entry;
    using kind = matching::kind<entry>;
    struct entry {
        label what;
        Message* it;
        std::vector<typename kind::chain::iterator> at; // for each of kinds_
    };
    using place = typename std::list<entry>::iterator;

    // Null: the queue is to be searched.
    kind const* kind_of(wanted const& receive) {
        for (auto const& one : kinds_)
            if (kind::is(one, receive)) return &one;
        if (list_.size() <= matching::few || kinds_.size() == most_kinds) return nullptr;
        bool const first = kinds_.empty();
        auto& made = kinds_.emplace_back(kind{receive.from == any_peer, receive.ignore, {}});
        for (auto at = list_.begin(); at != list_.end(); ++at) {
            at->at.push_back(made.add(at->what.from, at->what.tag, &*at));
            if (first) where_.emplace(at->it, at);
        }
        return &made;
    }
    void drop(place one) {
        for (std::size_t k = 0; k < kinds_.size(); ++k) kinds_[k].remove(one->what.from, one->what.tag, one->at[k]);
        where_.erase(one->it);
        list_.erase(one);
        if (list_.empty()) kinds_.clear();
    }

    std::list<entry> list_;
    std::vector<kind> kinds_; // of receives that looked while the queue was long
    std::unordered_map<Message const*, place> where_;
    std::uint64_t looked_at_ = 0;
};

} // namespace assay::ofi
