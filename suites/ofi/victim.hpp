// A process that is there to be killed: this program again, with an endpoint of its own. It says its name, sends one message to whoever
// started it, and serves its endpoint until it dies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>

namespace assay::fabric {

class victim {
public:
    static constexpr std::size_t hello_size = 17;
    static constexpr std::uint64_t hello_tag = 0xe1;

    explicit victim(std::string const& provider); // its name is empty where it could not open an endpoint
    ~victim() { kill(); }
    victim(victim const&) = delete;
    victim& operator=(victim const&) = delete;

    std::string name;
    void meet(std::string const& ours); // it sends its message there
    void kill();                        // and waits until it is dead

private:
    pid_t process_ = -1;
    int link_ = -1; // a socket
};

// In the process that is started: what it does instead of running tests. False: it is not one of these.
bool is_victim();
int run_victim();

} // namespace assay::fabric
