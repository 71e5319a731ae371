// Info objects (MPI-5.0 chapter 10): sets of keys with values, whatever the library makes of them.
#include "suites/common/info.hpp"
#include "suites/comm/comm.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace assay;

namespace {

using pairs = std::map<std::string, std::string>;

// The procedures that read a value: those of before MPI-4.0 are deprecated, and must say the same.
enum class reader { get, get_string };
axis<reader> const readers("read", {{{"get", "MPI_Info_get and MPI_Info_get_valuelen"}, reader::get},
                                    {{"get_string", "MPI_Info_get_string", needs_procedures({"MPI_Info_get_string"})},
                                     reader::get_string}});

// What info objects are filled with.
using filling = pairs (*)();
axis<filling> const contents(
    "content",
    {{{"one", "one key"},
      [] {
          return pairs{{"a_key", "a value"}};
      }},
     {{"nothing", "no key"}, [] { return pairs{}; }},
     {{"similar", "keys that differ in one letter, or in its case"},
      [] {
          return pairs{{"key", "1"}, {"Key", "2"}, {"KEY", "3"}, {"keys", "4"}, {"ke", "5"}, {"key1", "6"}};
      }},
     {{"reserved", "keys that MPI knows"},
      [] {
          return pairs{
              {"host", "nowhere"}, {"access_style", "read_once,sequential"}, {"no_locks", "true"}, {"cb_nodes", "4"}};
      }},
     {{"signs", "values with signs that others give a meaning to"},
      [] {
          return pairs{{"equals", "a=b=c"},
                       {"semicolon", "a;b"},
                       {"comma", "a,b,,c"},
                       {"quotes", "\"'"},
                       {"percent", "%s%n"},
                       {"backslash", "\\n\\"},
                       {"utf8", "\xc3\xa4\xe2\x82\xac"},
                       {"inner blanks", "a b  c"}};
      }},
     {{"long", "the longest key, the longest value"},
      [] {
          return pairs{{std::string(MPI_MAX_INFO_KEY - 1, 'k'), "1"},
                       {"longest", std::string(static_cast<std::size_t>(MPI_MAX_INFO_VAL) - 1, 'v')},
                       {std::string(MPI_MAX_INFO_KEY - 2, 'k'), "2"}};
      }},
     {{"many", "500 keys"}, [] {
          pairs all;
          for (int i = 0; i < 500; ++i) all[fmt::format("key {}", i * 37 % 500)] = std::to_string(i * i);
          return all;
      }}});

// `value` is poison and `length` as before when the key is not there.
struct reading {
    bool found = false;
    std::string value;
    int length = -7; // of the string
};
reading read(test_run& mpi, reader how, MPI_Info info, std::string const& key, std::string const& expected,
             std::source_location where = std::source_location::current()) {
    reading r;
    int flag = -7;
    std::string room(expected.size() + 64, static_cast<char>(poison_byte));
    if (how == reader::get_string) {
        int size = static_cast<int>(expected.size()) + 1;
        mpi.ok(MPI_Info_get_string(info, key.c_str(), &size, room.data(), &flag), where);
        r.length = size - 1;
    } else {
        mpi.ok(MPI_Info_get(info, key.c_str(), static_cast<int>(expected.size()), room.data(), &flag), where);
        int known = -7;
        mpi.ok(MPI_Info_get_valuelen(info, key.c_str(), &r.length, &known), where);
        mpi.check((known != 0) == (flag != 0), finding::info,
                  "MPI_Info_get_valuelen and MPI_Info_get differ about a key", where);
    }
    r.found = flag != 0;
    if (!r.found) {
        mpi.check(room.find_first_not_of(static_cast<char>(poison_byte)) == std::string::npos, finding::info,
                  "the value was written although there is no such key", where);
        return r;
    }
    mpi.check(room.find_first_not_of(static_cast<char>(poison_byte), expected.size() + 1) == std::string::npos,
              finding::guard,
              fmt::format("more than {} characters and a terminating null were written", expected.size()), where);
    r.value = room.c_str();
    return r;
}

std::string shortened(std::string const& text) { return text.size() <= 40 ? text : text.substr(0, 37) + "…"; }

bool expect_value(test_run& mpi, reader how, MPI_Info info, std::string const& key, std::string const& expected,
                  std::source_location where = std::source_location::current()) {
    auto const r = read(mpi, how, info, key, expected, where);
    if (!mpi.check(r.found, finding::info, fmt::format("the key \"{}\" is not found", shortened(key)), where))
        return false;
    bool const same = mpi.check(r.value == expected, finding::info,
                                fmt::format("the key \"{}\" has the value \"{}\", expected \"{}\"", shortened(key),
                                            shortened(r.value), shortened(expected)),
                                where);
    return expect_number(mpi, r.length, static_cast<int>(expected.size()),
                         fmt::format("the length of the value of \"{}\"", shortened(key)), where) &&
           same;
}

void expect_absent(test_run& mpi, reader how, MPI_Info info, std::string const& key,
                   std::source_location where = std::source_location::current()) {
    mpi.check(!read(mpi, how, info, key, "xxxx", where).found, finding::info,
              fmt::format("the key \"{}\" is found, but it is not there", key), where);
}

void expect_content(test_run& mpi, reader how, MPI_Info info, pairs const& expected, std::string const& whose) {
    auto keys = keys_of(mpi, info);
    std::sort(keys.begin(), keys.end());
    std::vector<std::string> wanted;
    for (auto const& [key, value] : expected) wanted.push_back(key);
    mpi.check(keys == wanted, finding::info,
              fmt::format("{} has {} keys, among them \"{}\"; expected {}", whose, keys.size(),
                          keys.empty() ? "" : shortened(keys[0]), wanted.size()));
    for (auto const& [key, value] : expected)
        if (!expect_value(mpi, how, info, key, value)) return;
}

MPI_Info filled(test_run& mpi, pairs const& content) {
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Info_create(&info));
    mpi.check(info != MPI_INFO_NULL, finding::info, "MPI_Info_create gives MPI_INFO_NULL");
    // In reverse: the order of insertion is none of the alphabet.
    for (auto it = content.rbegin(); it != content.rend(); ++it) {
        std::string key = it->first, value = it->second;
        mpi.ok(MPI_Info_set(info, key.c_str(), value.c_str()));
        std::fill(key.begin(), key.end(), 'x'); // the library has copies
        std::fill(value.begin(), value.end(), 'x');
    }
    return info;
}

