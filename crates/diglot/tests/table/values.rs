//! Values at the edges of every type, each as both engines write it, and drawn ones.

use std::collections::BTreeMap;

use diglot::types::Base;

/// A value as each engine writes it.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub(crate) sqlite: String,
    pub(crate) pg: String,
}

impl Value {
    pub(crate) fn is_null(&self) -> bool {
        self.sqlite == "NULL"
    }
}

/// Numbers by chance, the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A whole number; the least one has no literal of its own.
fn whole(number: i64, ty: &str) -> Value {
    let sqlite = match number {
        i64::MIN => "(-9223372036854775807 - 1)".to_owned(),
        number => format!("({number})"),
    };
    Value { sqlite, pg: format!("('{number}'::{ty})") }
}

/// A real number. SQLite reads digits less exactly than it stores numbers, so it is handed over.
fn real(number: f64) -> Value {
    let pg = match number {
        number if number == f64::INFINITY => "('Infinity'::float8)".to_owned(),
        number if number == f64::NEG_INFINITY => "('-Infinity'::float8)".to_owned(),
        number => format!("('{number:?}'::float8)"),
    };
    Value { sqlite: format!("(SELECT v FROM reals WHERE bits = {})", number.to_bits() as i64), pg }
}

/// The real numbers among the values.
pub(crate) fn reals(pools: &BTreeMap<&'static str, Vec<Value>>) -> Vec<f64> {
    let bits = |value: &Value| value.sqlite.split("bits = ").nth(1)?.trim_end_matches(')').parse::<i64>().ok();
    let all = pools.get(Base::Float64.word()).into_iter().flatten();
    all.filter_map(bits).map(|bits| f64::from_bits(bits as u64)).collect()
}

fn exact(text: &str) -> Value {
    Value { sqlite: format!("({text})"), pg: format!("('{text}'::numeric)") }
}

fn text(text: &str) -> Value {
    Value { sqlite: quoted(text), pg: format!("({}::text)", quoted(text)) }
}

fn bytes(hex: &str) -> Value {
    Value { sqlite: format!("x'{hex}'"), pg: format!("('\\x{hex}'::bytea)") }
}

fn document(json: &str) -> Value {
    Value { sqlite: quoted(json), pg: format!("({}::jsonb)", quoted(json)) }
}

fn list(json: &str, array: &str, ty: &str) -> Value {
    Value { sqlite: quoted(json), pg: format!("('{array}'::{ty})") }
}

const WHOLES: [i64; 22] = [
    i64::MIN,
    i64::MIN + 1,
    -(1 << 53) - 1,
    -2_147_483_649,
    -2_147_483_648,
    -32_768,
    -3,
    -1,
    0,
    1,
    2,
    7,
    64,
    32_767,
    32_768,
    2_147_483_647,
    2_147_483_648,
    (1 << 53) - 1,
    1 << 53,
    (1 << 53) + 1,
    i64::MAX - 1,
    i64::MAX,
];

const TEXTS: [&str; 24] = [
    "", " ", "a", "A", "b", "ab", "aB", "é", "É", "e\u{301}", "ä", "Z", "%", "_", "\\", "a_b", "A%", "10", "010",
    " 7 ", "  pad  ", "x'y", "日本", "ß",
];

const DOCUMENTS: [&str; 14] = [
    "{}",
    "[]",
    r#"{"a":1}"#,
    r#"{"a":null}"#,
    r#"{"a":{"b":[1,2.5,"x"]}}"#,
    r#"{"b":true,"a":"1"}"#,
    r#"[1,[2],null,"a"]"#,
    "1",
    "1.0",
    "-7",
    r#""a""#,
    "true",
    "null",
    r#"{"é":"日"}"#,
];

