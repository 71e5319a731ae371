#include "suites/ofi/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <sched.h>

#include "suites/ofi/calls.hpp"

namespace assay::fabric {
namespace {

std::string words(std::uint64_t flags) {
    std::string text = fi_tostr(&flags, FI_TYPE_CAPS); // the same bits as capabilities
    return fmt::format("{:#x} [{}]", flags, text);
}

} // namespace

template <class Object> int handle<Object>::close() {
    if (it_ == nullptr) return 0;
    auto* const it = it_;
    it_ = nullptr;
    int const code = fi_close(&it->fid);
    if (ofi_ != nullptr) ofi_->ok(code);
    return code;
}
template class handle<fid_fabric>;
template class handle<fid_domain>;
template class handle<fid_av>;
template class handle<fid_cq>;
template class handle<fid_cntr>;
template class handle<fid_ep>;
template class handle<fid_eq>;

endpoint::endpoint(native_run& run, std::string const& provider, wish what)
    : ofi(run),
      wanted(std::move(what)),
      fabric(run),
      domain(run),
      av(run),
      cq(run),
      send_cq(run),
      sends(run),
      receives(run),
      ep(run) {
    written.name = "a write with immediate data";
    open(provider);
    std::array<char, 512> name{};
    std::size_t size = name.size();
    if (!ofi.ok(fi_getname(&ep->fid, name.data(), &size))) throw cannot_go_on{};
    names = exchange({name.data(), size});
    for (int rank = 0; rank < ofi.size; ++rank) {
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        auto const& of_rank = names[static_cast<std::size_t>(rank)];
        int const inserted = fi_av_insert(av.get(), of_rank.data(), 1, &address, 0, nullptr);
        if (!ofi.check(inserted == 1, finding::return_,
                       fmt::format("fi_av_insert returned {}, not 1", error_text(inserted))))
            throw cannot_go_on{};
        peers.push_back(address);
    }
    meet(); // some providers drop what comes from an address that they do not know yet
}

void endpoint::open(std::string const& provider) {
    auto hints = empty_hints();
    hints->caps = wanted.caps;
    if (wanted.mr_mode >= 0) hints->domain_attr->mr_mode = wanted.mr_mode;
    hints->domain_attr->av_type = wanted.table;
    hints->domain_attr->cq_data_size = wanted.cq_data ? 4 : 0;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = wanted.order;
    hints->tx_attr->inject_size = wanted.inject;
    hints->tx_attr->op_flags = wanted.send_flags;
    hints->tx_attr->iov_limit = hints->rx_attr->iov_limit = wanted.pieces;
    if (wanted.more) wanted.more(*hints);
    std::string needed = fi_tostr(&hints->caps, FI_TYPE_CAPS);
    info = ask(provider, std::move(hints));
    if (!info)
        ofi.unsupported(
            fmt::format("{} offers no endpoint with {}{}{}{}{}", provider, needed,
                        wanted.order != 0 ? fmt::format(", order {}", fi_tostr(&wanted.order, FI_TYPE_MSG_ORDER)) : "",
                        wanted.cq_data ? ", immediate data" : "",
                        wanted.inject != 0 ? fmt::format(", inject of {} bytes", wanted.inject) : "",
                        wanted.pieces > 1 ? fmt::format(", {} pieces", wanted.pieces) : ""));

    auto const must = [this](int code) {
        if (!ofi.ok(code)) throw cannot_go_on{};
    };
    must(fi_fabric(info->fabric_attr, fabric.address(), nullptr));
    must(fi_domain(fabric.get(), info.get(), domain.address(), nullptr));
    fi_av_attr of_av{};
    of_av.type = wanted.table;
    of_av.count = static_cast<std::size_t>(ofi.size);
    must(fi_av_open(domain.get(), &of_av, av.address(), nullptr));
    fi_cq_attr of_cq{};
    of_cq.format = wanted.format;
    of_cq.wait_obj = wanted.wait;
    of_cq.size = 1024;
    if (int const code = fi_cq_open(domain.get(), &of_cq, cq.address(), nullptr);
        wanted.wait != FI_WAIT_NONE && (code == -FI_ENOSYS || code == -FI_EOPNOTSUPP))
        ofi.unsupported(fmt::format("{} has no completion queues with this wait object", provider));
    else must(code);
    if (wanted.two_queues) must(fi_cq_open(domain.get(), &of_cq, send_cq.address(), nullptr));
    must(fi_endpoint(domain.get(), info.get(), ep.address(), nullptr));
    must(fi_ep_bind(ep.get(), &av->fid, 0));
    std::uint64_t const selective = wanted.selective ? FI_SELECTIVE_COMPLETION : 0;
    if (wanted.two_queues) {
        must(fi_ep_bind(ep.get(), &cq->fid, FI_RECV | selective));
        must(fi_ep_bind(ep.get(), &send_cq->fid, FI_TRANSMIT | selective));
    } else {
        must(fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT | FI_RECV | selective));
    }
    if (wanted.counters) {
        fi_cntr_attr of_counter{};
        of_counter.events = FI_CNTR_EVENTS_COMP;
        for (auto* one : {&sends, &receives}) {
            int const code = fi_cntr_open(domain.get(), &of_counter, one->address(), nullptr);
            if (code == -FI_ENOSYS || code == -FI_EOPNOTSUPP)
                ofi.unsupported(fmt::format("{} has no counters: fi_cntr_open returns {}", provider, error_text(code)));
            must(code);
        }
        must(fi_ep_bind(ep.get(), &sends->fid, FI_SEND | FI_READ | FI_WRITE));
        must(fi_ep_bind(ep.get(), &receives->fid, FI_RECV));
    }
    must(fi_enable(ep.get()));
}

