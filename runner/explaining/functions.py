"""The small functions of a program, as C; what stands in braces is put in by layout.py."""

EXPECT = """static int broken = 0;

static void expect(char const* what, long got, long expected) {
    if (got == expected) return;
    printf("%s: %ld, expected %ld\\n", what, got, expected);
    broken = 1;
}
"""
EXPECT_BYTES = """static void expect_bytes(char const* what, void const* got, void const* expected, size_t n) {
    for (size_t k = 0; k < n; ++k)
        if (((unsigned char*)got)[k] != ((unsigned char*)expected)[k]) {
            printf("%s: byte %zu is 0x%02x, expected 0x%02x\\n", what, k, ((unsigned char*)got)[k],
                   ((unsigned char*)expected)[k]);
            broken = 1;
            return;
        }
}
"""
FILL = """// Consecutive bytes from `first` on, in the n pieces `at` of each element.
static void fill(void* to, int elements, int extent, int n, int const* at, int size, int first) {
    for (int e = 0; e < elements; ++e)
        for (int p = 0; p < n; ++p)
            for (int k = 0; k < size; ++k) ((char*)to)[e * extent + at[p] + k] = (char)(first++ % 160);
}
"""
WRITE_FILE = """static void write_file(char const* name, void const* content, size_t size) {
    FILE* file = fopen(name, "w");
    fwrite(content, 1, size, file);
    fclose(file);
}
"""
EXPECT_FILE = """static void expect_file(char const* name, void const* content, size_t size) {
    static char found[{size}];
    FILE* file = fopen(name, "r");
    expect("bytes in the file", file ? (long)fread(found, 1, sizeof found, file) : -1, (long)size);
    if (file) fclose(file);
    expect_bytes("the file", found, content, size);
}
"""
SET_VARIABLE = """// A control variable of the library; another library has no such variable.
static void set_variable(char const* name, int value) {
    int provided, index, count;
    MPI_T_cvar_handle variable;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return;
    MPI_T_cvar_handle_alloc(index, NULL, &variable, &count);
    MPI_T_cvar_write(variable, &value);
}
"""
LIMIT_FILE_SIZE = """static void limit_file_size(rlim_t size) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size;
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
}
"""
HANDLER = """static int {name}_calls = 0;
static void {name}({kind}* object, int* code, ...) {
    (void)object, (void)code;
    ++{name}_calls;
}
"""
DIED = """static int done = 0;

static void died(void) {
    static char const text[] = "BUG: the process ends in {call}\\n";
    if (!done && write(1, text, sizeof text - 1) < 0) _exit(2);
}
static void struck(int signal) {
    died();
    _exit(signal);
}
"""
OPERATION = """static void {name}(void* in, void* inout, {count}* length, MPI_Datatype* type) {
    (void)in, (void)inout, (void)length, (void)type;
}
"""