/// The values of every type: the edges, NULL, and so many that are drawn.
pub(crate) fn pools(random: &mut Random, drawn: usize) -> BTreeMap<&'static str, Vec<Value>> {
    let mut pools: BTreeMap<&'static str, Vec<Value>> = BTreeMap::new();
    for (base, ty, least, most) in [
        (Base::Int16, "int2", i64::from(i16::MIN), i64::from(i16::MAX)),
        (Base::Int32, "int4", i64::from(i32::MIN), i64::from(i32::MAX)),
        (Base::Int64, "int8", i64::MIN, i64::MAX),
    ] {
        let pool = pools.entry(base.word()).or_default();
        pool.extend(
            WHOLES.into_iter().filter(|number| (least..=most).contains(number)).map(|number| whole(number, ty)),
        );
        for _ in 0..drawn {
            let number = (random.next() as i64) >> random.below(64);
            pool.push(whole(number.clamp(least, most), ty));
        }
        pool.push(Value { sqlite: "NULL".to_owned(), pg: format!("(NULL::{ty})") });
    }
    let reals = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.0,
        1.5,
        2.5,
        -2.5,
        3.0,
        0.1,
        1e15,
        1e18,
        9_007_199_254_740_991.0,
        9_007_199_254_740_992.0,
        9.3e18,
        1e-300,
        1.7e308,
        -1.7e308,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let pool = pools.entry(Base::Float64.word()).or_default();
    pool.extend(reals.map(real));
    for _ in 0..drawn {
        let number = f64::from_bits(random.next());
        // SQLite stores no NaN.
        pool.push(real(if number.is_nan() { 4.25 } else { number }));
    }
    pool.push(Value { sqlite: "NULL".to_owned(), pg: "(NULL::float8)".to_owned() });
    let pool = pools.entry(Base::Text.word()).or_default();
    pool.extend(TEXTS.map(text));
    let letters: Vec<char> = "aAbB%_\\ 01.é\u{301}日".chars().collect();
    for _ in 0..drawn {
        let length = random.below(6);
        let drawn: String = (0..length).map(|_| letters[random.below(letters.len())]).collect();
        pool.push(text(&drawn));
    }
    pool.push(Value { sqlite: "NULL".to_owned(), pg: "(NULL::text)".to_owned() });
    let pool = pools.entry(Base::Bytes.word()).or_default();
    pool.extend(["", "00", "ff00", "616263", "c3a9", "616263646566676869"].map(bytes));
    for _ in 0..drawn {
        let length = random.below(9);
        let hex: String = (0..length).map(|_| format!("{:02x}", random.below(256))).collect();
        pool.push(bytes(&hex));
    }
    pool.push(Value { sqlite: "NULL".to_owned(), pg: "(NULL::bytea)".to_owned() });
    let plain = |sqlite: &str, pg: &str| Value { sqlite: sqlite.to_owned(), pg: pg.to_owned() };
    let id = "00112233445566778899aabbccddeeff";
    let fixed = [
        (
            Base::Numeric,
            vec![exact("0"), exact("1.5"), exact("2.5"), exact("-2.5"), exact("0.1"), plain("NULL", "(NULL::numeric)")],
        ),
        (Base::Bool, vec![plain("0", "false"), plain("1", "true"), plain("NULL", "(NULL::bool)")]),
        (Base::Uuid, vec![plain(&format!("x'{id}'"), &format!("('{id}'::uuid)")), plain("NULL", "(NULL::uuid)")]),
        (Base::Json, DOCUMENTS.map(document).into_iter().chain([plain("NULL", "(NULL::jsonb)")]).collect()),
        (
            Base::Timestamp,
            vec![
                plain("'2024-02-29 12:00:00'", "('2024-02-29 12:00:00+00'::timestamptz)"),
                plain("'1969-12-31 23:59:59'", "('1969-12-31 23:59:59+00'::timestamptz)"),
                plain("NULL", "(NULL::timestamptz)"),
            ],
        ),
        (
            Base::DateTime,
            vec![
                plain("'2024-02-29 12:00:00'", "('2024-02-29 12:00:00'::timestamp)"),
                plain("NULL", "(NULL::timestamp)"),
            ],
        ),
        (Base::Date, vec![plain("'2024-02-29'", "('2024-02-29'::date)"), plain("NULL", "(NULL::date)")]),
        (Base::TimeOfDay, vec![plain("'12:00:00'", "('12:00:00'::time)"), plain("NULL", "(NULL::time)")]),
        (Base::Interval, vec![plain("'12:00'", "('12:00'::interval)"), plain("NULL", "(NULL::interval)")]),
        (
            Base::TextArray,
            vec![
                list("[]", "{}", "text[]"),
                list(r#"["a","b"]"#, "{a,b}", "text[]"),
                list(r#"["a",null]"#, "{a,NULL}", "text[]"),
            ],
        ),
        (Base::Int64Array, vec![list("[]", "{}", "int8[]"), list("[1,2]", "{1,2}", "int8[]")]),
        (Base::UuidArray, vec![list("[]", "{}", "uuid[]")]),
    ];
    for (base, values) in fixed {
        pools.insert(base.word(), values);
    }
    pools
}
