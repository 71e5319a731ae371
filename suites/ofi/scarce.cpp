// Processes that have fewer file descriptors than they need for all connections: no message is lost without anybody being told.
#include "suites/ofi/messages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <dirent.h>
#include <fmt/format.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace assay;
using namespace assay::fabric;

namespace {

axis<int> const& rooms() {
    static axis<int> const axis("room", {{{"none", "no file descriptor is left once the endpoint is open"}, 0},
                                         {{"few", "file descriptors for three connections are left"}, 3}});
    return axis;
}

// The largest number of an open file descriptor, and one more.
rlim_t after_the_last() {
    rlim_t found = 0;
    auto* const folder = opendir("/proc/self/fd");
    if (folder == nullptr) return 0;
    for (auto const* entry = readdir(folder); entry != nullptr; entry = readdir(folder)) {
        auto const number = std::strtol(entry->d_name, nullptr, 10);
        if (number != dirfd(folder)) found = std::max(found, static_cast<rlim_t>(number) + 1);
    }
    closedir(folder);
    return found;
}

// No more than so many descriptors, as long as it lives: lower numbers that are free are taken first.
class few_descriptors {
public:
    explicit few_descriptors(int more) {
        getrlimit(RLIMIT_NOFILE, &before_);
        auto limit = before_;
        limit.rlim_cur = after_the_last() + static_cast<rlim_t>(more);
        for (int fd = dup(0); fd >= 0 && static_cast<rlim_t>(fd) < limit.rlim_cur - static_cast<rlim_t>(more);
             fd = dup(0))
            gaps_.push_back(fd);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    ~few_descriptors() {
        setrlimit(RLIMIT_NOFILE, &before_);
        for (int const fd : gaps_) ::close(fd);
    }
    few_descriptors(few_descriptors const&) = delete;
    few_descriptors& operator=(few_descriptors const&) = delete;

private:
    rlimit before_{};
    std::vector<int> gaps_;
};

} // namespace

OFI_TEST(few_descriptors, requirements{"ofi.resources", "ofi.msg.data"},
         over(axis_use{&providers()}, axis_use{&rooms()}, few_sizes())) {
    auto const& provider = ofi.at(providers());
    auto const bytes = ofi.at(sizes());
    if (!provider.starts_with("assay_"))
        ofi.unsupported("no page of libfabric's says what happens where file descriptors run out");
    wish what;
    what.caps = FI_TAGGED;
    endpoint end(ofi, provider, what);
    struct exchange {
        std::vector<operation*> received, sent; // by rank
        std::vector<buffer*> in;
    };
    auto const post = [&](int round) {
        exchange made;
        made.sent.resize(static_cast<std::size_t>(ofi.size));
        for (int from = 0; from < ofi.size; ++from) {
            auto const tag = static_cast<std::uint64_t>(round * ofi.size + from);
            made.in.push_back(&ofi.incoming(bytes));
            made.received.push_back(&receive(end, true, receive_form::plain, *made.in.back(), -1, tag));
        }
        for (int n = 0; n < ofi.size; ++n) {
            int const to = (ofi.rank + n) % ofi.size;
            made.sent[static_cast<std::size_t>(to)] = send(end, {form::plain, true}, ofi.outgoing(to, bytes, round), to,
                                                           static_cast<std::uint64_t>(round * ofi.size + ofi.rank));
        }
        return made;
    };
    {
        few_descriptors const limit(ofi.at(rooms()));
        auto const all = post(0);
        std::string outcome; // by rank: y where the send succeeded
        for (auto* one : all.sent) {
            end.until([&] { return !one->said.empty(); });
            auto const* const said = end.look_for(*one, 1);
            ofi.check(said != nullptr, finding::request, "a send to a process without descriptors does not end");
            outcome += said != nullptr && said->error == 0 ? 'y' : 'n';
        }
        auto const outcomes = end.exchange(outcome);
        for (std::size_t from = 0; from < outcomes.size(); ++from) {
            auto& one = *all.received[from];
            if (outcomes[from][static_cast<std::size_t>(ofi.rank)] == 'y') {
                end.complete(one).received(bytes);
                ofi.expect(*all.in[from], static_cast<int>(from), bytes, 0);
                continue;
            }
            if (one.said.empty()) { // otherwise it has come all the same
                end.attempt([&] { return fi_cancel(&end.ep->fid, &one.context); });
                end.until([&] { return !one.said.empty(); });
            }
            one.used = one.said.size();
        }
        end.meet();
    }
    end.meet();
    // With enough of them everything goes on.
    auto const all = post(1);
    for (std::size_t from = 0; from < all.received.size(); ++from) {
        end.complete(*all.received[from]).received(bytes);
        ofi.expect(*all.in[from], static_cast<int>(from), bytes, 1);
    }
    for (auto* one : all.sent) end.complete(*one).sent();
    end.finish();
}
