// Error classes and their texts, those of MPI (section 9.4 of MPI-5.0) and those of the user (section 9.5.1).
#include "suites/errors/codes.hpp"

#include "framework/check/logical.hpp"
#include "framework/mpi/run.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <map>

using namespace assay;

namespace {

// What MPI_Error_string gives; its length, end and bounds are checked.
std::string text_of(test_run& mpi, int code, std::source_location where = std::source_location::current()) {
    std::array<char, MPI_MAX_ERROR_STRING + 16> text;
    text.fill(static_cast<char>(poison_byte));
    int length = -7;
    if (!mpi.ok(MPI_Error_string(code, text.data(), &length), where)) return "";
    bool const inside = length >= 0 && length < MPI_MAX_ERROR_STRING;
    if (!mpi.check(inside, finding::value,
                   fmt::format("MPI_Error_string gives the length {}, beyond 0 … MPI_MAX_ERROR_STRING - 1", length),
                   where))
        return "";
    auto const* const end = std::find(text.begin(), text.begin() + MPI_MAX_ERROR_STRING, '\0');
    mpi.check(
        end - text.begin() == length, finding::value,
        fmt::format("MPI_Error_string gives the length {} for a text of {} characters", length, end - text.begin()),
        where);
    mpi.check(std::all_of(text.begin() + MPI_MAX_ERROR_STRING, text.end(),
                          [](char c) { return c == static_cast<char>(poison_byte); }),
              finding::guard, "MPI_Error_string wrote after MPI_MAX_ERROR_STRING characters", where);
    return {text.data(), static_cast<std::size_t>(length)};
}

int class_of(test_run& mpi, int code, std::source_location where = std::source_location::current()) {
    int found = -7;
    mpi.ok(MPI_Error_class(code, &found), where);
    return found;
}

void expect_class(test_run& mpi, int code, int expected, char const* what,
                  std::source_location where = std::source_location::current()) {
    int const found = class_of(mpi, code, where);
    mpi.check(found == expected, finding::error,
              fmt::format("MPI_Error_class of {} gives {}, expected {}", what, found, expected), where);
}

void expect_text(test_run& mpi, int code, std::string const& expected, char const* what,
                 std::source_location where = std::source_location::current()) {
    auto const found = text_of(mpi, code, where);
    mpi.check(found == expected, finding::data,
              fmt::format("MPI_Error_string of {} gives \"{}\", expected \"{}\"", what, found, expected), where);
}

// The attribute MPI_LASTUSEDCODE of MPI_COMM_WORLD; -1 if it is not there.
int last_used(test_run& mpi, std::source_location where = std::source_location::current()) {
    int* value = nullptr;
    int flag = 0;
    mpi.ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag), where);
    if (!mpi.check(logical(flag) && value != nullptr, finding::value,
                   "MPI_COMM_WORLD has no attribute MPI_LASTUSEDCODE", where) ||
        value == nullptr)
        return -1;
    return *value;
}

} // namespace

ASSAY_TEST(errors, classes,
           requirements{"errors.class.itself", "errors.class.order", "errors.class.distinct",
                        "errors.string.predefined", "errors.string.length"},
           over(), thread_safe{}) {
    std::map<int, char const*> names;
    for (auto const& [name, value] : errors::classes()) {
        expect_class(mpi, value, value, name);
        bool const success = std::strcmp(name, "MPI_SUCCESS") == 0;
        mpi.check(success ? value == 0 : value > 0 && value <= MPI_ERR_LASTCODE, finding::error,
                  fmt::format("{} is {}; expected {} and MPI_ERR_LASTCODE is {}", name, value,
                              success ? "0" : "a value from 1 to MPI_ERR_LASTCODE", MPI_ERR_LASTCODE));
        auto const [same, fresh] = names.emplace(value, name);
        mpi.check(fresh, finding::error, fmt::format("{} and {} have the same value {}", name, same->second, value));
        mpi.check(!text_of(mpi, value).empty(), finding::data,
                  fmt::format("MPI_Error_string of {} gives an empty text", name));
    }
}

ASSAY_TEST(errors, last_used_code, requirements{"errors.lastusedcode"}, over()) {
    int const before = last_used(mpi);
    mpi.check(before >= MPI_ERR_LASTCODE, finding::value,
              fmt::format("MPI_LASTUSEDCODE is {}, below MPI_ERR_LASTCODE, {}", before, MPI_ERR_LASTCODE));
    int made = -7;
    mpi.ok(MPI_Add_error_class(&made));
    int const after = last_used(mpi);
    // Codes may be numbered higher than the new class: it is the largest value in use, not the newest.
    mpi.check(after >= made && after >= before, finding::value,
              fmt::format("MPI_LASTUSEDCODE is {} after a new class {}, and was {} before", after, made, before));
    if (has_procedure("MPI_Remove_error_class")) mpi.ok(MPI_Remove_error_class(made));
}

