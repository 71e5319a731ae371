// The buffers of buffered sends (MPI-5.0 section 3.6): how much room they need, who uses which, and that detaching and
// flushing wait for what lies in them.
#include "suites/p2p/pair.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sys/mman.h>

using namespace assay;
using namespace assay::p2p;

namespace {

// What a buffer belongs to, and the integers that its procedures take.
enum class owner { process, communicator, session };
struct level_of {
    owner whose;
    bool large;
};
axis<level_of> const levels(
    "buffer",
    {{{"process", "MPI_Buffer_attach"}, {owner::process, false}},
     {{"process_c", "MPI_Buffer_attach_c", needs_procedures({"MPI_Buffer_attach_c"})}, {owner::process, true}},
     {{"comm", "MPI_Comm_attach_buffer", needs_procedures({"MPI_Comm_attach_buffer"})}, {owner::communicator, false}},
     {{"comm_c", "MPI_Comm_attach_buffer_c", needs_procedures({"MPI_Comm_attach_buffer_c"})},
      {owner::communicator, true}},
     {{"session", "MPI_Session_attach_buffer", needs_procedures({"MPI_Session_attach_buffer"})},
      {owner::session, false}},
     {{"session_c", "MPI_Session_attach_buffer_c", needs_procedures({"MPI_Session_attach_buffer_c"})},
      {owner::session, true}}});
bool is_small(level_of l) { return !l.large; }
bool is_process(level_of l) { return l.whose == owner::process && !l.large; }
bool is_nearer(level_of l) { return !is_process(l); } // than the process, or counted otherwise

// The communicator that a case sends on: that of the case, or one made from a session of its own.
class buffering {
public:
    buffering(test_run& mpi, level_of level) : mpi_(mpi), level_(level) {
        if (level.whose != owner::session) {
            comm = mpi.comm;
            return;
        }
        if (!mpi.ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session))) return;
        MPI_Group group = MPI_GROUP_NULL;
        mpi.ok(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        mpi.ok(MPI_Comm_create_from_group(group, "assay.p2p.buffered", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        mpi.ok(MPI_Group_free(&group));
    }
    ~buffering() {
        if (level_.whose != owner::session) return;
        if (comm != MPI_COMM_NULL) mpi_.ok(MPI_Comm_free(&comm));
        if (session != MPI_SESSION_NULL) mpi_.ok(MPI_Session_finalize(&session));
    }
    buffering(buffering const&) = delete;
    buffering& operator=(buffering const&) = delete;

    int attach(void* memory, std::size_t bytes) {
        auto const n = static_cast<int>(bytes);
        auto const large = static_cast<MPI_Count>(bytes);
        switch (level_.whose) {
        case owner::process: return level_.large ? MPI_Buffer_attach_c(memory, large) : MPI_Buffer_attach(memory, n);
        case owner::communicator:
            return level_.large ? MPI_Comm_attach_buffer_c(comm, memory, large)
                                : MPI_Comm_attach_buffer(comm, memory, n);
        case owner::session:
            return level_.large ? MPI_Session_attach_buffer_c(session, memory, large)
                                : MPI_Session_attach_buffer(session, memory, n);
        }
        return MPI_ERR_INTERN;
    }
    // Both outputs are poisoned before.
    int detach(void*& memory, long long& bytes) {
        memory = &memory;
        int n = -7, code = MPI_ERR_INTERN;
        MPI_Count large = -7;
        switch (level_.whose) {
        case owner::process:
            code = level_.large ? MPI_Buffer_detach_c(&memory, &large) : MPI_Buffer_detach(&memory, &n);
            break;
        case owner::communicator:
            code = level_.large ? MPI_Comm_detach_buffer_c(comm, &memory, &large)
                                : MPI_Comm_detach_buffer(comm, &memory, &n);
            break;
        case owner::session:
            code = level_.large ? MPI_Session_detach_buffer_c(session, &memory, &large)
                                : MPI_Session_detach_buffer(session, &memory, &n);
            break;
        }
        bytes = level_.large ? static_cast<long long>(large) : n;
        return code;
    }
    int flush() {
        switch (level_.whose) {
        case owner::process: return MPI_Buffer_flush();
        case owner::communicator: return MPI_Comm_flush_buffer(comm);
        case owner::session: return MPI_Session_flush_buffer(session);
        }
        return MPI_ERR_INTERN;
    }
    int iflush(MPI_Request* request) {
        switch (level_.whose) {
        case owner::process: return MPI_Buffer_iflush(request);
        case owner::communicator: return MPI_Comm_iflush_buffer(comm, request);
        case owner::session: return MPI_Session_iflush_buffer(session, request);
        }
        return MPI_ERR_INTERN;
    }
    void expect_detached(void const* memory, std::size_t bytes,
                         std::source_location where = std::source_location::current()) {
        void* address = nullptr;
        long long size = -7;
        if (!mpi_.ok(detach(address, size), where)) return;
        mpi_.check(address == memory, finding::value,
                   fmt::format("detaching gives address {}, expected {}, which was attached", address, memory), where);
        mpi_.check(size == static_cast<long long>(bytes), finding::value,
                   fmt::format("detaching gives size {}, expected {}, which was attached", size, bytes), where);
    }

    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Session session = MPI_SESSION_NULL;

private:
    test_run& mpi_;
    level_of level_;
};

// A communicator of all processes is needed where a session makes one.

std::size_t need_of(test_run& mpi, MPI_Comm comm, std::size_t ints) {
    int packed = -7;
    mpi.ok(MPI_Pack_size(static_cast<int>(ints), MPI_INT, comm, &packed));
    return static_cast<std::size_t>(packed) + MPI_BSEND_OVERHEAD;
}

axis<std::size_t> const lengths("ints", {{{"0", "empty messages"}, 0},
                                         {{"1", "one int"}, 1},
                                         {{"17", "17 ints"}, 17},
                                         {{"3000", "3,000 ints"}, 3000},
                                         {{"100000", "100,000 ints"}, 100000}});
axis<int> const numbers("messages", {{{"1", "one message"}, 1}, {{"5", "five messages"}, 5}});
enum class sending { bsend, ibsend, bsend_init };
axis<sending> const sends("send", {{{"bsend", "MPI_Bsend"}, sending::bsend},
                                   {{"ibsend", "MPI_Ibsend"}, sending::ibsend},
                                   {{"bsend_init", "MPI_Bsend_init"}, sending::bsend_init}});

// One buffered message, complete for the sender.
int send_one(test_run& mpi, sending how, std::vector<int> const& data, int to, int tag, MPI_Comm comm) {
    auto const n = static_cast<int>(data.size());
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    switch (how) {
    case sending::bsend: return MPI_Bsend(data.data(), n, MPI_INT, to, tag, comm);
    case sending::ibsend:
        code = MPI_Ibsend(data.data(), n, MPI_INT, to, tag, comm, &request);
        return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
    case sending::bsend_init:
        if (!mpi.ok(MPI_Bsend_init(data.data(), n, MPI_INT, to, tag, comm, &request))) return MPI_SUCCESS;
        code = MPI_Start(&request);
        if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return code;
    }
    return MPI_ERR_INTERN;
}

void receive_one(test_run& mpi, int serial, std::size_t n, int from, MPI_Comm comm, char const* who) {
    auto in = room(n + 1);
    auto status = poisoned_status();
    mpi.ok(MPI_Recv(in.data(), static_cast<int>(n + 1), MPI_INT, from, mpi.tag(), comm, &status));
    expect_status(mpi, status, from, mpi.tag(), n);
    expect_message(mpi, in, mpi.key_from(from, serial), n, fmt::format("{} {}", who, serial));
}

} // namespace

// The room that section 3.6.1 says is enough: the packed sizes and one overhead a message.
static void room_for_messages(test_run& mpi) {
    buffering at(mpi, mpi.at(levels));
    auto const p = pair_of(mpi);
    auto const n = mpi.at(lengths);
    int const messages = mpi.at(numbers);
    std::vector<unsigned char> memory(static_cast<std::size_t>(messages) * need_of(mpi, at.comm, n));
    auto const size = memory.size();
    if (mpi.ok(at.attach(memory.data(), size))) {
        for (int i = 0; i < messages; ++i) {
            auto data = message(mpi.key_to(p.to, i), n);
            mpi.ok(send_one(mpi, mpi.at(sends), data, p.to, mpi.tag(), at.comm));
            std::fill(data.begin(), data.end(), poison_int); // the sender may do so now
        }
        await_receiver(mpi, p); // by now all processes have sent: they did not wait for a receive
        std::vector<std::vector<int>> in;
        std::vector<MPI_Request> requests(static_cast<std::size_t>(messages), MPI_REQUEST_NULL);
        std::vector<MPI_Status> statuses(requests.size(), poisoned_status());
        for (int i = 0; i < messages; ++i) {
            in.push_back(room(n + 1));
            mpi.ok(MPI_Irecv(in.back().data(), static_cast<int>(n + 1), MPI_INT, p.from, mpi.tag(), at.comm,
                             &requests[static_cast<std::size_t>(i)]));
        }
        at.expect_detached(memory.data(), size);
        // The memory is the user's again.
        std::fill(memory.begin(), memory.end(), poison_byte);
        mpi.ok(MPI_Waitall(messages, requests.data(), statuses.data()));
        for (int i = 0; i < messages; ++i) {
            auto const u = static_cast<std::size_t>(i);
            expect_status(mpi, statuses[u], p.from, mpi.tag(), n);
            expect_message(mpi, in[u], mpi.key_from(p.from, i), n, fmt::format("buffered message {}", i));
        }
    }
}

ASSAY_TEST(p2p, bsend_room,
           requirements{"p2p.buffered.room", "p2p.buffered.local", "p2p.buffer.detach_returns",
                        "p2p.buffer.detach_waits", "p2p.buffered.reuse_data"},
           over(only(levels, is_process), axis_use{&sends}, axis_use{&numbers}, axis_use{&lengths},
                communicators::world()),
           note{"nobody receives before all messages have left their senders' hands"}) {
    room_for_messages(mpi);
}
ASSAY_TEST(p2p, bsend_room_nearer, requirements{"p2p.buffer.comm", "p2p.buffer.session", "p2p.buffer.large"},
           over(only(levels, is_nearer), axis_use{&sends}, axis_use{&numbers}, axis_use{&lengths},
                communicators::world()),
           note{"nobody receives before all messages have left their senders' hands"},
           needs_procedures({"MPI_Comm_attach_buffer", "MPI_Session_attach_buffer"})) {
    room_for_messages(mpi);
}

// Flushing makes room without detaching.
namespace {
axis<bool> const flushes("flush", {{{"flush", "MPI_Buffer_flush and its like"}, false},
                                   {{"iflush", "MPI_Buffer_iflush and its like"}, true}});
} // namespace

ASSAY_TEST(p2p, buffer_flush, requirements{"p2p.buffer.flush", "p2p.buffer.iflush"},
           over(axis_use{&flushes}, only(levels, is_small), axis_use{&sends}, axis_use{&lengths},
                communicators::world()),
           needs_procedures({"MPI_Buffer_flush", "MPI_Comm_flush_buffer", "MPI_Session_flush_buffer"}),
           note{"room for one message, used five times"}) {
    buffering at(mpi, mpi.at(levels));
    auto const p = pair_of(mpi);
    auto const n = mpi.at(lengths);
    std::vector<unsigned char> memory(need_of(mpi, at.comm, n));
    if (!mpi.ok(at.attach(memory.data(), memory.size()))) return;
    for (int i = 0; i < 5; ++i) {
        auto const data = message(mpi.key_to(p.to, i), n);
        auto in = room(n + 1);
        MPI_Request receiving = MPI_REQUEST_NULL;
        auto status = poisoned_status();
        mpi.ok(MPI_Irecv(in.data(), static_cast<int>(n + 1), MPI_INT, p.from, mpi.tag(), at.comm, &receiving));
        mpi.ok(send_one(mpi, mpi.at(sends), data, p.to, mpi.tag(), at.comm));
        if (mpi.at(flushes)) {
            MPI_Request request = MPI_REQUEST_NULL;
            mpi.ok(at.iflush(&request));
            mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
            mpi.check_null(request);
        } else {
            mpi.ok(at.flush());
        }
        mpi.ok(MPI_Wait(&receiving, &status));
        expect_status(mpi, status, p.from, mpi.tag(), n);
        expect_message(mpi, in, mpi.key_from(p.from, i), n, fmt::format("round {}", i));
    }
    at.expect_detached(memory.data(), memory.size());
}

// Attached and detached again and again: the buffer is empty each time, and nothing is left of the one before.
static void again_and_again(test_run& mpi) {
    buffering at(mpi, mpi.at(levels));
    auto const p = pair_of(mpi);
    for (int i = 0; i < 10; ++i) {
        auto const n = static_cast<std::size_t>(1 + 37 * i);
        std::vector<unsigned char> memory(need_of(mpi, at.comm, n));
        if (!mpi.ok(at.attach(memory.data(), memory.size()))) return;
        mpi.ok(send_one(mpi, sending::bsend, message(mpi.key_to(p.to, i), n), p.to, mpi.tag(), at.comm));
        receive_one(mpi, i, n, p.from, at.comm, "buffer");
        at.expect_detached(memory.data(), memory.size());
    }
}

ASSAY_TEST(p2p, buffer_again, requirements{"p2p.buffer.attach_again", "p2p.buffer.detach_returns"},
           over(only(levels, is_process), communicators::world()),
           note{"ten buffers of different sizes, one after the other"}) {
    again_and_again(mpi);
}
ASSAY_TEST(p2p, buffer_again_nearer, requirements{"p2p.buffer.attach_again", "p2p.buffer.comm", "p2p.buffer.session"},
           over(only(levels, is_nearer), communicators::world()),
           note{"ten buffers of different sizes, one after the other"},
           needs_procedures({"MPI_Comm_attach_buffer", "MPI_Session_attach_buffer"})) {
    again_and_again(mpi);
}

ASSAY_TEST(p2p, buffer_automatic, requirements{"p2p.buffer.automatic", "p2p.buffer.automatic_detach"},
           over(axis_use{&levels}, axis_use{&sends}, axis_use{&lengths}, communicators::world()),
           needs_procedures({"MPI_Buffer_flush", "MPI_Comm_attach_buffer", "MPI_Session_attach_buffer"}),
           note{"20 messages, no memory given"}) {
    buffering at(mpi, mpi.at(levels));
    auto const p = pair_of(mpi);
    auto const n = mpi.at(lengths);
    if (!mpi.ok(at.attach(MPI_BUFFER_AUTOMATIC, 0))) return;
    for (int i = 0; i < 20; ++i) {
        auto data = message(mpi.key_to(p.to, i), n);
        mpi.ok(send_one(mpi, mpi.at(sends), data, p.to, mpi.tag(), at.comm));
        std::fill(data.begin(), data.end(), poison_int);
    }
    await_receiver(mpi, p);
    for (int i = 0; i < 20; ++i) receive_one(mpi, i, n, p.from, at.comm, "message");
    mpi.ok(at.flush());
    void* address = nullptr;
    long long size = -7;
    if (mpi.ok(at.detach(address, size)))
        mpi.check(address == MPI_BUFFER_AUTOMATIC, finding::value,
                  "detaching an automatic buffer must give MPI_BUFFER_AUTOMATIC as its address");
}

// The buffer of the communicator counts, then that of its session, then that of the process.
namespace {
enum class nearest { comm_before_process, session_before_process, comm_before_session, process_when_detached };
axis<nearest> const nearest_buffers(
    "case",
    {{{"comm_before_process", "the communicator's is used though the process has one"}, nearest::comm_before_process},
     {{"session_before_process", "the session's is used though the process has one"}, nearest::session_before_process},
     {{"comm_before_session", "the communicator's is used though its session has one"}, nearest::comm_before_session},
     {{"process_when_detached", "the process' own is used when the communicator's is detached"},
      nearest::process_when_detached}});
} // namespace

ASSAY_TEST(p2p, buffer_nearest,
           requirements{"p2p.buffer.comm_first", "p2p.buffer.session_first", "p2p.buffer.process_last"},
           over(axis_use{&nearest_buffers}, communicators::world()),
           needs_procedures({"MPI_Comm_attach_buffer", "MPI_Session_attach_buffer"}),
           note{"the buffer that must be used has room for the message, the other one has not"}) {
    auto const c = mpi.at(nearest_buffers);
    bool const in_session = c == nearest::session_before_process || c == nearest::comm_before_session;
    buffering at(mpi, {in_session ? owner::session : owner::communicator, false});
    auto const p = pair_of(mpi);
    constexpr std::size_t n = 3000;
    std::vector<unsigned char> enough(need_of(mpi, at.comm, n)), little(MPI_BSEND_OVERHEAD + 8);
    void* address = nullptr;
    int size = -7;
    auto const send = [&](int serial) {
        mpi.ok(send_one(mpi, sending::bsend, message(mpi.key_to(p.to, serial), n), p.to, mpi.tag(), at.comm));
        receive_one(mpi, serial, n, p.from, at.comm, "message");
    };
    auto const expect_address = [&](std::vector<unsigned char> const& memory, char const* whose) {
        mpi.check(address == memory.data() && size == static_cast<int>(memory.size()), finding::value,
                  fmt::format("detaching the buffer of the {} gives another address or size", whose));
    };
    switch (c) {
    case nearest::comm_before_process:
    case nearest::session_before_process:
        mpi.ok(MPI_Buffer_attach(little.data(), static_cast<int>(little.size())));
        mpi.ok(at.attach(enough.data(), enough.size()));
        send(0);
        at.expect_detached(enough.data(), enough.size());
        mpi.ok(MPI_Buffer_detach(&address, &size));
        expect_address(little, "process");
        break;
    case nearest::comm_before_session:
        mpi.ok(at.attach(little.data(), little.size()));
        mpi.ok(MPI_Comm_attach_buffer(at.comm, enough.data(), static_cast<int>(enough.size())));
        send(0);
        mpi.ok(MPI_Comm_detach_buffer(at.comm, &address, &size));
        expect_address(enough, "communicator");
        at.expect_detached(little.data(), little.size());
        break;
    case nearest::process_when_detached: {
        mpi.ok(at.attach(little.data(), little.size()));
        mpi.ok(MPI_Buffer_attach(enough.data(), static_cast<int>(enough.size())));
        at.expect_detached(little.data(), little.size());
        send(0);
        mpi.ok(MPI_Buffer_detach(&address, &size));
        expect_address(enough, "process");
        break;
    }
    }
}

// A buffer that no int can count. Nothing of it is touched but its start.
ASSAY_TEST(p2p, buffer_large, requirements{"p2p.buffer.size_undefined", "p2p.buffer.large"},
           over(only(levels, [](level_of l) { return l.large; }), communicators::world()),
           needs_procedures({"MPI_Buffer_attach_c", "MPI_Buffer_detach_c", "MPI_Comm_attach_buffer_c",
                             "MPI_Session_attach_buffer_c"}),
           note{"3 GiB of address space"}) {
    auto const level = mpi.at(levels);
    buffering at(mpi, level);
    auto const p = pair_of(mpi);
    constexpr std::size_t size = (std::size_t{3} << 30) + 5;
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) mpi.unsupported("3 GiB of address space cannot be had");
    for (int round = 0; round < 2; ++round) {
        if (!mpi.ok(at.attach(memory, size))) break;
        mpi.ok(send_one(mpi, sending::bsend, message(mpi.key_to(p.to, round), 100), p.to, mpi.tag(), at.comm));
        receive_one(mpi, round, 100, p.from, at.comm, "message");
        if (round == 0) {
            at.expect_detached(memory, size);
            continue;
        }
        void* address = nullptr;
        int small = -7;
        mpi.ok(level.whose == owner::process        ? MPI_Buffer_detach(&address, &small)
               : level.whose == owner::communicator ? MPI_Comm_detach_buffer(at.comm, &address, &small)
                                                    : MPI_Session_detach_buffer(at.session, &address, &small));
        mpi.check(address == memory, finding::value, "detaching gives another address than was attached");
        mpi.check(small == MPI_UNDEFINED, finding::value,
                  fmt::format("detaching 3 GiB with an int gives size {}, expected MPI_UNDEFINED", small));
    }
    munmap(memory, size);
}

