//! What an engine that spreads tables by a key asks of the schema.

use std::collections::BTreeMap;

use super::lints::Remark;
use super::{ForeignKey, Schema, Table};
use crate::config::{Config, Placement};
use crate::rule;

/// What it refuses, or what would part rows that belong together; nothing where no engine spreads the tables.
pub(super) fn check(config: &Config, pg: &Schema) -> Vec<Remark> {
    if config.distributed.is_none() {
        return Vec::new();
    }
    let shards = Shards { config, pg };
    let spread: Vec<&Table> = shards.tables().filter(|table| shards.is(table, Placement::Distributed)).collect();
    let mut remarks = shards.types(&spread);
    for table in &spread {
        remarks.extend(shards.keys(table));
        remarks.extend(shards.triggers(table));
    }
    for table in shards.tables() {
        remarks.extend(table.foreign_keys.iter().filter_map(|key| shards.reference(table, key)));
    }
    remarks
}

struct Shards<'s> {
    config: &'s Config,
    pg: &'s Schema,
}

impl<'s> Shards<'s> {
    fn tables(&self) -> impl Iterator<Item = &'s Table> + use<'s> {
        self.pg.tables.values().filter(|table| !table.view && !table.partition)
    }

    fn placement(&self, table: &Table) -> Option<Placement> {
        self.config.placement_of(&table.name, table.column(&self.config.shard_key).is_some())
    }

    fn is(&self, table: &Table, placement: Placement) -> bool {
        self.placement(table) == Some(placement)
    }

    /// The keys of one type are together; which type that is, most of the tables say.
    fn types(&self, spread: &[&Table]) -> Vec<Remark> {
        let key = self.config.shard_key.as_str();
        let columns = || spread.iter().filter_map(|table| Some((table, table.column(key)?)));
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (_, column) in columns() {
            *counts.entry(format!("{:?}", column.ty.base)).or_default() += 1;
        }
        let Some(most) = counts.iter().max_by_key(|(_, count)| **count).map(|(name, _)| name.clone()) else {
            return Vec::new();
        };
        let others = columns().filter(|(_, column)| format!("{:?}", column.ty.base) != most);
        let remark = |(table, column): (&&Table, &super::Column)| Remark {
            rule: rule::SHARD_KEY_TYPE,
            item: format!("{}.{key}", table.name),
            span: column.span,
            label: format!("`{}`: its rows are on other nodes than those of the same key", column.declared),
        };
        others.map(remark).collect()
    }

    /// A key is unique on each shard by itself.
    fn keys(&self, table: &Table) -> Vec<Remark> {
        let shard_key = &self.config.shard_key;
        let indexes = table.indexes.iter().filter(|index| index.unique);
        let indexes = indexes.map(|index| index.columns().map(str::to_owned).collect::<Vec<_>>());
        let keys = table.keys().cloned().chain(indexes).filter(|key| !key.contains(shard_key));
        let remark = |key: Vec<String>| Remark {
            rule: rule::KEY_WITHOUT_SHARD,
            item: format!("{}.{}", table.name, key.join(".")),
            span: table.span,
            label: format!("({}) is unique on each shard alone", key.join(", ")),
        };
        keys.map(remark).collect()
    }

    fn reference(&self, table: &Table, key: &ForeignKey) -> Option<Remark> {
        let parent = self.pg.tables.get(&key.table)?;
        let shard_key = &self.config.shard_key;
        let label = match (self.placement(table)?, self.placement(parent)?) {
            (Placement::Distributed, Placement::Distributed) => {
                let referred = if key.referred.is_empty() { &parent.primary_key } else { &key.referred };
                let mut pairs = key.columns.iter().zip(referred);
                if pairs.any(|(own, there)| own == shard_key && there == shard_key) {
                    return None;
                }
                format!("the row of `{}` may be on another shard", parent.name)
            }
            (Placement::Distributed, Placement::Local) => format!("`{}` is on one node alone", parent.name),
            (Placement::Reference, Placement::Distributed) => {
                format!("the row of `{}` may be on any shard", parent.name)
            }
            (_, Placement::Reference) | (Placement::Reference, _) | (Placement::Local, _) => return None,
        };
        let item = format!("{}.{}", table.name, key.columns.join("."));
        Some(Remark { rule: rule::REFERENCE_ACROSS_SHARDS, item, span: key.span, label })
    }

    fn triggers(&self, table: &Table) -> Vec<Remark> {
        let own = self.pg.triggers.iter().filter(|trigger| trigger.table == table.name);
        let remark = |trigger: &super::Trigger| Remark {
            rule: rule::TRIGGER_ON_SHARDS,
            item: format!("{}.{}", table.name, trigger.name),
            span: table.span,
            label: format!("`{}` fires on the shard's node", trigger.name),
        };
        own.map(remark).collect()
    }
}