void free_info(test_run& mpi, MPI_Info& info, std::source_location where = std::source_location::current()) {
    mpi.ok(MPI_Info_free(&info), where);
    mpi.check(info == MPI_INFO_NULL, finding::info, "MPI_Info_free must set the handle to MPI_INFO_NULL", where);
}

} // namespace

ASSAY_TEST(info, content,
           requirements{"info.create", "info.set", "info.get", "info.get_valuelen", "info.get_nkeys", "info.get_nthkey",
                        "info.any_key", "info.case_sensitive", "info.free", "info.absent"},
           over(axis_use{&contents}, axis_use{&readers}, communicators::world()), thread_safe{}) {
    auto const content = mpi.at(contents)();
    auto const how = mpi.at(readers);
    MPI_Info info = filled(mpi, content);
    expect_content(mpi, how, info, content, "the object");
    expect_absent(mpi, how, info, "no such key");
    // The numbers of the keys stay as long as nothing is changed.
    auto const first = keys_of(mpi, info);
    expect_content(mpi, how, info, content, "the object, asked again");
    mpi.check(keys_of(mpi, info) == first, finding::info,
              "the numbers of the keys changed although nothing was set or deleted");
    free_info(mpi, info);
}

ASSAY_TEST(info, change, requirements{"info.set.replaces", "info.delete", "info.delete.absent", "info.objects_apart"},
           over(axis_use{&contents}, axis_use{&readers}, communicators::world()), thread_safe{}) {
    auto content = mpi.at(contents)();
    auto const how = mpi.at(readers);
    MPI_Info info = filled(mpi, content), other = filled(mpi, content);
    auto const before = content;
    // Each value in turn becomes longer, shorter, and is deleted at the end.
    int turn = 0;
    for (auto& [key, value] : content) {
        value = turn++ % 2 == 0 ? "another, longer value than before" : "x";
        mpi.ok(MPI_Info_set(info, key.c_str(), value.c_str()));
    }
    content["added"] = "1";
    mpi.ok(MPI_Info_set(info, "added", "1"));
    expect_content(mpi, how, info, content, "the changed object");
    while (!content.empty()) {
        // Now the first one, now the last one.
        auto const it = content.size() % 2 == 0 ? content.begin() : std::prev(content.end());
        auto const key = it->first;
        content.erase(it);
        mpi.ok(MPI_Info_delete(info, key.c_str()));
        if (content.size() < 8 || content.size() % 50 == 0) {
            expect_content(mpi, how, info, content, "the object after deleting");
            if (key.size() < 40) expect_absent(mpi, how, info, key);
        }
    }
    int const code = MPI_Info_delete(info, "no such key");
    int error = MPI_SUCCESS;
    MPI_Error_class(code, &error);
    mpi.check(error == MPI_ERR_INFO_NOKEY, finding::error,
              fmt::format("deleting a key that is not there gives class {}, expected MPI_ERR_INFO_NOKEY ({})", error,
                          MPI_ERR_INFO_NOKEY));
    expect_content(mpi, how, other, before, "another object with the same keys");
    free_info(mpi, info);
    free_info(mpi, other);
}