namespace {
enum class texts { none, first, again, longest };
axis<texts> const strings("text", {{{"first", "set once"}, texts::first},
                                   {{"none", "never set"}, texts::none},
                                   {{"again", "set twice"}, texts::again},
                                   {{"longest", "MPI_MAX_ERROR_STRING - 1 characters"}, texts::longest}});
axis<bool> const of_class("of",
                          {{{"code", "text of an error code"}, false}, {{"class", "text of an error class"}, true}});
} // namespace

ASSAY_TEST(errors, user,
           requirements{"errors.add_class", "errors.add_code", "errors.add_string", "errors.add_string.replaces",
                        "errors.string.unset"},
           over(axis_use{&strings}, axis_use{&of_class}), thread_safe{}) {
    int error_class = -7, code = -7, other = -7;
    mpi.ok(MPI_Add_error_class(&error_class));
    if (!mpi.check(
            error_class > MPI_ERR_LASTCODE, finding::error,
            fmt::format("MPI_Add_error_class gives {}, not above MPI_ERR_LASTCODE, {}", error_class, MPI_ERR_LASTCODE)))
        return;
    mpi.ok(MPI_Add_error_code(error_class, &code));
    mpi.ok(MPI_Add_error_code(error_class, &other));
    mpi.check(code > MPI_ERR_LASTCODE && code != error_class && other != code && other != error_class, finding::error,
              fmt::format("MPI_Add_error_code gives {} and {} for the class {}: not new and different", code, other,
                          error_class));
    expect_class(mpi, error_class, error_class, "a class of the user");
    expect_class(mpi, code, error_class, "a code of the user");
    expect_class(mpi, other, error_class, "a second code of the user");
    int const target = mpi.at(of_class) ? error_class : code, untouched = mpi.at(of_class) ? code : error_class;
    std::string expected;
    expect_text(mpi, target, "", "a code without a text");
    switch (mpi.at(strings)) {
    case texts::none: break;
    case texts::first: expected = "the user's own words, with %d and %s"; break;
    case texts::again:
        mpi.ok(MPI_Add_error_string(target, "a text that is replaced, and longer than that which comes"));
        expected = "the second text";
        break;
    case texts::longest: expected.assign(MPI_MAX_ERROR_STRING - 1, 'x'); break;
    }
    if (!expected.empty()) {
        auto copy = expected;
        mpi.ok(MPI_Add_error_string(target, copy.c_str()));
        copy.assign(copy.size(), '#'); // the library needs a copy of its own
        expect_text(mpi, target, expected, "a code of the user");
        mpi.check(text_of(mpi, untouched) != expected, finding::data,
                  "the text of a code became that of its class, or the other way");
    }
    expect_class(mpi, target, error_class, "a code that has got a text");
    expect_text(mpi, other, "", "a code to which no text was given");
    if (has_procedure("MPI_Remove_error_string") && mpi.at(strings) != texts::again) { // errors.remove_replaced
        if (!expected.empty()) mpi.ok(MPI_Remove_error_string(target));
        mpi.ok(MPI_Remove_error_code(code));
        mpi.ok(MPI_Remove_error_code(other));
        mpi.ok(MPI_Remove_error_class(error_class));
    }
}

// A code may be added to a class of MPI: then programs that know only MPI's classes understand it.
ASSAY_TEST(errors, user_code_of_mpi, requirements{"errors.add_code.predefined", "errors.add_code.predefined_value"},
           over(), thread_safe{}) {
    int code = -7;
    mpi.ok(MPI_Add_error_code(MPI_ERR_ARG, &code));
    mpi.check("errors.add_code.predefined_value", code > MPI_ERR_LASTCODE, finding::error,
              fmt::format("MPI_Add_error_code gives {}, expected more than MPI_ERR_LASTCODE", code));
    expect_class(mpi, code, MPI_ERR_ARG, "a code of the user for MPI_ERR_ARG");
    if (has_procedure("MPI_Remove_error_code")) mpi.ok(MPI_Remove_error_code(code));
}

