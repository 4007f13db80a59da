"""Values: conversions, ranges, dates and times."""

TABLE = """\
-415 data
    A value could not be converted to the type of its column
    See the ISAM code.
-467 data 22002
    A value is NULL and there is no indicator for it
-1200 data
    A number is too large for DECIMAL
-1201 data
    A number is too small for DECIMAL
-1202 data 22012
    Division by zero
    Avoid it with CASE WHEN b <> 0 THEN a / b END.
-1203 data
    MATCHES and LIKE need text on both sides
-1204 data
    The year of a date is wrong
    Pass dates as date objects, not as text.
-1205 data
    The month of a date is wrong
    Pass dates as date objects, not as text.
-1206 data
    The day of a date is wrong
    Pass dates as date objects, not as text.
-1207 data
    A converted value is too long for its target
-1208 data
    There is no conversion from this type to text
-1209 data
    A date without separators needs 6 or 8 digits
-1210 data
    A date could not be formatted
-1211 operational
    Memory ran out
-1212 data
    A date format needs month, day and year
-1213 data
    Text could not be converted to a number
-1214 data 22003
    A value is too large for SMALLINT
    The range is -32767 to 32767.
-1215 data 22003
    A value is too large for INTEGER
    The range is -2147483647 to 2147483647.
-1216 data
    The exponent of a number is wrong
-1217 data
    A format string is too long
-1218 data
    Text could not be converted to a date
    Write it in the format of DBDATE, by default Y4MD- as in '2024-05-01', or pass it as a date object.
-1221 data
    NULL cannot be converted
-1222 data 22003
    A value is too large for SMALLFLOAT
-1223 data
    A value is too large for FLOAT
-1224 data
    A decimal number is badly formed
-1225 integrity
    The column does not accept NULL
    Give it a value.
-1226 data 22003
    A decimal number has more digits than its column
    Round it, or make the column wider.
-1233 data
    The hour, minute or second is wrong
-1234 data
    The function takes DATETIME values only
    Use EXTEND.
-1235 data
    A text is too long for its variable
-1236 data
    The era of a date is wrong
-1260 data
    The types cannot be converted into each other
    Cast in two steps, or convert the value in Python.
-1261 data
    The first field of a DATETIME or INTERVAL has too many digits
-1262 data
    A DATETIME or INTERVAL has characters that are not digits
-1263 data
    A field of a DATETIME or INTERVAL is out of range
-1264 data
    There are extra characters after a DATETIME or INTERVAL
-1265 data
    A computation with DATETIME or INTERVAL overflowed
-1266 data
    The DATETIME or INTERVAL values do not fit together for this operation
    Use EXTEND.
-1267 data
    The result of a DATETIME computation is out of range
-1268 data
    The qualifier of a DATETIME or INTERVAL is wrong
-1269 data
    A large object could not be converted
-1270 data
    The minus sign of an INTERVAL stands before its first field
-1271 data
    The fraction of a DATETIME or INTERVAL has no decimal point
-1275 data
    A DATETIME or INTERVAL format has a wrong width
-1276 data
    A format has an unknown character
-1277 data
    The text does not match its format
-1278 data 22025
    An escape sequence is wrong
-1279 data 22001
    Text is longer than its column
    Shorten it, or make the column wider.
-1284 data
    A value is too large for BIGINT or INT8
    The range is -9223372036854775807 to 9223372036854775807.
-1285 internal
    The server does not know a type
-5852 data
    The date is not valid
-5855 data
    The formatted text is too long for its target
"""
