#include "transports/net/impairment.hpp"

#include <charconv>

namespace assay::net {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds held_back{2};       // what is out of order comes so much later
constexpr milliseconds longest_queue{100}; // of a link with a rate; what comes then is lost

std::uint64_t mix(std::uint64_t x) { // splitmix64
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// Independent draws for one packet.
class dice {
public:
    dice(std::uint64_t seed, peer to, std::uint64_t packet) : state_(mix(mix(mix(seed) ^ to) ^ packet)) {}
    std::uint64_t draw() { return state_ = mix(state_); }
    bool hits(double percent) { return static_cast<double>(draw() >> 11) * 0x1p-53 * 100 < percent; }

private:
    std::uint64_t state_;
};

template <typename Number> bool read(std::string_view text, Number& value) {
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value >= 0;
}

bool read_ms(std::string_view text, impairment::duration& value) {
    double ms = 0;
    if (!read(text, ms) || ms > 1e9) return false;
    value = impairment::duration(static_cast<impairment::duration::rep>(ms * 1000));
    return true;
}

} // namespace

bool impairment::any() const {
    return loss > 0 || dup > 0 || reorder > 0 || corrupt > 0 || delay.count() > 0 || rate > 0 || down_for.count() > 0;
}

bool impairment::apply(std::string_view name, std::string_view value) {
    struct percent {
        std::string_view name;
        double impairment::*place;
    };
    for (auto const& one : {percent{"loss", &impairment::loss}, percent{"dup", &impairment::dup},
                            percent{"reorder", &impairment::reorder}, percent{"corrupt", &impairment::corrupt}})
        if (name == one.name) return read(value, this->*one.place) && this->*one.place <= 100;
    if (name == "delay") return read_ms(value, delay);
    if (name == "rate") return read(value, rate);
    if (name == "seed") return read(value, seed);
    if (name != "down") return false;
    auto const colon = value.find(':');
    if (colon == std::string_view::npos) return false;
    auto const second = value.find(':', colon + 1);
    if (second != std::string_view::npos && !read(value.substr(second + 1), down_path)) return false;
    return read_ms(value.substr(0, colon), down_at) && read_ms(value.substr(colon + 1, second - colon - 1), down_for);
}

void bad_network::put(peer to, std::byte const* data, std::size_t size, clock::time_point now, unsigned which) {
    if (first_ == clock::time_point{}) first_ = now;
    auto& way = paths_[to];
    dice random(how_.seed, to, way.packets++);
    bool const down = now >= first_ + how_.down_at && now < first_ + how_.down_at + how_.down_for &&
                      (how_.down_path < 0 || how_.down_path == static_cast<int>(which));
    if (random.hits(how_.loss) || down) {
        ++lost;
        return;
    }
    auto leaves = now + how_.delay;
    if (how_.rate > 0) {
        if (way.free > now + longest_queue) {
            ++lost;
            return;
        }
        auto const takes = std::chrono::duration<double, std::micro>(static_cast<double>(size) / how_.rate);
        way.free = std::max(way.free, now) + std::chrono::duration_cast<clock::duration>(takes);
        leaves = way.free + how_.delay;
    }
    std::vector<std::byte> bytes(data, data + size);
    if (random.hits(how_.corrupt) && size > 0) {
        auto const bit = random.draw() % (8 * size);
        bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        ++corrupted;
    }
    if (random.hits(how_.dup)) {
        waiting_.emplace(leaves, packet{to, bytes});
        ++doubled;
    }
    if (random.hits(how_.reorder)) {
        leaves += held_back;
        ++reordered;
    }
    waiting_.emplace(leaves, packet{to, std::move(bytes)});
}

std::vector<bad_network::packet> bad_network::take(clock::time_point now) {
    std::vector<packet> due;
    auto const end = waiting_.upper_bound(now);
    for (auto at = waiting_.begin(); at != end; ++at) due.push_back(std::move(at->second));
    waiting_.erase(waiting_.begin(), end);
    return due;
}

} // namespace assay::net