endpoint::~endpoint() {
    // Regions that are bound to the endpoint go first, those of the domain may.
    for (auto* region : regions_) ofi.ok(fi_close(&region->fid));
    ep.close();
}

void endpoint::meet() {
    board::of_job().meet([this] { progress(); });
}

std::vector<std::string> endpoint::exchange(std::string const& mine) {
    return board::of_job().exchange(mine, [this] { progress(); });
}

operation& endpoint::start(char const* name) {
    auto& made = operations.emplace_back();
    made.name = name;
    return made;
}

ssize_t endpoint::attempt(std::function<ssize_t()> const& call) {
    ssize_t code = 0;
    until([&] { return (code = call()) != -FI_EAGAIN; });
    return code;
}

bool endpoint::post(std::function<ssize_t()> const& call, std::source_location where) {
    ssize_t const code = attempt(call);
    if (code != -FI_EAGAIN) return ofi.ok(code, where);
    return ofi.check(false, finding::return_, fmt::format("{} returns -FI_EAGAIN for ever", last_call.name), where);
}

bool endpoint::until(std::function<bool()> const& holds) {
    return patience_.until(holds, [this] { progress(); });
}

void endpoint::progress() {
    if (cq.get() != nullptr && !own_reads) hand_out(cq.get(), !wanted.two_queues);
    if (send_cq.get() != nullptr) hand_out(send_cq.get(), true);
}

