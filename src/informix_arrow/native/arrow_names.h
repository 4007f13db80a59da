/* Names of Arrow types, from their format strings (C data interface), for messages. */
#ifndef INFORMIX_ARROW_ARROW_NAMES_H
#define INFORMIX_ARROW_ARROW_NAMES_H

#include <stdio.h>
#include <string.h>

/* "int32", "timestamp[us, UTC]", "decimal128(8, 2)"; what is not known by its format string. */
static inline void ia_arrow_name(const char *format, char *out, size_t size)
{
    static const char *const names[][2] = {
        {"n", "null"}, {"b", "bool"}, {"c", "int8"}, {"C", "uint8"}, {"s", "int16"}, {"S", "uint16"},
        {"i", "int32"}, {"I", "uint32"}, {"l", "int64"}, {"L", "uint64"}, {"e", "float16"}, {"f", "float32"},
        {"g", "float64"}, {"z", "binary"}, {"Z", "large_binary"}, {"vz", "binary_view"}, {"u", "utf8"},
        {"U", "large_utf8"}, {"vu", "string_view"}, {"tdD", "date32"}, {"tdm", "date64"}, {"tts", "time32[s]"},
        {"ttm", "time32[ms]"}, {"ttu", "time64[us]"}, {"ttn", "time64[ns]"}, {"tDs", "duration[s]"},
        {"tDm", "duration[ms]"}, {"tDu", "duration[us]"}, {"tDn", "duration[ns]"}, {"tiM", "month_interval"},
        {"tiD", "day_time_interval"}, {"tin", "month_day_nano_interval"}, {"+l", "list"}, {"+L", "large_list"},
        {"+vl", "list_view"}, {"+vL", "large_list_view"}, {"+s", "struct"}, {"+m", "map"}, {"+r", "run_end_encoded"},
    };
    static const char units[] = "smun";
    static const char *const unit_names[] = {"s", "ms", "us", "ns"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (strcmp(format, names[k][0]) != 0) continue;
        snprintf(out, size, "%s", names[k][1]);
        return;
    }
    if (format[0] == 't' && format[1] == 's' && format[2] != '\0' && strchr(units, format[2]) && format[3] == ':') {
        const char *const unit = unit_names[strchr(units, format[2]) - units];
        if (format[4] == '\0')
            snprintf(out, size, "timestamp[%s]", unit);
        else
            snprintf(out, size, "timestamp[%s, %.40s]", unit, format + 4);
        return;
    }
    int a, b, bits = 128, used = 0;
    if (sscanf(format, "d:%d,%d%n", &a, &b, &used) == 2 && used > 0 &&
        (format[used] == '\0' || sscanf(format + used, ",%d", &bits) == 1)) {
        snprintf(out, size, "decimal%d(%d, %d)", bits, a, b);
        return;
    }
    if (sscanf(format, "w:%d", &a) == 1) {
        snprintf(out, size, "fixed_size_binary[%d]", a);
        return;
    }
    snprintf(out, size, "'%.40s'", format);
}

#endif
