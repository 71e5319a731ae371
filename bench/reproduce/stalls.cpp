// assay-reproduce-stalls: JULEA's messages over a TCP connection as the system makes it (plain), with TCP_NODELAY, and with TCP_NODELAY and
// TCP_CORK around each message (tuned). Prints lines of a name and the milliseconds of a turn.
//   assay-reproduce-stalls turns|bulk
#include "bench/reproduce/message.hpp"

#include <span>

namespace {

using namespace assay::reproduce;

struct kind {
    char const* name;
    how sockets;
};
constexpr kind kinds[] = {{"plain", how::plain}, {"nodelay", how::nodelay}, {"tuned", how::tuned}};

constexpr pattern turns[] = {{"item", 4096, 1, 1, 20, 15}, {"twice", 4096, 1, 2, 20, 15}};
constexpr pattern bulk[] = {{"batch", 4096, 10'000, 2, 1, 3}, {"large", largest_block, 1, 2, 3, 9}};

void measure_all(std::span<pattern const> patterns) {
    meeting at;
    for (auto const& it : patterns)
        for (auto const& one : kinds) std::printf("%s.%s %.4f\n", it.name, one.name, measure(at, one.sockets, it));
}

} // namespace

int main(int argc, char** argv) try {
    std::string const what = argc == 2 ? argv[1] : "";
    if (what == "turns") measure_all(turns);
    else if (what == "bulk") measure_all(bulk);
    else {
        std::fprintf(stderr, "usage: assay-reproduce-stalls turns|bulk\n");
        return 2;
    }
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-reproduce-stalls: %s\n", e.what());
    return 1;
}
