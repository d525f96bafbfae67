//! Rows of two tables are locked in one order here and in the other there.

use std::collections::BTreeSet;

use crate::config::Locks;
use crate::diagnostic::Diagnostic;
use crate::locks::{Graph, Held, Wait};
use crate::rule;
use crate::schema::Schema;

/// What it finds with the name of the statement that each finding is about; waits of `allowed` statements do not count.
pub(in crate::rules) fn check(
    said: &Locks,
    schema: &Schema,
    graph: &Graph,
    allowed: &BTreeSet<&str>,
) -> Vec<(String, Diagnostic)> {
    let mut found = Vec::new();
    let is_allowed = |at: Held| allowed.contains(graph.run(at).name.as_str());
    let mut waits = graph.waits();
    waits.retain(|wait| !is_allowed(wait.wanted));
    let (against, mut rest): (Vec<&Wait>, Vec<&Wait>) =
        waits.into_iter().partition(|wait| is_against(said, graph, wait));
    rest = graph.in_circles(rest);
    let mut told = BTreeSet::new();
    for wait in against {
        let (held, wanted) = (graph.lock(wait.held), graph.lock(wait.wanted));
        let name = &graph.run(wait.wanted).name;
        if told.insert((name.clone(), held.table.clone(), wanted.table.clone())) {
            let order = format!("`diglot.toml` says that `{}` comes before `{}`", wanted.table, held.table);
            found.push((name.clone(), finding(graph, wait, &[]).note(order)));
        }
    }
    loop {
        let shapes = graph.distinct(&rest);
        let found_way = shapes.iter().find_map(|wait| Some((*wait, graph.way_back(&shapes, wait)?)));
        let Some((wait, way)) = found_way else { break };
        // Of a circle, the edge that fewest statements have is the one to give up.
        let tables = |wait: &Wait| (graph.lock(wait.held).table.clone(), graph.lock(wait.wanted).table.clone());
        let names = |of: &Wait| -> BTreeSet<&str> {
            let same = rest.iter().filter(|wait| tables(wait) == tables(of));
            same.map(|wait| graph.run(wait.wanted).name.as_str()).collect()
        };
        let mut circle = vec![wait];
        circle.extend(way);
        let rarest = circle.iter().min_by_key(|wait| names(wait).len()).copied().unwrap_or(wait);
        let edge = tables(rarest);
        let mut told = BTreeSet::new();
        for wait in rest.iter().filter(|wait| tables(wait) == edge) {
            let name = &graph.run(wait.wanted).name;
            if let Some(way) = graph.way_back(&shapes, wait)
                && told.insert(name.clone())
            {
                found.push((name.clone(), finding(graph, wait, &way)));
            }
        }
        rest.retain(|wait| tables(wait) != edge);
    }
    let mut told = BTreeSet::new();
    for at in graph.unordered().into_iter().filter(|at| !is_allowed(*at)) {
        let (name, table) = (&graph.run(at).name, &graph.lock(at).table);
        if told.insert((name.clone(), table.clone())) {
            let message = format!("{name}: several rows of `{table}` are locked in no order");
            let finding = Diagnostic::error(
                rule::LOCK_ORDER,
                message,
                graph.span(at),
                format!("{}, as they come", graph.words(at)),
            );
            let help =
                "lock them before, by a query with ORDER BY a unique key and FOR UPDATE, or one by one by their key";
            found.push((name.clone(), finding.help(help).help(allow())));
        }
    }
    for at in graph.loose().into_iter().filter(|at| !is_allowed(*at)) {
        let (name, table) = (&graph.run(at).name, &graph.lock(at).table);
        let Some(above) = said.under.get(table).filter(|_| told.insert((name.clone(), format!("{table}.")))) else {
            continue;
        };
        let message = format!("{name}: a row of `{table}` is locked without the row of `{above}` that it belongs to");
        let label = format!("{}, and `{above}` is free", graph.words(at));
        let finding = Diagnostic::error(rule::LOCK_ORDER, message, graph.span(at), label);
        let note = format!("`diglot.toml` says that who locks `{table}` has locked its row of `{above}`");
        let help = format!("lock the row of `{above}` first, in this statement or an earlier one of the transaction");
        found.push((name.clone(), finding.note(note).help(help).help(allow())));
    }
    for run in graph.runs().iter().filter(|run| !allowed.contains(run.name.as_str())) {
        for function in &run.summary.unread {
            let message = format!("{}: what the function `{function}` locks cannot be told", run.name);
            let finding = Diagnostic::warning(rule::LOCK_ORDER, message, run.span, "runs it");
            let at = schema.functions.get(function).map(|function| function.span);
            let finding = at.into_iter().fold(finding, |finding, at| finding.context(at, "not understood"));
            found.push((run.name.clone(), finding.help(allow())));
        }
    }
    found
}

/// The statements that wait in a circle or against the order.
pub(in crate::rules) fn parts<'g>(said: &Locks, graph: &'g Graph) -> BTreeSet<&'g str> {
    let waits = graph.waits();
    let may = graph.distinct(&graph.in_circles(waits.clone()));
    let in_circle: BTreeSet<_> =
        may.iter().filter(|wait| graph.way_back(&may, wait).is_some()).map(|wait| graph.shape(wait)).collect();
    let parts = waits.iter().filter(|wait| is_against(said, graph, wait) || in_circle.contains(&graph.shape(wait)));
    parts.map(|wait| graph.run(wait.wanted).name.as_str()).collect()
}

/// Whether a statement holds what `diglot.toml` has after what it waits for.
fn is_against(said: &Locks, graph: &Graph, wait: &Wait) -> bool {
    let place = |at: Held| said.order.iter().position(|named| *named == graph.lock(at).table);
    place(wait.held).zip(place(wait.wanted)).is_some_and(|(held, wanted)| held > wanted)
}

fn finding(graph: &Graph, wait: &Wait, way: &[&Wait]) -> Diagnostic {
    let (held, wanted) = (graph.lock(wait.held), graph.lock(wait.wanted));
    let name = &graph.run(wait.wanted).name;
    let message = format!("{name}: waits for `{}` while it holds `{}`", wanted.table, held.table);
    let label = format!("{}, and waits for it", graph.words(wait.wanted));
    let finding = Diagnostic::error(rule::LOCK_ORDER, message, graph.span(wait.wanted), label);
    let within = wait.within.as_ref().map_or(String::new(), |name| format!(", in the transaction {name}"));
    let mut finding = finding.context(graph.span(wait.held), format!("{} before{within}", graph.words(wait.held)));
    for back in way {
        let name = &graph.run(back.wanted).name;
        let label = format!("{name} {}, holding `{}`", graph.words(back.wanted), graph.lock(back.held).table);
        finding = finding.context(graph.span(back.wanted), label);
    }
    finding.help("lock in one order everywhere, or do not wait: SKIP LOCKED").help(allow())
}

fn allow() -> String {
    "or, if something else keeps others out: `-- allow(lock-order): <what>`".to_owned()
}
