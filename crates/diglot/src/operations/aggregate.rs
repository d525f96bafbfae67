//! What is made of the rows of a group.

use super::Form::Aggregate;
use super::meaning::{Meaning as M, Sort, Sum};
use super::{Kinds as K, Row, both, pg, sqlite};

const FLAGGED: K = K::WHOLE.or(K::FLAG);

pub(super) const ROWS: &[Row] = &[
    both(Aggregate, "count", &[], M::Count),
    both(Aggregate, "count", &[K::ANY], M::Count),
    sqlite(Aggregate, "sum", &[FLAGGED], M::Sum(Sum::Wide)),
    sqlite(Aggregate, "sum", &[K::ANY], M::Sum(Sum::Real)),
    pg(Aggregate, "sum", &[K::NARROW], M::Sum(Sum::Wide)),
    pg(Aggregate, "sum", &[K::WIDE.or(K::EXACT)], M::Sum(Sum::Exact)),
    pg(Aggregate, "sum", &[K::REAL], M::Sum(Sum::RealChecked)),
    pg(Aggregate, "sum", &[K::TIME], M::Sum(Sum::Span)),
    sqlite(Aggregate, "total", &[K::ANY], M::Sum(Sum::RealOrZero)),
    sqlite(Aggregate, "avg", &[K::ANY], M::Average(Sum::Real)),
    pg(Aggregate, "avg", &[K::WHOLE.or(K::EXACT)], M::Average(Sum::Exact)),
    pg(Aggregate, "avg", &[K::REAL], M::Average(Sum::RealChecked)),
    both(Aggregate, "max", &[K::WHOLE], M::Largest(Sort::Whole)),
    both(Aggregate, "max", &[K::REAL], M::Largest(Sort::Real)),
    sqlite(Aggregate, "max", &[K::TEXT], M::Largest(Sort::Bytes)),
    sqlite(Aggregate, "max", &[K::ANY], M::Largest(Sort::Storage)),
    pg(Aggregate, "max", &[K::TEXT], M::Largest(Sort::Language)),
    pg(Aggregate, "max", &[K::EXACT.or(K::TIME).or(K::LIST)], M::Largest(Sort::Own)),
    both(Aggregate, "min", &[K::WHOLE], M::Smallest(Sort::Whole)),
    both(Aggregate, "min", &[K::REAL], M::Smallest(Sort::Real)),
    sqlite(Aggregate, "min", &[K::TEXT], M::Smallest(Sort::Bytes)),
    sqlite(Aggregate, "min", &[K::ANY], M::Smallest(Sort::Storage)),
    pg(Aggregate, "min", &[K::TEXT], M::Smallest(Sort::Language)),
    pg(Aggregate, "min", &[K::EXACT.or(K::TIME).or(K::LIST)], M::Smallest(Sort::Own)),
    pg(Aggregate, "bool_and", &[K::FLAG], M::Every),
    pg(Aggregate, "every", &[K::FLAG], M::Every),
    pg(Aggregate, "bool_or", &[K::FLAG], M::Some),
    sqlite(Aggregate, "group_concat", &[K::ANY], M::Collect).more(1),
    both(Aggregate, "string_agg", &[K::TEXT, K::TEXT], M::Collect),
];
