//! What all statements of a run are read with.

use std::collections::BTreeSet;

use super::Inputs;
use crate::answers::Index;
use crate::dialect::Both;
use crate::evidence::{Basis, Evidence};
use crate::infer::keys::Keys;
use crate::locks;
use crate::schema::Schema;

/// What all statements are read with.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) inputs: &'a Inputs,
    /// What the baseline knows findings about.
    pub(super) in_baseline: &'a BTreeSet<String>,
    pub(super) schemas: &'a Both<Schema>,
    pub(super) keys: &'a Keys<'a>,
    /// Columns, by table, into which no program writes NULL.
    pub(super) never_null: &'a BTreeSet<(String, String)>,
    /// What the engines answered.
    pub(super) index: Option<&'a Index>,
    /// What evidence rests on.
    pub(super) basis: &'a Basis,
    /// What running has shown.
    pub(super) evidence: Option<&'a Evidence>,
    /// Reads what statements lock.
    pub(super) locking: &'a locks::Reader<'a>,
}