ASSAY_TEST(info, dup, requirements{"info.dup", "info.dup.order", "info.dup.apart"},
           over(axis_use{&contents}, axis_use{&readers}, communicators::world()), thread_safe{}) {
    auto const content = mpi.at(contents)();
    auto const how = mpi.at(readers);
    MPI_Info info = filled(mpi, content), copy = MPI_INFO_NULL;
    auto const order = keys_of(mpi, info);
    mpi.ok(MPI_Info_dup(info, &copy));
    if (!mpi.check(copy != MPI_INFO_NULL && copy != info, finding::info, "MPI_Info_dup gives no new object")) return;
    expect_content(mpi, how, copy, content, "the duplicate");
    mpi.check(keys_of(mpi, copy) == order, finding::order, "the keys of the duplicate come in another order");
    auto changed = content;
    changed["added"] = "to the duplicate";
    mpi.ok(MPI_Info_set(copy, "added", "to the duplicate"));
    if (!content.empty()) {
        changed.erase(content.begin()->first);
        mpi.ok(MPI_Info_delete(copy, content.begin()->first.c_str()));
    }
    expect_content(mpi, how, info, content, "the original of a changed duplicate");
    free_info(mpi, info);
    expect_content(mpi, how, copy, changed, "the duplicate of what was freed");
    free_info(mpi, copy);
}

// How much of a value MPI_Info_get_string gives, and what it says about the room that it needs.
namespace {
axis<int> const rooms("room", {{{"0", "nothing is written"}, 0},
                               {{"1", "only the terminating null"}, 1},
                               {{"5", "four characters"}, 5},
                               {{"exact", "the whole value"}, 13},
                               {{"one_less", "all but one character"}, 12},
                               {{"more", "more than is needed"}, 50}});
} // namespace