// What is wrong use: a library that returns says MPI_ERR_BUFFER.
namespace {
enum class wrong { too_small, nothing_attached, attached_twice, detached_twice };
axis<wrong> const wrongs("use", {{{"too_small", "a message that does not fit"}, wrong::too_small},
                                 {{"nothing_attached", "MPI_Bsend without a buffer"}, wrong::nothing_attached},
                                 {{"attached_twice", "a second buffer"}, wrong::attached_twice},
                                 {{"detached_twice", "no buffer to detach"}, wrong::detached_twice}});
} // namespace

ASSAY_TEST(p2p, buffer_wrong_use,
           requirements{"p2p.buffered.overflow", "p2p.buffer.attach_twice", "p2p.buffer.detach_none"},
           over(axis_use{&wrongs}, communicators::world())) {
    auto const c = mpi.at(wrongs);
    auto const p = pair_of(mpi);
    std::array<unsigned char, MPI_BSEND_OVERHEAD + 64> memory;
    std::array<unsigned char, MPI_BSEND_OVERHEAD + 64> second;
    auto const size = static_cast<int>(memory.size());
    void* address = nullptr;
    int got = -7, code = MPI_SUCCESS;
    erroneous_from_here();
    if (c == wrong::too_small || c == wrong::nothing_attached) {
        // On a communicator of its own: after an error it need not be fit for other messages (section 9.3).
        MPI_Comm own = MPI_COMM_NULL;
        mpi.ok(MPI_Comm_dup(mpi.comm, &own));
        if (c == wrong::too_small) mpi.ok(MPI_Buffer_attach(memory.data(), size));
        auto const data = message(mpi.key_to(p.to), 20000);
        code = MPI_Bsend(data.data(), 20000, MPI_INT, p.to, mpi.tag(0), own);
        // A library may have more room than it was given: then the message comes.
        int const sent = code == MPI_SUCCESS;
        int comes = -7;
        mpi.ok(MPI_Sendrecv(&sent, 1, MPI_INT, p.to, mpi.tag(1), &comes, 1, MPI_INT, p.from, mpi.tag(1), mpi.comm,
                            MPI_STATUS_IGNORE));
        if (comes == 1) {
            auto in = room(20000);
            mpi.ok(MPI_Recv(in.data(), 20000, MPI_INT, p.from, mpi.tag(0), own, MPI_STATUS_IGNORE));
            expect_message(mpi, in, mpi.key_from(p.from), 20000, "a message for which there was no room");
        }
        mpi.check(code == MPI_SUCCESS || class_of(code) == MPI_ERR_BUFFER, finding::return_,
                  fmt::format("MPI_Bsend without room returned \"{}\", expected MPI_ERR_BUFFER", error_text(code)));
        if (c == wrong::too_small) mpi.ok(MPI_Buffer_detach(&address, &got));
        mpi.ok(MPI_Comm_free(&own));
    } else if (c == wrong::attached_twice) {
        mpi.ok(MPI_Buffer_attach(memory.data(), size));
        code = MPI_Buffer_attach(second.data(), size);
        mpi.check(code != MPI_SUCCESS, finding::return_, "a second MPI_Buffer_attach succeeds while there is a buffer");
        mpi.ok(MPI_Buffer_detach(&address, &got));
        mpi.check(address == memory.data(), finding::value,
                  "a second MPI_Buffer_attach took the place of the first buffer");
    } else {
        code = MPI_Buffer_detach(&address, &got);
        mpi.check(class_of(code) == MPI_ERR_BUFFER, finding::return_,
                  fmt::format("MPI_Buffer_detach without a buffer returned \"{}\", expected MPI_ERR_BUFFER",
                              error_text(code)));
    }
}

// Nothing is buffered for MPI_PROC_NULL.
ASSAY_TEST(p2p, bsend_proc_null, requirements{"p2p.proc_null.bsend"}, over(axis_use{&sends}, communicators::few()),
           note{"no buffer is attached"}) {
    mpi.ok(send_one(mpi, mpi.at(sends), message(1, 1000), MPI_PROC_NULL, mpi.tag(), mpi.comm));
}
