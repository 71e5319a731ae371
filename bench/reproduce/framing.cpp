// assay-reproduce-framing: JULEA's message of 10,000 blocks over providers of libfabric, in three ways, and over a tuned TCP connection
// (batch.tuned). Prints lines of a name and the milliseconds of a turn. The bytes and their order are the same in all.
//   FI_PROVIDER_PATH=FOLDER assay-reproduce-framing PROVIDER...
//   sync       each part by a call of its own, whose completion is waited for before the next: what JULEA does
//   pipelined  each part by a call of its own; completions are waited for at the end
//   coalesced  parts are copied together into large buffers, which are sent by a call each: libfabric has no TCP_CORK
#include "bench/reproduce/message.hpp"
#include "bench/transports/fabric.hpp"

#include <array>
#include <sys/prctl.h>

namespace {

using namespace assay::reproduce;
using assay::bench::check;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t block_size = 4096, blocks = 10'000;
// `sockets` of libfabric 1.17 can stall for ever when much is on its way: it reads the head of a message only once all 24 bytes of it are
// there (MSG_PEEK), and Linux lets nobody send more while those that are there are the rest of a large frame that fills the
// receive buffer. So what stalls is begun again with a new connection.
// For a completion, that is; the other side has twice as much patience, so that this one says it.
constexpr std::chrono::seconds patience{5};
constexpr int tries = 5, stalls = 3; // stalls: exit code of a process
// Seconds of a process. Its progress threads never sleep while something is on its way: where there are as many as processors, who has
// been woken may wait for a tick of the scheduler each time, and four turns for a minute. That, too, is begun again.
constexpr unsigned life = 25;

struct policy {
    char const* name;
    std::size_t room;            // of the buffers that parts are copied into; 0: each is sent from where it is
    std::size_t sends, receives; // so many may be under way
};
constexpr policy policies[] = {{"sync", 0, 1, 1}, {"pipelined", 0, blocks + 2, 128}, {"coalesced", 1u << 20, 2, 2}};

struct absent : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct stalled : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct gone : std::runtime_error {
    gone() : std::runtime_error("the other side has failed") {}
};

fi_info* find(std::string const& provider, std::string const& where) {
    fi_info* const hints = fi_allocinfo();
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->fabric_attr->prov_name = strdup(provider.c_str());
    fi_info* found = nullptr;
    auto const error = fi_getinfo(FI_VERSION(1, 17), where.c_str(), nullptr, FI_SOURCE, hints, &found);
    if (error != -FI_ENODATA) check(error, "fi_getinfo");
    while (found && found->fabric_attr->prov_name != provider) found = found->next;
    if (!found) throw absent("this libfabric has no provider " + provider + " at " + where);
    return found;
}

// One side: an endpoint that sends and takes the parts of messages. Only the endpoint is ever closed: the process ends then.
class side {
public:
    // `partner` is a socket to the other process, on which they say their names and wait for each other.
    side(std::string const& provider, policy const& how, std::string const& where, int partner,
         clock_type::duration waits)
        : how_(how), partner_(partner), waits_(waits), sends_(how.sends), receives_(how.receives) {
        auto* const info = find(provider, where);
        fid_fabric* fabric = nullptr;
        fid_domain* domain = nullptr;
        fid_av* known = nullptr;
        check(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
        check(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
        check(fi_endpoint(domain, info, &ep_, nullptr), "fi_endpoint");
        fi_cq_attr queue{};
        queue.format = FI_CQ_FORMAT_MSG;
        queue.wait_obj = FI_WAIT_UNSPEC;
        queue.size = how.sends + how.receives;
        check(fi_cq_open(domain, &queue, &cq_, nullptr), "fi_cq_open");
        fi_av_attr addresses{};
        check(fi_av_open(domain, &addresses, &known, nullptr), "fi_av_open");
        check(fi_ep_bind(ep_, &known->fid, 0), "fi_ep_bind");
        check(fi_ep_bind(ep_, &cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
        check(fi_enable(ep_), "fi_enable");
        for (auto& it : sends_) it.data.resize(how.room);
        for (auto& it : receives_) {
            it.data.resize(how.room > 0 ? how.room : block_size);
            receive(it);
        }
        std::array<char, 256> name{};
        auto size = name.size();
        check(fi_getname(&ep_->fid, name.data(), &size), "fi_getname");
        if (::send(partner_, name.data(), size, MSG_NOSIGNAL) < 0) fail("the other process");
        auto const got = ::recv(partner_, name.data(), name.size(), 0);
        if (got < 0) fail("the other process");
        if (got == 0) throw gone();
        if (fi_av_insert(known, name.data(), 1, &peer_, 0, nullptr) != 1)
            throw std::runtime_error("fi_av_insert failed");
        meet(); // some providers drop what comes from an address that they do not know yet
    }
    ~side() { fi_close(&ep_->fid); }
    side(side const&) = delete;
    side& operator=(side const&) = delete;

    // A part, whose memory stays as it is until flush().
    void send(void const* data, std::size_t size) {
        if (how_.room == 0) return post(next(), data, size);
        auto* to = &next();
        if (to->size + size > how_.room) {
            post(*to, to->data.data(), std::exchange(to->size, 0));
            to = &next();
        }
        std::memcpy(to->data.data() + to->size, data, size);
        to->size += size;
    }
    // All that was sent is on its way.
    void flush() {
        if (how_.room > 0)
            if (auto& it = next(); it.size > 0) post(it, it.data.data(), std::exchange(it.size, 0));
        for (auto& it : sends_) until_ended(it);
    }
    // The next part. It stays until the next call.
    char const* take(std::size_t size) {
        if (left_ == 0) {
            if (taken_ > 0) receive(receives_[(taken_ - 1) % receives_.size()]);
            auto& it = receives_[taken_++ % receives_.size()];
            until_ended(it);
            at_ = it.data.data();
            left_ = it.size;
        }
        if (left_ < size) throw std::runtime_error("a part is shorter than what was sent");
        left_ -= size;
        return std::exchange(at_, at_ + size);
    }
    void meet() {
        if (!assay::bench::meet(partner_, [this] { advance(1); })) throw gone();
    }

private:
    struct slot {
        fi_context2 context{}; // at the beginning: a completion names the slot
        bool under_way = false;
        std::size_t size = 0; // of what is in `data`
        std::vector<char> data;
    };

    slot& next() {
        auto& it = sends_[sent_ % sends_.size()];
        until_ended(it);
        return it;
    }
    void post(slot& it, void const* data, std::size_t size) {
        begin("fi_send", it, [&] { return fi_send(ep_, data, size, nullptr, peer_, &it); });
        ++sent_;
    }
    void receive(slot& it) {
        begin("fi_recv", it,
              [&] { return fi_recv(ep_, it.data.data(), it.data.size(), nullptr, FI_ADDR_UNSPEC, &it); });
    }
    template <typename Call> void begin(char const* what, slot& it, Call call) {
        it.under_way = true;
        ssize_t begun = 0;
        while ((begun = call()) == -FI_EAGAIN) advance(1);
        check(begun, what);
    }
    void until_ended(slot const& it) {
        while (it.under_way) advance(1000);
    }
    // Takes what has ended, and sleeps until something has.
    void advance(int milliseconds) {
        std::array<fi_cq_msg_entry, 64> ended{};
        auto const got = fi_cq_sread(cq_, ended.data(), ended.size(), nullptr, milliseconds);
        auto const now = clock_type::now();
        if (got == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            check(fi_cq_readerr(cq_, &error, 0), "fi_cq_readerr");
            throw std::runtime_error(std::string("a message failed: ") + fi_strerror(error.err));
        }
        if (got == -FI_EAGAIN || got == -FI_EINTR) {
            char word = 0;
            if (::recv(partner_, &word, 1, MSG_PEEK | MSG_DONTWAIT) == 0) throw gone();
            if (now - latest_ > waits_)
                throw stalled("nothing gets on any more: " + std::to_string(sent_) + " sent, " +
                              std::to_string(taken_) + " taken");
            return;
        }
        check(got, "fi_cq_sread");
        latest_ = now;
        for (std::size_t k = 0; k < static_cast<std::size_t>(got); ++k) {
            auto& it = *static_cast<slot*>(ended[k].op_context);
            it.under_way = false;
            if (ended[k].flags & FI_RECV) it.size = ended[k].len;
        }
    }

    policy how_;
    int partner_;
    clock_type::duration waits_; // at most, for a completion
    std::vector<slot> sends_, receives_;
    std::size_t sent_ = 0, taken_ = 0; // calls; what has come in them
    char const* at_ = nullptr;         // the rest of what has come last
    std::size_t left_ = 0;
    clock_type::time_point latest_ = clock_type::now();
    fid_ep* ep_ = nullptr;
    fid_cq* cq_ = nullptr;
    fi_addr_t peer_ = FI_ADDR_UNSPEC;
};

struct header {
    std::uint64_t turn, body, blocks, size;
};
static_assert(sizeof(header) == header_size);

constexpr std::size_t words = block_size / sizeof(std::uint64_t);
constexpr std::uint64_t word(std::size_t block, std::size_t at) { return block * 0x9e3779b97f4a7c15 + at; }

class client {
public:
    explicit client(side& over) : over_(over), data_(blocks * words) {
        for (std::size_t k = 0; k < data_.size(); ++k) data_[k] = word(k / words, k % words);
    }
    void turn() {
        header const it{++turn_, body_size, blocks, block_size};
        over_.send(&it, sizeof it);
        over_.send(body_.data(), body_.size());
        for (std::size_t k = 0; k < blocks; ++k) over_.send(&data_[k * words], block_size);
        over_.flush();
        header answer{};
        std::memcpy(&answer, over_.take(sizeof answer), sizeof answer);
        if (answer.turn != turn_ || answer.blocks != 0) throw std::runtime_error("an answer is to another message");
        over_.take(body_size);
    }
    void end() {
        header const last{};
        over_.send(&last, sizeof last);
        over_.flush();
    }

private:
    side& over_;
    std::vector<std::uint64_t> data_;
    std::array<char, body_size> body_{};
    std::uint64_t turn_ = 0;
};

void serve(side& over) {
    std::array<char, body_size> const body{};
    for (std::uint64_t turn = 1;; ++turn) {
        header it{};
        std::memcpy(&it, over.take(sizeof it), sizeof it);
        if (it.turn == 0) return;
        if (it.turn != turn || it.blocks != blocks || it.size != block_size)
            throw std::runtime_error("a header is not the one that was sent");
        over.take(it.body);
        for (std::size_t k = 0; k < blocks; ++k) {
            auto const* const block = over.take(block_size);
            for (std::size_t const at : {std::size_t{0}, k % words, words - 1}) {
                std::uint64_t found = 0;
                std::memcpy(&found, block + at * sizeof found, sizeof found);
                if (found != word(k, at)) throw std::runtime_error("a block is not the one that was sent");
            }
        }
        header const answer{turn, body_size, 0, 0};
        over.send(&answer, sizeof answer);
        over.send(body.data(), body.size());
        over.flush();
    }
}

// As many turns as there is time for: a turn may last 50 ms or some seconds.
double median_of_some(client& by) {
    auto const begin = clock_type::now();
    by.turn();
    std::chrono::duration<double> const one = clock_type::now() - begin;
    pattern const some{"", block_size, blocks, 2, 1, std::clamp(static_cast<int>(1.5 / one.count()), 3, 25)};
    return median_turn(some, [&] { by.turn(); });
}

// No process lasts for ever, nor longer than who waits for it.
void be_mortal() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(life);
}

// Work in a process of its own, as libfabric is not made for a fork after it was opened. Its exit code.
template <typename Work> int apart(std::string const& what, Work work) {
    std::fflush(nullptr);
    auto const child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        int code = 0;
        auto const ends = [&](int with, std::exception const& why) {
            std::fprintf(stderr, "assay-reproduce-framing: %s: %s\n", what.c_str(), why.what());
            code = with;
        };
        try {
            be_mortal();
            work();
        } catch (absent const& e) {
            ends(unsupported, e);
        } catch (stalled const& e) {
            ends(stalls, e);
        } catch (std::exception const& e) {
            ends(1, e);
        }
        std::fflush(nullptr);
        _exit(code);
    }
    int status = 0;
    if (waitpid(child, &status, 0) < 0) fail("waitpid");
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    auto const* const why = WTERMSIG(status) == SIGALRM ? "not at an end within 25 s" : strsignal(WTERMSIG(status));
    std::fprintf(stderr, "assay-reproduce-framing: %s: %s\n", what.c_str(), why);
    return WTERMSIG(status) == SIGALRM ? stalls : 1;
}

void measure_over(std::string const& provider, policy const& how) {
    std::array<int, 2> sockets{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) < 0) fail("socketpair");
    on_both_sides(
        [&] {
            close(sockets[1]);
            side over(provider, how, addresses("ASSAY_HERE")[0], sockets[0], patience);
            client by(over);
            std::printf("%s.%s %.4f\n", how.name, provider.c_str(), median_of_some(by));
            by.end();
            over.meet();
        },
        [&] {
            be_mortal();
            close(sockets[0]);
            side over(provider, how, addresses("ASSAY_THERE")[0], sockets[1], 2 * patience);
            serve(over);
            over.meet();
        });
}

} // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> const providers(argv + 1, argv + argc);
    if (providers.empty()) {
        std::fprintf(stderr, "usage: assay-reproduce-framing PROVIDER...\n");
        return 2;
    }
    for (auto const& one : providers)
        if (int const code = apart(one, [&] { find(one, addresses("ASSAY_HERE")[0]); })) return code;
    meeting at;
    std::printf("batch.tuned %.4f\n", measure(at, how::tuned, {"batch", block_size, blocks, 2, 1, 15}));
    for (auto const& one : providers)
        for (auto const& how : policies) {
            int code = stalls;
            for (int k = 0; k < tries && code == stalls; ++k)
                code = apart(one + ", " + how.name, [&] { measure_over(one, how); });
            if (code != 0) return code == unsupported ? code : 1;
        }
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-reproduce-framing: %s\n", e.what());
    return 1;
}