ASSAY_TEST(errors, many, requirements{"errors.add_code.many"}, over(), thread_safe{}) {
    constexpr int n = 100;
    std::array<int, 2> made{-7, -7};
    std::vector<std::pair<int, int>> codes; // code, class
    for (auto& error_class : made) mpi.ok(MPI_Add_error_class(&error_class));
    for (int i = 0; i < n; ++i) {
        int code = -7;
        auto const error_class = made[static_cast<std::size_t>(i % 2)];
        if (!mpi.ok(MPI_Add_error_code(error_class, &code))) break;
        mpi.ok(MPI_Add_error_string(code, fmt::format("text {}", i).c_str()));
        codes.emplace_back(code, error_class);
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
        auto const what = fmt::format("code {} of {}", i, codes.size());
        expect_class(mpi, codes[i].first, codes[i].second, what.c_str());
        expect_text(mpi, codes[i].first, fmt::format("text {}", i), what.c_str());
    }
    std::sort(codes.begin(), codes.end());
    mpi.check(std::adjacent_find(codes.begin(), codes.end(),
                                 [](auto const& a, auto const& b) { return a.first == b.first; }) == codes.end(),
              finding::error, "MPI_Add_error_code gave one code twice");
    if (!has_procedure("MPI_Remove_error_code")) return;
    for (auto const& [code, error_class] : codes) {
        mpi.ok(MPI_Remove_error_string(code));
        mpi.ok(MPI_Remove_error_code(code));
    }
    for (auto error_class : made) mpi.ok(MPI_Remove_error_class(error_class));
}

ASSAY_TEST(errors, remove, requirements{"errors.remove_string", "errors.remove_code", "errors.remove_class"}, over(),
           needs_procedures({"MPI_Remove_error_class", "MPI_Remove_error_code", "MPI_Remove_error_string"})) {
    std::array<int, 3> made{-7, -7, -7};
    int code = -7, other = -7;
    for (auto& error_class : made) mpi.ok(MPI_Add_error_class(&error_class));
    mpi.ok(MPI_Add_error_code(made[1], &code));
    mpi.ok(MPI_Add_error_code(made[1], &other));
    mpi.ok(MPI_Add_error_string(code, "to be removed"));
    mpi.ok(MPI_Add_error_string(other, "to be kept"));
    mpi.ok(MPI_Remove_error_string(code));
    expect_text(mpi, code, "", "a code whose text was removed");
    expect_text(mpi, other, "to be kept", "another code");
    mpi.ok(MPI_Add_error_string(code, "a new text"));
    expect_text(mpi, code, "a new text", "a code that has got a text again");
    mpi.ok(MPI_Remove_error_string(code));
    mpi.ok(MPI_Remove_error_code(code));
    expect_class(mpi, other, made[1], "a code that stays when another one is removed");
    mpi.ok(MPI_Add_error_code(made[1], &code)); // may get the old value
    expect_class(mpi, code, made[1], "a code that is added after a removed one");
    expect_text(mpi, code, "", "a code that is added after a removed one");
    mpi.ok(MPI_Remove_error_code(code));
    mpi.ok(MPI_Remove_error_string(other));
    mpi.ok(MPI_Remove_error_code(other));
    int const full = last_used(mpi), largest = *std::max_element(made.begin(), made.end());
    mpi.check(full >= largest, finding::value,
              fmt::format("MPI_LASTUSEDCODE is {} while a class {} exists", full, largest));
    mpi.ok(MPI_Remove_error_class(made[1]));
    mpi.check(last_used(mpi) >= std::max(made[0], made[2]), finding::value,
              fmt::format("MPI_LASTUSEDCODE is {} while classes {} and {} exist", last_used(mpi), made[0], made[2]));
    mpi.ok(MPI_Remove_error_class(made[2]));
    mpi.ok(MPI_Remove_error_class(made[0]));
}

ASSAY_TEST(errors, last_used_code_removed, requirements{"errors.lastusedcode.removed"}, over(),
           needs_procedures({"MPI_Remove_error_class"})) {
    int const before = last_used(mpi);
    std::vector<int> made;
    do { // values of classes that were removed may come again
        made.push_back(-7);
        if (!mpi.ok(MPI_Add_error_class(&made.back()))) return;
    } while (made.back() <= before && made.size() < 1000);
    for (int error_class : made) mpi.ok(MPI_Remove_error_class(error_class));
    mpi.check(last_used(mpi) == before, finding::value,
              fmt::format("MPI_LASTUSEDCODE is {} when all new classes are removed, and was {} before they were added",
                          last_used(mpi), before));
}

ASSAY_TEST(errors, remove_replaced, requirements{"errors.remove_class", "errors.add_string.replaces"}, over(),
           note{"a class whose text was replaced"},
           needs_procedures({"MPI_Remove_error_class", "MPI_Remove_error_string"})) {
    int error_class = -7;
    mpi.ok(MPI_Add_error_class(&error_class));
    mpi.ok(MPI_Add_error_string(error_class, "the first text"));
    mpi.ok(MPI_Add_error_string(error_class, "the second text"));
    mpi.ok(MPI_Remove_error_string(error_class));
    expect_text(mpi, error_class, "", "a class whose text was replaced and removed");
    mpi.ok(MPI_Remove_error_class(error_class));
}
