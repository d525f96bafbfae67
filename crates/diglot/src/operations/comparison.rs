//! Comparisons, patterns and collations.

use super::Form::{Call, Collate, Infix};
use super::meaning::{Case, Collation, Meaning as M, Sort};
use super::{Kinds as K, Row, pg, sqlite};

const FLAGGED: K = K::WHOLE.or(K::FLAG);

/// The rows of one comparison. Texts are equal on Postgres when their bytes are, in whatever language they are sorted.
macro_rules! compared {
    ($word:literal, $means:path, $texts:expr) => {
        [
            sqlite(Infix, $word, &[FLAGGED, FLAGGED], $means(Sort::Whole)),
            sqlite(Infix, $word, &[K::REAL, K::REAL], $means(Sort::Real)),
            sqlite(Infix, $word, &[FLAGGED.or(K::REAL), FLAGGED.or(K::REAL)], $means(Sort::Mixed)),
            sqlite(Infix, $word, &[K::TEXT, K::TEXT], $means(Sort::Bytes)),
            sqlite(Infix, $word, &[K::BYTES, K::BYTES], $means(Sort::Own)),
            sqlite(Infix, $word, &[K::ANY, K::ANY], $means(Sort::Storage)),
            pg(Infix, $word, &[K::WHOLE, K::WHOLE], $means(Sort::Whole)),
            pg(Infix, $word, &[K::FLAG, K::FLAG], $means(Sort::Whole)),
            pg(Infix, $word, &[K::REAL, K::REAL], $means(Sort::Real)),
            pg(Infix, $word, &[K::WHOLE.or(K::REAL), K::WHOLE.or(K::REAL)], $means(Sort::MixedAsReal)),
            pg(Infix, $word, &[K::TEXT, K::TEXT], $means($texts)),
            pg(Infix, $word, &[K::BYTES, K::BYTES], $means(Sort::Own)),
            pg(Infix, $word, &[K::ANY, K::ANY], $means(Sort::Own)),
        ]
    };
}

pub(super) const EQUAL: &[Row] = &compared!("=", M::Equal, Sort::Bytes);
pub(super) const UNEQUAL: &[Row] = &compared!("<>", M::Unequal, Sort::Bytes);
pub(super) const NOT_DISTINCT: &[Row] = &compared!("is not distinct from", M::NotDistinct, Sort::Bytes);
pub(super) const DISTINCT: &[Row] = &compared!("is distinct from", M::Distinct, Sort::Bytes);
pub(super) const LESS: &[Row] = &compared!("<", M::Less, Sort::Language);
pub(super) const LESS_OR_EQUAL: &[Row] = &compared!("<=", M::LessOrEqual, Sort::Language);
pub(super) const MORE: &[Row] = &compared!(">", M::More, Sort::Language);
pub(super) const MORE_OR_EQUAL: &[Row] = &compared!(">=", M::MoreOrEqual, Sort::Language);

pub(super) const ROWS: &[Row] = &[
    sqlite(Infix, "like", &[K::ANY, K::ANY], M::Like(Case::Ascii)),
    pg(Infix, "like", &[K::TEXT, K::TEXT], M::Like(Case::No)),
    pg(Infix, "ilike", &[K::TEXT, K::TEXT], M::Like(Case::All)),
    sqlite(Infix, "glob", &[K::ANY, K::ANY], M::Glob),
    pg(Infix, "~", &[K::TEXT, K::TEXT], M::Matches(Case::No)),
    pg(Infix, "~*", &[K::TEXT, K::TEXT], M::Matches(Case::All)),
    pg(Infix, "!~", &[K::TEXT, K::TEXT], M::Matches(Case::No)),
    pg(Infix, "!~*", &[K::TEXT, K::TEXT], M::Matches(Case::All)),
    pg(Call, "starts_with", &[K::TEXT, K::TEXT], M::Begins),
    sqlite(Collate, "binary", &[], M::Ordered(Collation::Ascii)),
    sqlite(Collate, "BINARY", &[], M::Ordered(Collation::Ascii)),
    sqlite(Collate, "nocase", &[], M::Ordered(Collation::Folded)),
    sqlite(Collate, "NOCASE", &[], M::Ordered(Collation::Folded)),
    sqlite(Collate, "rtrim", &[], M::Ordered(Collation::Trimmed)),
    sqlite(Collate, "RTRIM", &[], M::Ordered(Collation::Trimmed)),
    pg(Collate, "C", &[], M::Ordered(Collation::Ascii)),
    pg(Collate, "POSIX", &[], M::Ordered(Collation::Ascii)),
    pg(Collate, "default", &[], M::Ordered(Collation::Language)),
    pg(Collate, "en-US-x-icu", &[], M::Ordered(Collation::Language)),
    pg(Collate, "en-x-icu", &[], M::Ordered(Collation::Language)),
    pg(Collate, "und-x-icu", &[], M::Ordered(Collation::Language)),
];