void endpoint::hand_out(fid_cq* queue, bool of_sends) {
    fi_cq_tagged_entry entry;
    for (int n = 0; n < 64; ++n) {
        std::memset(static_cast<void*>(&entry), poison_byte, sizeof entry); // what is not written is seen
        fi_addr_t source = FI_ADDR_NOTAVAIL;
        ssize_t const got =
            wanted.caps & FI_SOURCE ? fi_cq_readfrom(queue, &entry, 1, &source) : fi_cq_read(queue, &entry, 1);
        completion c;
        c.of_sends = of_sends;
        c.source = source;
        if (got == 1) {
            // Formats begin alike; what lies beyond the end of one is still poison.
            if (wanted.format >= FI_CQ_FORMAT_MSG) c.flags = entry.flags, c.length = entry.len;
            if (wanted.format >= FI_CQ_FORMAT_DATA) c.buffer = entry.buf, c.data = entry.data;
            if (wanted.format >= FI_CQ_FORMAT_TAGGED) c.tag = entry.tag;
            keep(entry.op_context, c);
        } else if (got == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            ssize_t const read = fi_cq_readerr(queue, &error, 0);
            if (read != 1) {
                ofi.check(
                    false, finding::return_,
                    fmt::format("fi_cq_read says that there is an error, fi_cq_readerr returns {}", error_text(read)));
                return;
            }
            c.flags = error.flags;
            c.length = error.len;
            c.buffer = error.buf;
            c.data = error.data;
            c.tag = error.tag;
            c.error = error.err;
            c.cut = error.olen;
            keep(error.op_context, c);
        } else {
            if (got != -FI_EAGAIN && got != 0 && strangers_++ == 0)
                ofi.check(false, finding::return_, fmt::format("{} returned {}", last_call.name, error_text(got)));
            return;
        }
    }
}

void endpoint::keep(void* context, completion const& c) {
    if (context == nullptr && c.error == 0 && c.flags & FI_REMOTE_WRITE) {
        written.said.push_back(c);
        return;
    }
    for (auto& one : operations)
        if (context == &one) {
            one.said.push_back(c);
            order.push_back(&one);
            return;
        }
    if (strangers_++ < 3)
        ofi.check(false, finding::request,
                  fmt::format("a completion with the context {}, which belongs to no operation; flags {}, error {}",
                              context, words(c.flags), c.error));
}

completion_check endpoint::complete(operation& of, std::source_location where) {
    bool const came = until([&] { return of.used < of.said.size(); });
    ofi.check(came, finding::request, fmt::format("no completion of {}", of.name), where);
    return {*this, of, came ? &of.said[of.used++] : nullptr, where};
}

completion const* endpoint::look_for(operation& of, int polls) {
    for (int n = 0; n < polls && of.used == of.said.size(); ++n) {
        progress();
        sched_yield();
    }
    return of.used < of.said.size() ? &of.said[of.used++] : nullptr;
}

void endpoint::silent(operation& of, std::source_location where) {
    auto const* it = look_for(of);
    ofi.check(it == nullptr, finding::request,
              fmt::format("a completion of {} that nobody asked for: flags {}, error {}", of.name,
                          it != nullptr ? words(it->flags) : "", it != nullptr ? it->error : 0),
              where);
}

void endpoint::finish(std::source_location where) {
    meet();
    for (int n = 0; n < 20; ++n) progress();
    auto const look_at = [&](operation const& one) {
        ofi.check(one.used == one.said.size(), finding::leftover,
                  fmt::format("{} completions of one {}, {} expected", one.said.size(), one.name, one.used), where);
    };
    for (auto const& one : operations) look_at(one);
    look_at(written);
    meet(); // nobody closes while another still looks
}

void* endpoint::descriptor(void* memory, std::size_t bytes) {
    if (!(info->domain_attr->mr_mode & FI_MR_LOCAL) || bytes == 0) return nullptr;
    return fi_mr_desc(expose(memory, bytes, FI_SEND | FI_RECV | (wanted.caps & FI_RMA ? FI_READ | FI_WRITE : 0)));
}

fid_mr* endpoint::expose(void* memory, std::size_t bytes, std::uint64_t access) {
    fid_mr* region = nullptr;
    if (!ofi.ok(fi_mr_reg(domain.get(), memory, bytes, access, 0, next_key_++, 0, &region, nullptr)))
        throw cannot_go_on{};
    regions_.push_back(region);
    if (info->domain_attr->mr_mode & FI_MR_ENDPOINT)
        if (!ofi.ok(fi_mr_bind(region, &ep->fid, 0)) || !ofi.ok(fi_mr_enable(region))) throw cannot_go_on{};
    return region;
}

void endpoint::withdraw(fid_mr* region) {
    std::erase(regions_, region);
    ofi.ok(fi_close(&region->fid));
}

