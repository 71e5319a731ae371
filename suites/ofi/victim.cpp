#include "suites/ofi/victim.hpp"

#include "suites/ofi/providers.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::fabric {
namespace {

constexpr char variable[] = "ASSAY_OFI_VICTIM"; // the provider that it uses
constexpr int link = 3;                         // its descriptor of the socket

std::string receive(int from) {
    std::array<char, 512> bytes{};
    auto const size = ::recv(from, bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

} // namespace

victim::victim(std::string const& provider) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], link);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0); // the event log of tests by hand
    std::string program = "/proc/self/exe", told = std::string(variable) + "=" + provider;
    std::vector<char*> environment{told.data()};
    for (char** one = environ; *one; ++one) environment.push_back(*one);
    environment.push_back(nullptr);
    char* const arguments[] = {program.data(), nullptr};
    if (posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environment.data()) != 0) process_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    link_ = ends[0];
    name = receive(link_); // empty when it has ended
}

void victim::meet(std::string const& ours) { (void)!::send(link_, ours.data(), ours.size(), MSG_NOSIGNAL); }

void victim::kill() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    if (link_ >= 0) ::close(link_);
    process_ = link_ = -1;
}

bool is_victim() { return std::getenv(variable) != nullptr; }

int run_victim() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto hints = empty_hints();
    hints->caps = FI_TAGGED;
    auto const info = ask(std::getenv(variable), std::move(hints));
    if (!info) return 1;
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
    fid_av* av = nullptr;
    fid_cq* cq = nullptr;
    fid_ep* ep = nullptr;
    fi_av_attr of_av{};
    fi_cq_attr of_cq{};
    of_cq.format = FI_CQ_FORMAT_TAGGED;
    if (fi_fabric(info->fabric_attr, &fabric, nullptr) != 0 || fi_domain(fabric, info.get(), &domain, nullptr) != 0 ||
        fi_av_open(domain, &of_av, &av, nullptr) != 0 || fi_cq_open(domain, &of_cq, &cq, nullptr) != 0 ||
        fi_endpoint(domain, info.get(), &ep, nullptr) != 0 || fi_ep_bind(ep, &av->fid, 0) != 0 ||
        fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) != 0 || fi_enable(ep) != 0)
        return 1;
    std::array<char, 512> name{};
    std::size_t size = name.size();
    if (fi_getname(&ep->fid, name.data(), &size) != 0 || ::send(link, name.data(), size, 0) < 0) return 1;
    auto const serve = [&] {
        fi_cq_tagged_entry entry;
        fi_cq_err_entry error{};
        if (fi_cq_read(cq, &entry, 1) == -FI_EAVAIL) fi_cq_readerr(cq, &error, 0);
    };
    static char hello[victim::hello_size]; // registered below, where that is demanded
    void* descriptor = nullptr;
    if (info->domain_attr->mr_mode & FI_MR_LOCAL) {
        fid_mr* region = nullptr;
        if (fi_mr_reg(domain, hello, sizeof hello, FI_SEND, 0, 1, 0, &region, nullptr) != 0) return 1;
        descriptor = fi_mr_desc(region);
    }
    auto const whom = receive(link);
    fi_addr_t to = FI_ADDR_NOTAVAIL;
    if (whom.empty() || fi_av_insert(av, whom.data(), 1, &to, 0, nullptr) != 1) return 1;
    static fi_context2 context;
    while (fi_tsend(ep, hello, sizeof hello, descriptor, to, victim::hello_tag, &context) == -FI_EAGAIN) serve();
    while (true) serve();
}

} // namespace assay::fabric
