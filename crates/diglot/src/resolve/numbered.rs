//! Names of numbered parameters beside parameters that the facing page names: what both meet tells which is which.
//!
//! `sqlc.slice(lane)` has the name of the column that it stands beside. Where the column meets another parameter too, the
//! facing page counts the two in their order, `lane` and `lane_2`, and would call the list by the other's name.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{ExprKind, ParamUse, Statement};

/// The names that numbered parameters of a page take from the facing page, by their number.
pub(crate) fn facing_names(own: &Statement, facing: &Statement) -> BTreeMap<String, String> {
    let (ours, theirs) = (once(own), once(facing));
    let listed: BTreeSet<&str> = own.exprs().into_iter().filter_map(list).collect();
    let (mut names, mut agrees) = (BTreeMap::new(), false);
    for list in theirs.iter().filter(|param| param.list && param.number.is_none()) {
        let of_group = |param: &&&ParamUse| stem(&param.name) == list.name;
        let others = || theirs.iter().filter(of_group).filter(|param| param.name != list.name);
        let (lists, rest): (Vec<&&ParamUse>, Vec<_>) =
            ours.iter().filter(of_group).partition(|param| listed.contains(param.name.as_str()));
        let is_numbered = |param: &&&ParamUse| param.number.is_some();
        let ([only], true) = (lists.as_slice(), rest.len() == others().count() && !rest.is_empty()) else { continue };
        agrees |= only.name == list.name;
        if only.name == list.name || !is_numbered(only) || !rest.iter().all(is_numbered) {
            continue;
        }
        names.extend(only.number.clone().map(|number| (number, list.name.clone())));
        let pairs = rest.iter().zip(others());
        names.extend(pairs.filter_map(|(param, facing)| Some((param.number.clone()?, facing.name.clone()))));
    }
    if agrees || !names.is_empty() {
        return names;
    }
    if theirs.iter().any(|param| param.number.is_none()) {
        names = met_names(&ours, &theirs);
    }
    if names.is_empty() { numbers_names(&ours, &theirs) } else { names }
}

/// The names of the facing page for the same numbers, where each meets the same column on both pages: the texts may name
/// those that meet one column in another order.
fn numbers_names(ours: &[&ParamUse], theirs: &[&ParamUse]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for own in ours {
        let facing = theirs.iter().find(|facing| facing.number == own.number).filter(|facing| facing.met == own.met);
        let Some((number, facing)) = own.number.clone().zip(facing) else { return BTreeMap::new() };
        if facing.name != own.name {
            names.insert(number, facing.name.clone());
        }
    }
    names
}

/// The names of the facing page for numbers that meet the same column, in their order where several do; the one that is
/// left over on each page is the same too, where one of them meets none.
fn met_names(ours: &[&ParamUse], theirs: &[&ParamUse]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let columns: BTreeSet<&str> = ours.iter().filter_map(|param| param.met.as_deref()).collect();
    for column in columns {
        let of = |page: &[&ParamUse]| -> Vec<ParamUse> {
            page.iter().filter(|param| param.met.as_deref() == Some(column)).map(|param| (*param).clone()).collect()
        };
        let (own, facing) = (of(ours), of(theirs));
        if own.len() == facing.len() {
            let pairs = own.into_iter().zip(facing);
            names.extend(pairs.filter_map(|(param, facing)| Some((param.number?, facing.name))));
        }
    }
    let known = |number: &Option<String>| number.as_ref().is_some_and(|number| names.contains_key(number));
    let left: Vec<&&ParamUse> = ours.iter().filter(|param| !known(&param.number)).collect();
    let given: BTreeSet<&String> = names.values().collect();
    let free: Vec<&&ParamUse> = theirs.iter().filter(|param| !given.contains(&param.name)).collect();
    let last = match (left.as_slice(), free.as_slice()) {
        // Two that meet different columns are not the same.
        ([own], [facing]) if own.met.is_none() || facing.met.is_none() => {
            own.number.clone().map(|number| (number, facing.name.clone()))
        }
        _ => None,
    };
    // A number that keeps its own name may not have one that another number takes.
    let is_taken = |param: &&&ParamUse| given.contains(&param.name);
    if last.is_none() && left.iter().any(is_taken) {
        return BTreeMap::new();
    }
    names.extend(last);
    names
}

/// Every parameter once, in the order of the text.
fn once(page: &Statement) -> Vec<&ParamUse> {
    let mut seen = BTreeSet::new();
    page.params.iter().filter(|param| seen.insert(param.name.as_str())).collect()
}

/// A name without the number that tells it from others of the same column.
fn stem(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((stem, number)) if number.parse::<u32>().is_ok() => stem,
        _ => name,
    }
}

/// The parameter whose elements an expression asks for.
fn list(expr: &crate::tree::Expr) -> Option<&str> {
    let ExprKind::Any { right, .. } = &expr.kind else { return None };
    match &right.bare().kind {
        ExprKind::Param(name) => Some(name),
        _ => None,
    }
}
