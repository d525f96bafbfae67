//! Which libraries the generated Rust uses for what the standard library has no type for.

use std::collections::BTreeMap;

/// The libraries of `[types]`: `times = "chrono"`, `decimals = "rust_decimal"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Libraries {
    /// That of times.
    pub times: Times,
    /// That of decimals.
    pub decimals: Decimals,
}

/// A library of times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Times {
    /// `chrono`.
    #[default]
    Chrono,
    /// `time`.
    Time,
    /// `jiff`.
    Jiff,
}

/// A library of decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decimals {
    /// `rust_decimal`.
    #[default]
    RustDecimal,
    /// `bigdecimal`.
    BigDecimal,
}

const TIMES: [(&str, Times); 3] = [("chrono", Times::Chrono), ("time", Times::Time), ("jiff", Times::Jiff)];
const DECIMALS: [(&str, Decimals); 2] = [("rust_decimal", Decimals::RustDecimal), ("bigdecimal", Decimals::BigDecimal)];

impl Times {
    /// What a Cargo.toml says of the library below `[dependencies]`.
    pub fn dependency(self) -> &'static str {
        match self {
            Self::Chrono => "chrono = { version = \"0.4\", default-features = false, features = [\"std\"] }",
            Self::Time => "time = { version = \"0.3\", default-features = false, features = [\"std\"] }",
            Self::Jiff => "jiff = { version = \"0.2\", default-features = false, features = [\"std\"] }",
        }
    }
}

impl Decimals {
    /// What a Cargo.toml says of the library below `[dependencies]`.
    pub fn dependency(self) -> &'static str {
        match self {
            Self::RustDecimal => "rust_decimal = { version = \"1\", default-features = false, features = [\"std\"] }",
            Self::BigDecimal => "bigdecimal = \"0.4\"",
        }
    }

    /// The feature of sqlx by which it binds such a value.
    pub fn feature(self) -> &'static str {
        match self {
            Self::RustDecimal => "rust_decimal",
            Self::BigDecimal => "bigdecimal",
        }
    }
}

fn named<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    list.iter().find(|(known, _)| *known == name).map(|(_, library)| *library)
}

impl Libraries {
    /// The keys of `[types]` that name a library and no column.
    pub(super) const KEYS: [&str; 2] = ["times", "decimals"];

    /// What `[types]` says.
    pub(super) fn of(types: &BTreeMap<String, String>) -> Self {
        let said = |key: &str| types.get(key).map_or("", String::as_str);
        Self {
            times: named(&TIMES, said("times")).unwrap_or_default(),
            decimals: named(&DECIMALS, said("decimals")).unwrap_or_default(),
        }
    }

    /// The words that such a key may have.
    pub(super) fn words(key: &str) -> Vec<&'static str> {
        match key {
            "times" => TIMES.map(|(word, _)| word).to_vec(),
            _ => DECIMALS.map(|(word, _)| word).to_vec(),
        }
    }

    /// What is wrong with such a key's value, if something is.
    pub(super) fn fault(key: &str, value: &str) -> Option<String> {
        let words = Self::words(key);
        (!words.contains(&value)).then(|| format!("`{key}` is one of: {}", words.join(", ")))
    }
}
