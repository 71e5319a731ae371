// Which message goes to which receive: by source, by tag and ignored bits, in the order of both.
//
// Two queues, one of receives that wait for a message and one of messages that wait for a receive. They are lists that are
// searched from the front. Whoever makes them faster keeps these functions and what they return: tests/cpp/transports
// compares them with a matcher that does nothing but search.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <utility>

namespace assay::ofi {

inline constexpr std::uint32_t any_peer = ~std::uint32_t{0};

// What a message is known by.
struct label {
    std::uint32_t from = any_peer;
    std::uint64_t tag = 0;
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

// Receives in the order in which they were posted. They stay the caller's.
template <typename Receive> class posted {
public:
    void add(wanted const& what, Receive* it) { list_.emplace_back(what, it); }

    // The first that takes the message; null if none does. It stays in the queue.
    Receive* find(label const& message) const {
        for (auto const& [what, it] : list_)
            if (what.takes(message)) return it;
        return nullptr;
    }
    void remove(Receive const* it) {
        for (auto at = list_.begin(); at != list_.end(); ++at)
            if (at->second == it) {
                list_.erase(at);
                return;
            }
    }
    // Takes out all for which pick(wanted, receive) holds, and calls done(receive) for each afterwards.
    template <typename Pick, typename Done> void take_all(Pick pick, Done done) {
        std::list<std::pair<wanted, Receive*>> picked;
        for (auto at = list_.begin(); at != list_.end();) {
            auto const next = std::next(at);
            if (pick(at->first, at->second)) picked.splice(picked.end(), list_, at);
            at = next;
        }
        for (auto const& entry : picked) done(entry.second);
    }
    std::size_t size() const { return list_.size(); }

private:
    std::list<std::pair<wanted, Receive*>> list_;
};

// Messages in the order in which they came. They stay the caller's.
template <typename Message> class unexpected {
public:
    void add(label const& what, Message* it) { list_.emplace_back(what, it); }

    // The first that the receive takes and that `fits`, which stays in the queue; null if there is none.
    template <typename Fits> Message* find(wanted const& receive, Fits fits) const {
        for (auto const& [what, it] : list_)
            if (receive.takes(what) && fits(*it)) return it;
        return nullptr;
    }
    Message* find(wanted const& receive) const {
        return find(receive, [](Message const&) { return true; });
    }
    void remove(Message const* it) {
        for (auto at = list_.begin(); at != list_.end(); ++at)
            if (at->second == it) {
                list_.erase(at);
                return;
            }
    }
    template <typename Visit> void each(Visit visit) const {
        for (auto const& entry : list_) visit(entry.first, *entry.second);
    }
    std::size_t size() const { return list_.size(); }

private:
    std::list<std::pair<label, Message*>> list_;
};

} // namespace assay::ofi
