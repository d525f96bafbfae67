//! What a row has by its place among others.

use super::Form::Window;
use super::meaning::{Meaning as M, Null, Zero};
use super::{Kinds as K, Row, both, pg, sqlite};

pub(super) const ROWS: &[Row] = &[
    both(Window, "row_number", &[], M::RowNumber),
    both(Window, "rank", &[], M::Rank),
    both(Window, "dense_rank", &[], M::DenseRank),
    both(Window, "percent_rank", &[], M::PercentRank),
    both(Window, "cume_dist", &[], M::CumulativeShare),
    pg(Window, "ntile", &[K::NARROW.present()], M::Tile(Zero::Error)),
    sqlite(Window, "ntile", &[K::WHOLE], M::Tile(Zero::Error)),
    pg(Window, "ntile", &[K::NARROW], M::Tile(Zero::Null)),
    both(Window, "lag", &[K::ANY], M::Before),
    sqlite(Window, "lag", &[K::ANY, K::WHOLE], M::Before),
    pg(Window, "lag", &[K::ANY, K::NARROW], M::Before),
    pg(Window, "lag", &[K::ANY, K::NARROW.present(), K::ANY], M::BeforeOr(Null::Skipped)),
    sqlite(Window, "lag", &[K::ANY, K::WHOLE, K::ANY], M::BeforeOr(Null::Skipped)),
    pg(Window, "lag", &[K::ANY, K::NARROW, K::ANY], M::BeforeOr(Null::Taken)),
    both(Window, "lead", &[K::ANY], M::Behind),
    sqlite(Window, "lead", &[K::ANY, K::WHOLE], M::Behind),
    pg(Window, "lead", &[K::ANY, K::NARROW], M::Behind),
    pg(Window, "lead", &[K::ANY, K::NARROW.present(), K::ANY], M::BehindOr(Null::Skipped)),
    sqlite(Window, "lead", &[K::ANY, K::WHOLE, K::ANY], M::BehindOr(Null::Skipped)),
    pg(Window, "lead", &[K::ANY, K::NARROW, K::ANY], M::BehindOr(Null::Taken)),
    both(Window, "first_value", &[K::ANY], M::First),
    both(Window, "last_value", &[K::ANY], M::Last),
    pg(Window, "nth_value", &[K::ANY, K::NARROW.present()], M::Nth(Zero::Error)),
    sqlite(Window, "nth_value", &[K::ANY, K::WHOLE], M::Nth(Zero::Error)),
    pg(Window, "nth_value", &[K::ANY, K::NARROW], M::Nth(Zero::Null)),
];