ASSAY_TEST(info, get_string_room,
           requirements{"info.get_string", "info.get_string.length", "info.get_string.truncated",
                        "info.get_string.zero", "info.get_string.absent"},
           over(axis_use{&rooms}, communicators::world()), needs_procedures({"MPI_Info_get_string"}), thread_safe{}) {
    std::string const value = "twelve signs"; // 13 with the terminating null
    int const room = mpi.at(rooms);
    MPI_Info info = filled(mpi, {{"key", value}});
    std::string got(64, static_cast<char>(poison_byte));
    auto expected = got;
    int length = room, flag = -7;
    mpi.ok(MPI_Info_get_string(info, "key", &length, got.data(), &flag));
    mpi.check(flag != 0, finding::info, "the key is not found");
    expect_number(mpi, length, 13, fmt::format("buflen of a value of 12 characters after room for {}", room));
    if (room > 0) {
        auto const part = value.substr(0, static_cast<std::size_t>(room) - 1);
        std::copy(part.begin(), part.end(), expected.begin());
        expected[part.size()] = '\0';
    }
    // After the terminating null a library may use the room that it was given.
    auto const used = static_cast<std::size_t>(std::min(room, 13));
    mpi.check(
        got.substr(0, used) == expected.substr(0, used), finding::info,
        fmt::format("with room for {} the value is \"{}\", expected \"{}\"", room, got.c_str(), expected.c_str()));
    mpi.check(got.substr(static_cast<std::size_t>(room)) == expected.substr(static_cast<std::size_t>(room)),
              finding::guard, fmt::format("something was written after the room of {}", room));
    // A key that is not there leaves the value.
    std::fill(got.begin(), got.end(), static_cast<char>(poison_byte));
    length = room;
    flag = -7;
    mpi.ok(MPI_Info_get_string(info, "no such key", &length, got.data(), &flag));
    mpi.check(flag == 0, finding::info, "a key is found that is not there");
    mpi.check(got.find_first_not_of(static_cast<char>(poison_byte)) == std::string::npos, finding::info,
              "the value was written although there is no such key");
    free_info(mpi, info);
}

// What is too long.
namespace {
enum class excess { key, value, key_exact };
axis<excess> const excesses("long", {{{"key", "a key of MPI_MAX_INFO_KEY + 1 characters"}, excess::key},
                                     {{"value", "a value of MPI_MAX_INFO_VAL + 1 characters"}, excess::value},
                                     {{"key_exact", "a key of MPI_MAX_INFO_KEY characters, one more than may be"},
                                      excess::key_exact}});
} // namespace

ASSAY_TEST(info, too_long, requirements{"info.set.long_key", "info.set.long_value", "info.limits"},
           over(axis_use{&excesses}, communicators::world()), thread_safe{}) {
    mpi.check(MPI_MAX_INFO_KEY >= 33 && MPI_MAX_INFO_KEY <= 256, finding::info,
              fmt::format("MPI_MAX_INFO_KEY is {}, not between 33 and 256", MPI_MAX_INFO_KEY));
    MPI_Info info = filled(mpi, {{"key", "value"}});
    auto const what = mpi.at(excesses);
    bool const key = what != excess::value;
    std::size_t const length = static_cast<std::size_t>(MPI_MAX_INFO_KEY) + (what == excess::key ? 1 : 0);
    int const code = MPI_Info_set(info, key ? std::string(length, 'k').c_str() : "key",
                                  key ? "1" : std::string(static_cast<std::size_t>(MPI_MAX_INFO_VAL) + 1, 'v').c_str());
    int error = MPI_SUCCESS, expected = key ? MPI_ERR_INFO_KEY : MPI_ERR_INFO_VALUE;
    MPI_Error_class(code, &error);
    mpi.check(error == expected, finding::error,
              fmt::format("a {} that is too long gives class {}, expected {} ({})", key ? "key" : "value", error,
                          key ? "MPI_ERR_INFO_KEY" : "MPI_ERR_INFO_VALUE", expected));
    // Nothing changed.
    expect_content(mpi, reader::get, info, {{"key", "value"}}, "the object");
    free_info(mpi, info);
}