remote_memory endpoint::where(fid_mr* region, void* memory) const {
    bool const virtual_address = info->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC);
    return {virtual_address ? reinterpret_cast<std::uint64_t>(memory) : 0, fi_mr_key(region)};
}

// ---- what a completion says

completion_check& completion_check::flags(std::uint64_t set) {
    if (it_ != nullptr && by_.wanted.format >= FI_CQ_FORMAT_MSG)
        by_.ofi.check((it_->flags & set) == set, finding::value,
                      fmt::format("the completion of {} has the flags {}, without all of {}", of_.name,
                                  words(it_->flags), words(set)),
                      where_);
    return *this;
}

completion_check& completion_check::received(std::size_t bytes) {
    if (it_ == nullptr) return *this;
    error(0);
    flags(FI_RECV | (of_.name.starts_with("fi_t") ? FI_TAGGED : FI_MSG));
    if (by_.wanted.format >= FI_CQ_FORMAT_MSG)
        by_.ofi.check(it_->length == bytes, finding::count,
                      fmt::format("the completion of {} says {} bytes, {} were sent", of_.name, it_->length, bytes),
                      where_);
    return *this;
}

completion_check& completion_check::done(std::uint64_t kind) { return error(0).flags(kind); }

completion_check& completion_check::sent() {
    if (it_ == nullptr) return *this;
    error(0);
    return flags(FI_SEND | (of_.name.starts_with("fi_t") ? FI_TAGGED : FI_MSG));
}

completion_check& completion_check::tag(std::uint64_t expected) {
    if (it_ != nullptr && (by_.wanted.format >= FI_CQ_FORMAT_TAGGED || it_->error != 0))
        by_.ofi.check(it_->tag == expected, finding::tag,
                      fmt::format("the completion of {} says tag {:#x}, expected {:#x}", of_.name, it_->tag, expected),
                      where_);
    return *this;
}

completion_check& completion_check::data(std::uint64_t expected) {
    flags(FI_REMOTE_CQ_DATA);
    if (it_ != nullptr && by_.wanted.format >= FI_CQ_FORMAT_DATA)
        by_.ofi.check(it_->data == expected, finding::value,
                      fmt::format("the completion of {} has the immediate data {:#x}, sent were {:#x}", of_.name,
                                  it_->data, expected),
                      where_);
    return *this;
}

completion_check& completion_check::no_data() {
    if (it_ != nullptr && by_.wanted.format >= FI_CQ_FORMAT_MSG)
        by_.ofi.check(!(it_->flags & FI_REMOTE_CQ_DATA), finding::value,
                      fmt::format("the completion of {} claims immediate data; none were sent", of_.name), where_);
    return *this;
}

completion_check& completion_check::source(int rank) {
    if (it_ != nullptr && by_.wanted.caps & FI_SOURCE)
        by_.ofi.check(it_->source == by_.peers[static_cast<std::size_t>(rank)], finding::source,
                      fmt::format("the completion of {} says that it is from {:#x}; rank {} is {:#x}", of_.name,
                                  it_->source, rank, by_.peers[static_cast<std::size_t>(rank)]),
                      where_);
    return *this;
}

completion_check& completion_check::error(int expected) {
    if (it_ != nullptr)
        by_.ofi.check(it_->error == expected, finding::error,
                      fmt::format("the completion of {} has the error {} ({}), expected {} ({})", of_.name, it_->error,
                                  it_->error != 0 ? fi_strerror(it_->error) : "none", expected,
                                  expected != 0 ? fi_strerror(expected) : "none"),
                      where_);
    return *this;
}

completion_check& completion_check::cut(std::size_t bytes) {
    if (it_ != nullptr)
        by_.ofi.check(it_->cut == bytes, finding::count,
                      fmt::format("the completion of {} says that {} bytes did not fit (olen), it were {}", of_.name,
                                  it_->cut, bytes),
                      where_);
    return *this;
}

} // namespace assay::fabric
