//! A number may be no time that both engines write.

use crate::rules::Context;
use crate::rules::look::Bounds;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;

/// The first second of the year 0, and the last one of the year 9999.
const YEARS: Bounds = Bounds { least: -62_167_219_200, most: 253_402_300_799 };

/// The first second of the year 2100.
const TO_2100: i64 = 4_102_444_800;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Call { name, args, .. } = &expr.kind else { continue };
        let ("to_char", [time, _]) = (name.as_str(), args.as_slice()) else { continue };
        let instants = time.exprs().into_iter().filter_map(|inner| match &inner.kind {
            ExprKind::Call { name, args, .. } if name == "to_timestamp" && args.len() == 1 => args.first(),
            _ => None,
        });
        for seconds in instants {
            let bounds = context.bounds_where(seconds, &context.held(seconds));
            if bounds.is_some_and(|bounds| !bounds.fit(YEARS)) {
                let message = format!("{}: the number may lie outside of the years 0 to 9999", context.name());
                let label = "NULL on SQLite, written or refused by Postgres";
                let finding = Diagnostic::error(rule::TIME_OUT_OF_RANGE, message, seconds.span, label);
                let finding = finding.help("write it only where it is a time of these years, by a CASE, on both pages");
                let setting = context.range_help(seconds, (0, TO_2100));
                found.push(setting.into_iter().fold(finding, Diagnostic::help));
            }
        }
    }
}