// Whether a value of MPI_MAX_INFO_VAL characters is one too many in C is read in two ways. It must not be cut.
ASSAY_TEST(info, value_exact, requirements{"info.set", "info.set.long_value"},
           over(axis_use{&readers}, communicators::world()), note{"a value of MPI_MAX_INFO_VAL characters"}) {
    std::string value;
    for (int i = 0; i < MPI_MAX_INFO_VAL; ++i) value += static_cast<char>('a' + i % 26);
    MPI_Info info = filled(mpi, {{"key", "value"}});
    int const code = MPI_Info_set(info, "exact", value.c_str());
    if (code == MPI_SUCCESS) {
        expect_value(mpi, mpi.at(readers), info, "exact", value);
    } else {
        int error = MPI_SUCCESS;
        MPI_Error_class(code, &error);
        mpi.check(error == MPI_ERR_INFO_VALUE, finding::error,
                  fmt::format("a value of MPI_MAX_INFO_VAL characters gives class {}, expected MPI_SUCCESS or "
                              "MPI_ERR_INFO_VALUE ({})",
                              error, MPI_ERR_INFO_VALUE));
        expect_content(mpi, mpi.at(readers), info, {{"key", "value"}}, "the object");
    }
    free_info(mpi, info);
}

// MPI_INFO_ENV (section 11.2.1) and MPI_Info_create_env.
ASSAY_TEST(info, env, requirements{"info.env", "info.env.keys"}, over(communicators::world()), thread_safe{}) {
    static char const* const known[] = {"command", "argv", "maxprocs", "soft",        "host",
                                        "arch",    "wdir", "file",     "thread_level"};
    for (auto const& key : keys_of(mpi, MPI_INFO_ENV)) {
        std::string value(MPI_MAX_INFO_VAL + 1, '\0');
        int flag = -7;
        mpi.ok(MPI_Info_get(MPI_INFO_ENV, key.c_str(), MPI_MAX_INFO_VAL, value.data(), &flag));
        mpi.check(flag != 0, finding::info,
                  fmt::format("MPI_Info_get does not find \"{}\", a key of MPI_INFO_ENV", key));
    }
    for (auto const* key : known) {
        std::string value(MPI_MAX_INFO_VAL + 1, '\0');
        int flag = -7;
        mpi.ok(MPI_Info_get(MPI_INFO_ENV, key, MPI_MAX_INFO_VAL, value.data(), &flag));
        if (flag == 0) continue; // none has to be there
        std::string const text = value.c_str();
        if (std::strcmp(key, "maxprocs") == 0)
            mpi.check(!text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text != "0",
                      finding::info, fmt::format("maxprocs in MPI_INFO_ENV is \"{}\"", text));
        if (std::strcmp(key, "thread_level") == 0)
            mpi.check(text == "MPI_THREAD_SINGLE" || text == "MPI_THREAD_FUNNELED" || text == "MPI_THREAD_SERIALIZED" ||
                          text == "MPI_THREAD_MULTIPLE",
                      finding::info,
                      fmt::format("thread_level in MPI_INFO_ENV is \"{}\", the name of none of the four levels", text));
    }
}

ASSAY_TEST(info, create_env, requirements{"info.create_env"}, over(communicators::world()),
           needs_procedures({"MPI_Info_create_env"}), thread_safe{}) {
    MPI_Info first = MPI_INFO_NULL, second = MPI_INFO_NULL;
    char name[] = "program", argument[] = "argument";
    char* arguments[] = {name, argument, nullptr};
    mpi.ok(MPI_Info_create_env(0, nullptr, &first));
    mpi.ok(MPI_Info_create_env(2, arguments, &second));
    for (auto* info : {&first, &second})
        if (mpi.check(*info != MPI_INFO_NULL && *info != MPI_INFO_ENV, finding::info,
                      "MPI_Info_create_env gives no object of its own")) {
            mpi.ok(MPI_Info_set(*info, "assay_own_key", "1"));
            expect_value(mpi, reader::get, *info, "assay_own_key", "1");
            free_info(mpi, *info);
        }
}
